// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each thread executes when it follows a protocol: its steps written out for every tile, with the places in memory
// and the barriers they touch as small numbers. Also where a step can be made wrong, one number at a time. Test layer.
#pragma once

#include <tally/primitive/protocols.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace protocols {

using namespace tally::v0::protocol;
using u64 = std::uint64_t;

/// A step of a protocol, and by how much it is wrong: bytes in units of 16, whole arrivals, groups, stages, tiles.
struct edited_step {
  step s;
  int bytes = 0, arrivals = 0, groups = 0, parity = 0, stage = 0, tile = 0;
};

/// A protocol as lists that can be changed.
struct edited {
  std::string name;
  std::array<std::vector<edited_step>, 4> lists; ///< setup, first, turn, finish
};

inline constexpr char const* list_names[] = {"setup", "first", "turn", "finish"};
enum list_number { setup_list, first_list, turn_list, finish_list };

template <std::size_t N>
std::vector<edited_step> steps_of(step const (&from)[N]) {
  std::vector<edited_step> out;
  for (auto const& s : from)
    if (s.what != action::nothing) out.push_back({s});
  return out;
}
inline edited lists_of(description const& d) {
  return {d.name, {steps_of(d.setup), steps_of(d.first), steps_of(d.turn), steps_of(d.finish)}};
}

/// How large the world is that is explored.
struct setting {
  int stages, tiles, blocks;
  int threads; ///< of a block
  int columns; ///< copies that fill a stage
};

/// One instruction of one thread.
struct instruction {
  action what;
  int list, index;   ///< which step it was
  int tile = -1;     ///< or -1
  int barrier = -1;  ///< the barrier it touches, for load_for_all that of the first block
  int barriers = 1;  ///< how many of them, one a block
  int phase = 0;     ///< the phase it is meant for
  int parity = 0;    ///< of a wait
  int amount = 0;    ///< arrivals, groups, or units of 16 bytes
  int target = -1;   ///< the block whose shared memory it touches
  int place = -1;    ///< first place it writes, or reads if it is a read
  int places = 0;    ///< how many
  int source = -1;   ///< first place the engine reads
  int sources = 0;   ///< how many
  bool whole = true; ///< whether it moves as many bytes as it should
  friend bool operator==(instruction const&, instruction const&) = default;
};

using thread_program = std::vector<instruction>;

/// All threads, and what is where.
struct world {
  setting size;
  std::vector<thread_program> threads;    ///< of block 0, then of block 1, ...
  std::vector<int> block_of_barrier;      ///< by barrier
  std::vector<int> block_of_place;        ///< by place
  std::vector<unsigned> readers_of_place; ///< threads that read every tile there, one bit each
  std::vector<bool> engine_reads_place;   ///< whether the engine reads every tile there
  std::vector<bool> reads;                ///< by thread: whether it folds tiles
  u64 result = 0;                         ///< what must be in global memory at the end
  int announced = 0;                      ///< and how often that is used
  bool landing_slots = false;             ///< whether the leader has a slot for each other block
};

/// Whether all threads of two worlds do the same, wherever it is written.
inline bool same_steps(world const& a, world const& b) {
  auto const same = [](instruction x, instruction y) {
    x.list = y.list, x.index = y.index;
    return x == y;
  };
  for (std::size_t t = 0; t < a.threads.size(); ++t)
    if (!std::equal(a.threads[t].begin(), a.threads[t].end(), b.threads[t].begin(), b.threads[t].end(), same))
      return false;
  return true;
}

/// What a tile of a block is worth: sums of different tiles differ.
inline u64 value_of(setting const& size, int tile, int block) { return u64(1) << (2 * (tile * size.blocks + block)); }

/// Writes protocols out: the one that is right, which says what must happen, and others like it.
class writer {
public:
  writer(edited const& right, setting const& size) : w{} {
    w.size = size;
    for (auto const& list : right.lists)
      for (auto const& e : list) note(e.s);
    w.landing_slots = slots;
    w = write(right);
    expect_readers();
  }
  world const& right() const { return w; }
  /// The world of the right protocol with the threads of another one.
  world write(edited const& p) {
    std::vector<thread_program> programs;
    for (int b = 0; b < w.size.blocks; ++b)
      for (int t = 0; t < w.size.threads; ++t) programs.push_back(thread(p, b, t));
    world out = w;
    out.threads = programs;
    out.block_of_barrier.resize(barrier_numbers.size());
    for (auto const& [key, number] : barrier_numbers) out.block_of_barrier[std::size_t(number)] = std::get<0>(key);
    out.readers_of_place.resize(out.block_of_place.size());
    out.engine_reads_place.resize(out.block_of_place.size());
    return out;
  }

private:
  enum room { tiles_room, landing_room };

  void note(step const& s) {
    auto const a = s.what;
    if (a == action::read) readers = s.who == threads::rest ? w.size.threads - 1 : w.size.threads;
    writes |= a == action::write;
    words |= a == action::send_words;
    slots |= a == action::send;
    landing |= a == action::send || a == action::send_sum || a == action::send_words;
  }
  bool takes(step const& s, int block, int t) const {
    bool const by = s.who == threads::all || (s.who == threads::one) == (t == 0);
    return by && (s.where == blocks::every || (s.where == blocks::leader) == (block == 0));
  }
  /// Parts that a stage consists of: columns, or what each thread stores; of the landing room, slots or words.
  int parts(room r) const {
    if (r == tiles_room) return writes ? w.size.threads : w.size.columns;
    return slots ? std::max(1, w.size.blocks - 1) : words ? w.size.threads : 1;
  }
  static int bytes_of_part(int part) { return part + 1; }
  int bytes_of_tile() const {
    if (landing) return words ? w.size.threads : 2;
    int sum = 0;
    for (int p = 0; p < parts(tiles_room); ++p) sum += bytes_of_part(p);
    return sum;
  }
  int place(int block, room r, int stage) {
    auto const [at, is_new] = place_numbers.try_emplace({block, r, stage}, int(w.block_of_place.size()));
    if (is_new) w.block_of_place.resize(w.block_of_place.size() + std::size_t(parts(r)), block);
    return at->second;
  }
  int barrier_number(int block, barrier b, int stage) {
    return barrier_numbers.try_emplace({block, b, stage}, int(barrier_numbers.size())).first->second;
  }
  int amount_of(edited_step const& e) const {
    switch (e.s.how_much) {
    case amount::zero: return 0 + e.groups;
    case amount::one: return 1 + e.arrivals;
    case amount::reader: return readers + e.arrivals;
    case amount::reader_of_cluster: return readers * w.size.blocks + e.arrivals;
    case amount::tile: return bytes_of_tile() + e.bytes;
    case amount::tile_of_each_other: return bytes_of_tile() * (w.size.blocks - 1) + e.bytes;
    case amount::all_stages_but_one: return w.size.stages - 1 + e.groups;
    }
    throw std::logic_error("an amount without a meaning");
  }

  thread_program thread(edited const& p, int block, int t) {
    thread_program out;
    auto const run = [&](int list, int tile) {
      auto const& steps = p.lists[std::size_t(list)];
      for (std::size_t i = 0; i < steps.size(); ++i)
        if (takes(steps[i].s, block, t)) add(out, steps[i], list, int(i), tile, block, t);
    };
    run(setup_list, 0);
    for (int k = 0; k < std::min(w.size.stages, w.size.tiles); ++k) run(first_list, k);
    for (int k = 0; k < w.size.tiles; ++k) run(turn_list, k);
    run(finish_list, 0);
    return out;
  }

  void add(thread_program& out, edited_step const& e, int list, int index, int turn, int block, int t) {
    auto const what = e.s.what;
    if (list == setup_list && (what == action::init || what == action::clear)) {
      for (int s = 0; s < w.size.stages; ++s) add_one(out, e, list, index, s, block, t);
      return;
    }
    int const tile = turn + e.s.turns * w.size.stages + e.tile;
    bool const of_a_tile = what >= action::arrive && what != action::commit && what != action::wait_source &&
                           what != action::wait_result && what != action::publish;
    if (of_a_tile && (tile >= w.size.tiles || (tile < 0 && what != action::wait))) return;
    add_one(out, e, list, index, of_a_tile ? tile : -1, block, t);
  }

  /// An instruction for each block whose barrier or memory the step touches.
  void add_one(thread_program& out, edited_step const& e, int list, int index, int tile, int block, int t) {
    int const n = w.size.stages, count = w.size.blocks;
    int const stage = ((tile + e.stage) % n + n) % n;
    for (int target = 0; target < count; ++target) {
      if (e.s.of == holder::own && target != block) continue;
      if (e.s.of == holder::leader && target != 0) continue;
      if (e.s.of == holder::each_other && target == block) continue;
      instruction i{.what = e.s.what,
                    .list = list,
                    .index = index,
                    .tile = tile,
                    .amount = amount_of(e),
                    .target = target,
                    .whole = e.bytes == 0};
      if (e.s.at != barrier::none) i.barrier = barrier_number(target, e.s.at, stage);
      i.phase = tile < 0 ? (tile - n + 1) / n : tile / n;
      i.parity = ((i.phase & 1) + e.parity) & 1;
      complete(out, i, e, stage, block, t);
    }
  }

  /// Adds what the instruction touches, one copy for each column and block where there are several.
  void complete(thread_program& out, instruction i, edited_step const& e, int stage, int block, int t) {
    auto const stage_of_tiles = [&](int b) { return place(b, tiles_room, stage); };
    auto const from_own_stage = [&] { i.source = stage_of_tiles(block), i.sources = parts(tiles_room); };
    auto const to = [&](int at, int places) { i.place = at, i.places = places; };
    switch (i.what) {
    case action::load:
    case action::load_for_all:
      for (int b = 0; b < w.size.blocks; ++b)
        for (int p = 0; p < parts(tiles_room); ++p) {
          if (i.what == action::load && b != block) continue;
          instruction copy = i;
          copy.target = b, copy.place = stage_of_tiles(b) + p, copy.places = 1;
          copy.barrier = barrier_number(b, e.s.at, stage);
          copy.amount = bytes_of_part(p) + (p == 0 ? e.bytes : 0);
          out.push_back(copy);
        }
      return;
    case action::read: to(stage_of_tiles(block), parts(tiles_room)); break;
    case action::write: to(stage_of_tiles(block) + t, 1); break;
    case action::collect: to(place(i.target, landing_room, stage), parts(landing_room)); break;
    case action::clear: to(place(i.target, landing_room, stage), parts(landing_room)); break;
    case action::store:
    case action::store_sum:
      from_own_stage();
      if (e.s.who == threads::all) i.source += (t + 1) % w.size.threads, i.sources = 1; // what another thread wrote
      break;
    case action::send:
      from_own_stage(), to(place(i.target, landing_room, stage) + std::max(0, block - 1), 1);
      i.amount = bytes_of_tile() + e.bytes;
      break;
    case action::send_sum:
      from_own_stage(), to(place(i.target, landing_room, stage), 1);
      i.amount = bytes_of_tile() + e.bytes;
      break;
    case action::send_words:
      to(place(i.target, landing_room, stage) + t, 1);
      i.amount = 1 + e.bytes;
      break;
    default: break;
    }
    if (i.what == action::arrive) i.amount = 1;
    out.push_back(i);
  }

  void expect_readers() {
    w.readers_of_place.resize(w.block_of_place.size());
    w.engine_reads_place.resize(w.block_of_place.size());
    w.reads.assign(w.threads.size(), false);
    for (std::size_t t = 0; t < w.threads.size(); ++t)
      for (auto const& i : w.threads[t]) {
        if (i.what == action::store || i.what == action::store_sum) w.result += value_of(w.size, i.tile, 0);
        w.announced += i.what == action::publish;
        for (int p = i.source; p < i.source + i.sources; ++p) w.engine_reads_place[std::size_t(p)] = true;
        if (i.what != action::read && i.what != action::collect) continue;
        w.reads[t] = true;
        for (int p = i.place; p < i.place + i.places; ++p) w.readers_of_place[std::size_t(p)] |= 1u << t;
      }
  }

  world w;
  int readers = 0;
  bool writes = false, words = false, slots = false, landing = false;
  std::map<std::tuple<int, room, int>, int> place_numbers;
  std::map<std::tuple<int, barrier, int>, int> barrier_numbers;
};

} // namespace protocols
