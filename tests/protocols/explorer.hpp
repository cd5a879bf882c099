// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every interleaving of the threads of a protocol with the copies they have asked for, until one breaks a property.
// Test layer.
//
// What is modelled: threads that run their lists; mbarriers with arrivals, bytes and phases; copies that the engine
// performs whenever it likes, reading and writing through its own proxy; and who *knows* what. A fact (this place was
// written, this copy has read, that thread has read, this barrier is initialised, this block runs) is known to the thread
// that caused it and travels with the release and acquire of barriers only. An access that needs a fact which its thread
// does not know is an error in every interleaving, whichever comes first. So steps that nobody can see (ordinary loads and
// stores, fences, asking for a copy) need no interleaving of their own; arrivals, waits, exits and whatever the engine
// does are tried in every order.
#pragma once

#include "protocols/moment.hpp"

#include <cstddef>
#include <optional>
#include <unordered_set>
#include <vector>

namespace protocols {

/// Explores one world.
class explorer {
public:
  explicit explorer(world const& of) : w(of), threads(int(of.threads.size())) {
    if (threads > moment::max_threads || w.block_of_barrier.size() > moment::max_barriers ||
        w.block_of_place.size() > moment::max_places || w.size.tiles > max_tiles)
      throw std::logic_error("a larger world than the explorer has room for");
  }
  /// The first broken property, or nothing. `moments()` says how many different ones were seen.
  std::optional<broken> run() {
    moment start{};
    for (int t = 0; t < threads; ++t) learn(start, t, block_runs(block_of(t)));
    try {
      explore(start);
    } catch (broken const& b) {
      std::string trail;
      auto const from = path.size() > 12 ? path.size() - 12 : 0;
      for (auto i = from; i < path.size(); ++i) trail += (trail.empty() ? "" : ", ") + text_of(path[i]);
      return broken{b.which, b.what + " after " + trail};
    }
    return std::nullopt;
  }
  std::size_t moments() const { return seen.size(); }

private:
  // Facts about a place since it was last written, then about barriers, blocks and tiles in global memory.
  enum place_fact {
    written,
    fenced,
    engine_has_read,
    sent = 3,
    has_read = sent + 3,
    facts_per_place = has_read + moment::max_threads
  };
  static constexpr int max_tiles = 12;
  static int about(int place, int fact) { return place * facts_per_place + fact; }
  static int initialised(int barrier) { return moment::max_places * facts_per_place + 2 * barrier; }
  static int init_fenced(int barrier) { return initialised(barrier) + 1; }
  static int block_runs(int block) { return initialised(moment::max_barriers) + block; }
  static int in_result(int tile, int thread) {
    return block_runs(4) + tile * 3 + thread % 3;
  } // there without a cluster
  static_assert(moment::max_places * facts_per_place + 2 * moment::max_barriers + 4 + 3 * max_tiles <=
                64 * facts::words);
  // States of a place, one bit each, and of a copy.
  enum : std::uint8_t { by_thread = 1, owned_shift = 1, holds_tile = 16, being_written = 32, being_read = 64 };
  enum : std::uint8_t { asked, done };
  static constexpr std::uint8_t uncommitted = 255;
  static constexpr u64 garbage = ~u64(0);

  struct event {
    int thread; ///< or -1
    instruction what;
  };
  struct digest {
    u64 a, b;
    friend bool operator==(digest const&, digest const&) = default;
  };
  struct digest_hash {
    std::size_t operator()(digest const& d) const { return std::size_t(d.a); }
  };

  int block_of(int thread) const { return thread / w.size.threads; }
  bool finished(moment const& m, int t) const { return m.next[t] == w.threads[std::size_t(t)].size(); }
  instruction const& at(moment const& m, int t) const { return w.threads[std::size_t(t)][m.next[t]]; }
  instruction const& asked_by(moment::copy const& c) const { return w.threads[c.issuer][c.at]; }
  static void learn(moment& m, int t, int fact) {
    m.truth.add(fact);
    m.known[t].add(fact);
  }
  static std::string text_of(event const& e) {
    return (e.thread < 0 ? "engine" : "thread " + std::to_string(e.thread)) + " " + list_names[e.what.list] + "[" +
           std::to_string(e.what.index) + "] of tile " + std::to_string(e.what.tile);
  }
  bool block_gone(moment const& m, int block) const {
    for (int t = 0; t < threads; ++t)
      if (block_of(t) == block && !m.gone[t]) return false;
    return true;
  }

  // --- the search ---------------------------------------------------------------------------------------------------

  digest digest_of(moment const& m) const {
    digest d{0x9e3779b97f4a7c15u, 0xc2b2ae3d27d4eb4fu};
    auto const mix = [&](void const* from, std::size_t bytes) {
      for (std::size_t i = 0; i < bytes; i += 8) {
        u64 word;
        __builtin_memcpy(&word, static_cast<unsigned char const*>(from) + i, 8);
        d.a = (d.a ^ word) * 0xff51afd7ed558ccdu, d.a ^= d.a >> 32;
        d.b = (d.b + word) * 0xc4ceb9fe1a85ec53u, d.b ^= d.b >> 29;
      }
    };
    auto const barriers = w.block_of_barrier.size() * sizeof(facts);
    mix(&m.truth, sizeof(facts) * std::size_t(1 + threads)); // known follows truth
    mix(m.arriving, barriers);
    mix(m.published, barriers);
    mix(m.content, w.block_of_place.size() * 8);
    mix(&m.result, sizeof m - offsetof(moment, result));
    return d;
  }

  void explore(moment m) {
    auto const depth = path.size();
    while (step_unseen(m)) {}
    if (seen.insert(digest_of(m)).second) branch(m);
    path.resize(depth);
  }

  void branch(moment const& m) {
    bool moved = false;
    auto const go = [&](event const& e, auto&& change) {
      moved = true;
      moment next = m;
      path.push_back(e);
      change(next);
      explore(next);
      path.pop_back();
    };
    for (int t = 0; t < threads; ++t) {
      if (m.gone[t]) continue;
      if (finished(m, t)) {
        go({t, {.what = action::nothing, .list = finish_list, .index = -1}}, [&](moment& n) { leave(n, t); });
      } else if (auto const& i = at(m, t); can_go(m, t, i)) {
        go({t, i}, [&](moment& n) { n.next[t]++, take(n, t, i); });
      }
    }
    for (int c = 0; c < m.copy_count; ++c)
      if (m.copies[c].state != done) go({-1, asked_by(m.copies[c])}, [&](moment& n) { progress(n, c); });
    if (moved) return;
    for (int t = 0; t < threads; ++t)
      if (!m.gone[t]) explain_deadlock(m, t);
    check_end(m);
  }

  /// Takes a step that no other thread can see, if some thread has one.
  bool step_unseen(moment& m) {
    for (int t = 0; t < threads; ++t) {
      if (m.gone[t] || finished(m, t)) continue;
      auto const& i = at(m, t);
      bool const visible = i.what == action::arrive || i.what == action::expect || i.what == action::wait;
      if (visible) continue;
      if (i.what == action::meet_warp || i.what == action::meet_block || i.what == action::meet_cluster) {
        if (meet(m, t, i.what)) return true;
        continue;
      }
      if (!can_go(m, t, i)) continue;
      path.push_back({t, i});
      m.next[t]++;
      take(m, t, i);
      return true;
    }
    return false;
  }

  /// Lets all who have come to the same meeting go on, if all are there.
  bool meet(moment& m, int t, action how) {
    auto const comes = [&](int other) {
      return !m.gone[other] && (how == action::meet_cluster || block_of(other) == block_of(t));
    };
    facts all{};
    for (int o = 0; o < threads; ++o) {
      if (!comes(o)) continue;
      if (finished(m, o) || at(m, o).what != how) return false;
      all.join(m.known[o]);
    }
    path.push_back({t, at(m, t)});
    for (int o = 0; o < threads; ++o)
      if (comes(o)) m.known[o].join(all), m.next[o]++;
    return true;
  }

  bool can_go(moment const& m, int t, instruction const& i) const {
    switch (i.what) {
    case action::wait: return m.count[i.barrier] == 0 || (m.phase[i.barrier] & 1) != i.parity;
    case action::wait_source:
    case action::wait_result: {
      for (int c = 0; c < m.copy_count; ++c) {
        auto const& copy = m.copies[c];
        if (copy.issuer == t && waited_for(m, copy, i.amount) && copy.state != done) return false;
      }
      return true;
    }
    case action::meet_warp:
    case action::meet_block:
    case action::meet_cluster: return false;
    default: return true;
    }
  }
  bool waited_for(moment const& m, moment::copy const& c, int may_stay) const {
    return c.group != uncommitted && c.group + may_stay < m.groups[c.issuer];
  }

  // --- steps of threads ---------------------------------------------------------------------------------------------

  void take(moment& m, int t, instruction const& i) {
    switch (i.what) {
    case action::init: return init(m, t, i);
    case action::fence_init: return fence_init(m, t);
    case action::fence_proxy: return fence_proxy(m, t);
    case action::arrive: return know_barrier(m, t, i), contribute(m, t, i, 1, 0);
    case action::expect: return know_barrier(m, t, i), contribute(m, t, i, 1, i.amount);
    case action::wait: return pass(m, t, i);
    case action::load:
    case action::load_for_all:
    case action::store:
    case action::store_sum:
    case action::send:
    case action::send_sum:
    case action::send_words: return ask(m, t, i);
    case action::commit: return commit(m, t);
    case action::wait_source:
    case action::wait_result: return groups_done(m, t, i);
    case action::read:
    case action::collect: return read(m, t, i);
    case action::write: return write(m, t, i.place, value_of(w.size, i.tile, block_of(t)));
    case action::clear:
      for (int p = i.place; p < i.place + i.places; ++p) write(m, t, p, 0);
      return;
    case action::publish: return publish(m, t);
    default: throw std::logic_error("a step without a meaning");
    }
  }

  void init(moment& m, int t, instruction const& i) {
    if (m.count[i.barrier] != 0) throw broken{property::barriers_are_initialised, "initialised twice"};
    if (i.amount < 1) throw broken{property::arrivals_are_equal, "a barrier without arrivals"};
    m.count[i.barrier] = std::uint8_t(i.amount);
    m.pending[i.barrier] = std::int8_t(i.amount);
    learn(m, t, initialised(i.barrier));
  }
  void fence_init(moment& m, int t) {
    for (int b = 0; b < int(w.block_of_barrier.size()); ++b)
      if (m.known[t].has(initialised(b)) && w.block_of_barrier[std::size_t(b)] == block_of(t))
        learn(m, t, init_fenced(b));
  }
  /// A thread fences what it stored itself: PTX would let another thread do so later, the house does not.
  void fence_proxy(moment& m, int t) {
    for (int p = 0; p < int(w.block_of_place.size()); ++p)
      if ((m.place_state[p] & by_thread) && ((m.place_state[p] >> owned_shift) & 7) == t) learn(m, t, about(p, fenced));
  }

  void know_barrier(moment const& m, int t, instruction const& i) const {
    bool const remote = i.target != block_of(t);
    if (remote && !m.known[t].has(block_runs(i.target)))
      throw broken{property::remote_block_is_alive, "a block is touched that may not run yet"};
    if (remote && block_gone(m, i.target))
      throw broken{property::remote_block_is_alive, "a block is touched that is gone"};
    if (!m.known[t].has(remote ? init_fenced(i.barrier) : initialised(i.barrier)))
      throw broken{property::barriers_are_initialised, "a barrier is used that may not be initialised"};
  }

  /// Arrivals and expected or completed (negative) bytes reach a barrier, together with what the contributor knows.
  void contribute(moment& m, int t, instruction const& i, int arrivals, int bytes) {
    int const b = i.barrier;
    auto const meant = std::uint8_t(i.phase);
    if (m.phase[b] != meant)
      throw broken{arrivals > 0 ? property::arrivals_are_equal : property::bytes_are_equal, "counted in a wrong phase"};
    m.pending[b] = std::int8_t(m.pending[b] - arrivals);
    m.bytes[b] = std::int16_t(m.bytes[b] + bytes);
    if (m.pending[b] < 0) throw broken{property::arrivals_are_equal, "more arrivals than a phase has"};
    if (t >= 0) m.arriving[b].join(m.known[t]);
    if (m.pending[b] != 0 || m.bytes[b] != 0) return;
    m.phase[b]++;
    m.pending[b] = std::int8_t(m.count[b]);
    m.published[b] = m.arriving[b];
    m.arriving[b] = {};
  }

  void pass(moment& m, int t, instruction const& i) {
    know_barrier(m, t, i);
    if (int(m.phase[i.barrier]) != i.phase + 1)
      throw broken{property::parity_alternates, "a wait ends with another phase than its own"};
    m.known[t].join(m.published[i.barrier]);
  }

  void read(moment& m, int t, instruction const& i) {
    int const expects = m.folded[t];
    if (i.tile != expects) throw broken{property::result_is_sequential, "a tile is folded twice or out of order"};
    for (int p = i.place; p < i.place + i.places; ++p) {
      know_content(m, t, p);
      u64 expected = i.what == action::read ? value_of(w.size, i.tile, 0) : sum_of_others(i, p);
      if (m.content[p] != expected)
        throw broken{property::result_is_sequential, "another tile is read than the turn's"};
      learn(m, t, about(p, has_read + t));
    }
    m.folded[t]++;
  }
  u64 sum_of_others(instruction const& i, int p) const {
    if (w.landing_slots) return value_of(w.size, i.tile, p - i.place + 1);
    u64 sum = 0;
    for (int b = 1; b < w.size.blocks; ++b) sum += value_of(w.size, i.tile, b);
    return sum;
  }
  void know_content(moment const& m, int t, int p) const {
    if (m.place_state[p] & being_written) throw broken{property::data_has_arrived, "read while it is being written"};
    for (int f : {int(written), sent + 0, sent + 1, sent + 2}) {
      bool const so = m.truth.has(about(p, f)) || f == written;
      if (so && !m.known[t].has(about(p, f)))
        throw broken{property::data_has_arrived, "read before it is known to be there"};
    }
  }

  /// What a thread must know before the content of a place may change.
  void may_overwrite(moment const& m, int t, int p) const {
    auto const state = m.place_state[p];
    if (state & being_read)
      throw broken{property::source_free_before_reuse, "written while the engine may be reading it"};
    if (state & being_written) throw broken{property::refill_after_release, "written while the engine is writing it"};
    if (state & holds_tile) {
      for (int r = 0; r < threads; ++r)
        if ((w.readers_of_place[std::size_t(p)] >> r & 1) && !m.known[t].has(about(p, has_read + r)))
          throw broken{property::refill_after_release, "written before everybody is known to have read it"};
      if (w.engine_reads_place[std::size_t(p)] && !m.known[t].has(about(p, engine_has_read)))
        throw broken{property::source_free_before_reuse, "written before the engine is known to have read it"};
    }
    for (int f = 0; f < facts_per_place; ++f)
      if (f != fenced && m.truth.has(about(p, f)) && !m.known[t].has(about(p, f)))
        throw broken{property::refill_after_release, "written before the last access is known to be over"};
  }
  void forget(moment& m, int p) const {
    auto const drop = [&](facts& set) {
      for (int f = 0; f < facts_per_place; ++f) set.drop(about(p, f));
    };
    drop(m.truth);
    for (int t = 0; t < threads; ++t) drop(m.known[t]);
    for (std::size_t b = 0; b < w.block_of_barrier.size(); ++b) drop(m.arriving[b]), drop(m.published[b]);
  }
  void write(moment& m, int t, int p, u64 value) {
    may_overwrite(m, t, p);
    forget(m, p);
    m.content[p] = value;
    m.place_state[p] = std::uint8_t(by_thread | t << owned_shift | (value != 0 ? holds_tile : 0));
    learn(m, t, about(p, written));
  }

  void commit(moment& m, int t) {
    for (int c = 0; c < m.copy_count; ++c)
      if (m.copies[c].issuer == t && m.copies[c].group == uncommitted && in_groups(m.copies[c]))
        m.copies[c].group = m.groups[t];
    m.groups[t]++;
  }
  bool in_groups(moment::copy const& c) const { return asked_by(c).barrier < 0; }

  void groups_done(moment& m, int t, instruction const& i) {
    for (int c = 0; c < m.copy_count;) {
      auto const copy = m.copies[c];
      if (copy.issuer != t || !waited_for(m, copy, i.amount)) {
        ++c;
        continue;
      }
      auto const& what = asked_by(copy);
      for (int p = what.source; p < what.source + what.sources; ++p)
        if (m.truth.has(about(p, engine_has_read))) m.known[t].add(about(p, engine_has_read));
      if (i.what == action::wait_source)
        ++c;
      else
        learn(m, t, in_result(what.tile, t)), remove(m, c);
    }
  }

  void publish(moment& m, int t) {
    for (auto const& i : w.threads[std::size_t(t)])
      if ((i.what == action::store || i.what == action::store_sum) && !m.known[t].has(in_result(i.tile, t)))
        throw broken{property::result_complete_before_use, "the result is used before it is known to be written"};
    m.announced++;
  }

  // --- the engine ---------------------------------------------------------------------------------------------------

  void ask(moment& m, int t, instruction const& i) {
    bool const pushes = i.what == action::send || i.what == action::send_sum || i.what == action::send_words;
    if (pushes && i.target == block_of(t))
      throw broken{property::remote_block_is_another, "a remote reduction into the block's own memory"};
    if (i.barrier >= 0) know_engine_barrier(m, t, i);
    for (int p = i.source; p < i.source + i.sources; ++p) {
      if (!m.known[t].has(about(p, written)) || (m.place_state[p] & being_written))
        throw broken{property::data_has_arrived, "the engine is sent to read what may not be written yet"};
      if ((m.place_state[p] & by_thread) && !m.known[t].has(about(p, fenced)))
        throw broken{property::proxy_fence_before_engine, "the engine reads an ordinary store without a fence"};
      if (m.content[p] != value_of(w.size, i.tile, block_of(t)))
        throw broken{property::result_is_sequential, "another tile is sent than the turn's"};
      m.place_state[p] |= being_read;
    }
    if (i.place >= 0) ask_to_write(m, t, i);
    if (m.copy_count == moment::max_copies) throw std::logic_error("more copies than the explorer has room for");
    int c = m.copy_count++;
    for (; c > 0 && m.copies[c - 1].issuer > t; --c) m.copies[c] = m.copies[c - 1]; // the same set is the same moment
    m.copies[c] = {std::uint8_t(t), std::uint8_t(m.next[t] - 1), asked, uncommitted};
  }
  void know_engine_barrier(moment const& m, int t, instruction const& i) const {
    if (i.target != block_of(t) && !m.known[t].has(block_runs(i.target)))
      throw broken{property::remote_block_is_alive, "a block is touched that may not run yet"};
    if (block_gone(m, i.target)) throw broken{property::remote_block_is_alive, "a block is touched that is gone"};
    if (!m.known[t].has(init_fenced(i.barrier)))
      throw broken{property::barriers_are_initialised, "the engine is given a barrier that was not fenced"};
  }
  void ask_to_write(moment& m, int t, instruction const& i) {
    int const p = i.place;
    bool const adds = i.what == action::send_sum || i.what == action::send_words;
    if (!adds) {
      may_overwrite(m, t, p);
      forget(m, p);
      m.place_state[p] = being_written;
      return;
    }
    for (int r = 0; r < threads; ++r)
      if (m.truth.has(about(p, has_read + r)))
        throw broken{property::refill_after_release, "added to a sum that was read and not cleared since"};
    if (!m.known[t].has(about(p, written)))
      throw broken{property::data_has_arrived, "added to a sum that may not be cleared yet"};
    if (i.what == action::send_sum && !m.known[t].has(about(p, fenced)))
      throw broken{property::proxy_fence_before_engine, "the engine adds to an ordinary store without a fence"};
    if (m.truth.has(about(p, sent + block_of(t) - 1)))
      throw broken{property::refill_after_release, "added twice to one sum"};
    m.place_state[p] |= being_written | holds_tile;
  }

  /// The engine performs a copy. That it reads some time before it writes can be seen by nobody who does not wait for the
  /// one or for the other, and what each wait lets a thread know differs.
  void progress(moment& m, int c) {
    auto& copy = m.copies[c];
    auto const& i = asked_by(copy);
    if (in_groups(copy)) {
      read_source(m, i);
      m.result += i.whole ? value_of(w.size, i.tile, 0) : garbage;
      copy.state = done;
      m.truth.add(in_result(i.tile, copy.issuer));
      return;
    }
    deliver(m, c, i);
  }
  void read_source(moment& m, instruction const& i) const {
    for (int p = i.source; p < i.source + i.sources; ++p) {
      m.place_state[p] = std::uint8_t(m.place_state[p] & ~being_read);
      m.truth.add(about(p, engine_has_read));
    }
  }
  void deliver(moment& m, int c, instruction const& i) {
    int const from = block_of(m.copies[c].issuer), p = i.place;
    if (block_gone(m, i.target))
      throw broken{property::remote_block_is_alive, "a copy arrives at a block that is gone"};
    facts brings{};
    if (i.sources > 0) {
      read_source(m, i);
      for (int s = i.source; s < i.source + i.sources; ++s) brings.add(about(s, engine_has_read));
    }
    bool const adds = i.what == action::send_sum || i.what == action::send_words;
    bool const own_tile = i.what == action::load || i.what == action::load_for_all;
    u64 const value = i.whole ? value_of(w.size, i.tile, own_tile ? 0 : from) : garbage;
    m.content[p] = adds ? m.content[p] + value : value;
    int const news = about(p, adds ? sent + from - 1 : int(written));
    remove(m, c);
    m.place_state[p] = std::uint8_t(m.place_state[p] | holds_tile);
    if (!still_written(m, p)) m.place_state[p] = std::uint8_t(m.place_state[p] & ~being_written);
    m.truth.add(news), brings.add(news);
    m.arriving[i.barrier].join(brings);
    if (m.bytes[i.barrier] - i.amount < 0 && from == i.target)
      throw broken{property::bytes_are_equal, "more bytes arrive than the block expects"};
    contribute(m, -1, i, 0, -i.amount);
  }
  bool still_written(moment const& m, int p) const {
    for (int c = 0; c < m.copy_count; ++c)
      if (asked_by(m.copies[c]).place == p && m.copies[c].state != done) return true;
    return false;
  }
  static void remove(moment& m, int c) {
    for (--m.copy_count; c < m.copy_count; ++c) m.copies[c] = m.copies[c + 1];
    m.copies[m.copy_count] = {};
  }

  // --- the end ------------------------------------------------------------------------------------------------------

  void leave(moment& m, int t) {
    m.gone[t] = 1;
    m.known[t] = {};
    if (w.reads[std::size_t(t)] && m.folded[t] != w.size.tiles)
      throw broken{property::result_is_sequential, "a thread has not folded every tile"};
    int const block = block_of(t);
    if (!block_gone(m, block)) return;
    for (int c = 0; c < m.copy_count; ++c) {
      auto const& copy = m.copies[c];
      if (copy.state == asked && asked_by(copy).sources > 0 && block_of(copy.issuer) == block)
        throw broken{property::engine_done_before_exit, "the engine reads from a block that is gone"};
      if (copy.state != done && asked_by(copy).place >= 0 && asked_by(copy).target == block)
        throw broken{block_of(copy.issuer) == block ? property::engine_done_before_exit
                                                    : property::remote_block_is_alive,
                     "the engine writes to a block that is gone"};
    }
  }

  /// Nobody can go on: why thread t and others wait.
  [[noreturn]] void explain_deadlock(moment const& m, int first) const {
    for (int t = first; t < threads; ++t) {
      if (m.gone[t] || finished(m, t) || at(m, t).what != action::wait) continue;
      auto const& i = at(m, t);
      int const b = i.barrier;
      if (m.bytes[b] != 0) throw broken{property::bytes_are_equal, "a phase waits for bytes that never come"};
      if (m.pending[b] != m.count[b])
        throw broken{property::arrivals_are_equal, "a phase waits for arrivals that never come"};
      if ((i.phase & 1) != i.parity) throw broken{property::parity_alternates, "a wait for a wrong parity"};
    }
    throw broken{property::no_deadlock, "nobody can go on"};
  }

  void check_end(moment const& m) const {
    for (std::size_t b = 0; b < w.block_of_barrier.size(); ++b) {
      if (m.bytes[b] != 0) throw broken{property::bytes_are_equal, "bytes are still expected at the end"};
      if (m.pending[b] != m.count[b]) throw broken{property::arrivals_are_equal, "a phase is half over at the end"};
    }
    if (m.result != w.result) throw broken{property::result_is_sequential, "the result lacks a tile or has one twice"};
    if (m.announced != w.announced)
      throw broken{property::result_is_sequential, "the result is not used as often as it should"};
  }

  world const& w;
  int threads;
  std::vector<event> path;
  std::unordered_set<digest, digest_hash> seen;
};

} // namespace protocols
