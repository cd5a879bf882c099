// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every protocol that differs from a right one in a single mistake: generated from the data, step by step. Test layer.
#pragma once

#include "protocols/thread_program.hpp"

#include <functional>
#include <utility>

namespace protocols {

/// A protocol with one mistake.
struct mutant {
  edited protocol;
  int list, index;
  std::string mistake;
  action what; ///< of the step that is wrong
  std::string name() const {
    return protocol.name + " " + list_names[list] + "[" + std::to_string(index) + "]: " + mistake;
  }
};

/// The worlds in which a protocol is explored: few tiles and many, for each number of stages.
inline std::vector<setting> settings_of(description const& d) {
  bool cluster = false, everybody = false;
  for (auto const& s : d.setup) cluster |= s.what == action::meet_cluster;
  for (auto const& s : d.turn) everybody |= s.what == action::load_for_all;
  std::vector<setting> out;
  for (int stages : {1, 2, 3, 4})
    for (int tiles : {1, stages, stages + 1, 2 * stages + 1})
      if (everybody)
        out.push_back({stages, tiles, 2, stages <= 2 ? 3 : 2, 1});
      else if (cluster)
        out.push_back({stages, tiles, stages + tiles <= 3 ? 3 : 2, stages == 1 && tiles == 3 ? 3 : 2, 1});
      else
        out.push_back({stages, tiles, 1, stages == 4 ? 2 : 3, 2});
  return out;
}
/// Those in which mutants are explored: every mistake shows while stages and tiles are few.
inline std::vector<setting> small_settings_of(description const& d) {
  auto all = settings_of(d);
  std::erase_if(all, [](setting const& s) { return s.stages > 3 || s.tiles > 5; });
  return all;
}

/// All mistakes in one step.
class mistakes {
public:
  mistakes(edited const& right, int list, int index) : p(right), l(list), i(index) { everywhere(); }
  std::vector<mutant> const& all() const { return found; }

private:
  using steps = std::vector<edited_step>;

  void add(std::string const& mistake, std::function<void(steps&)> const& change) {
    mutant m{p, l, i, mistake, here().s.what};
    change(m.protocol.lists[std::size_t(l)]);
    found.push_back(m);
  }
  void change(std::string const& mistake, std::function<void(edited_step&)> const& f) {
    add(mistake, [&](steps& s) { f(s[std::size_t(i)]); });
  }
  edited_step const& here() const { return p.lists[std::size_t(l)][std::size_t(i)]; }
  bool is(std::initializer_list<action> any) const {
    return std::find(any.begin(), any.end(), here().s.what) != any.end();
  }

  void everywhere() {
    add("left out", [&](steps& s) { s.erase(s.begin() + i); });
    add("done twice", [&](steps& s) { s.insert(s.begin() + i, here()); });
    int const last = int(p.lists[std::size_t(l)].size()) - 1;
    if (i < last) add("after the next", [&](steps& s) { std::swap(s[std::size_t(i)], s[std::size_t(i) + 1]); });
    if (i < last - 1) add("at the end", [&](steps& s) { std::rotate(s.begin() + i, s.begin() + i + 1, s.end()); });
    if (i > 1) add("at the start", [&](steps& s) { std::rotate(s.begin(), s.begin() + i, s.begin() + i + 1); });
    numbers();
    places();
    people();
    kinds();
  }
  void numbers() {
    for (int by : {-1, 1}) {
      char const* const what = by < 0 ? " fewer" : " more";
      if (is({action::expect, action::load, action::load_for_all, action::store, action::store_sum, action::send,
              action::send_sum, action::send_words}))
        change(std::string("16 bytes") + what, [&](edited_step& e) { e.bytes = by; });
      if (is({action::init})) change(std::string("one arrival") + what, [&](edited_step& e) { e.arrivals = by; });
      if (is({action::wait_source, action::wait_result}) && (by > 0 || here().s.how_much != amount::zero))
        change(std::string("one group") + what, [&](edited_step& e) { e.groups = by; });
    }
    if (is({action::wait})) change("wrong parity", [](edited_step& e) { e.parity = 1; });
  }
  void places() {
    bool const of_a_tile =
        here().s.what >= action::arrive &&
        !is({action::commit, action::wait_source, action::wait_result, action::publish, action::clear});
    if (of_a_tile || (here().s.what == action::clear && l == turn_list)) {
      change("next stage", [](edited_step& e) { e.stage = 1; });
      change("next tile", [](edited_step& e) { e.tile = 1; });
      change("tile before", [](edited_step& e) { e.tile = -1; });
      change("a turn of the ring later", [](edited_step& e) { e.s.turns++; });
      change("a turn of the ring earlier", [](edited_step& e) { e.s.turns--; });
    }
    if (here().s.at != barrier::none) {
      change("the other barrier",
             [](edited_step& e) { e.s.at = e.s.at == barrier::full ? barrier::empty : barrier::full; });
      for (auto h : {holder::own, holder::leader, holder::each_other})
        if (h != here().s.of)
          change(std::string("barrier of ") + (h == holder::own      ? "this block"
                                               : h == holder::leader ? "the leader"
                                                                     : "each other block"),
                 [h](edited_step& e) { e.s.of = h; });
    }
  }
  void people() {
    for (auto t : {threads::all, threads::one, threads::rest})
      if (t != here().s.who)
        change(std::string("by ") + (t == threads::all   ? "all threads"
                                     : t == threads::one ? "one thread"
                                                         : "all threads but one"),
               [t](edited_step& e) { e.s.who = t; });
    for (auto b : {blocks::every, blocks::leader, blocks::others})
      if (b != here().s.where)
        change(std::string("in ") + (b == blocks::every    ? "every block"
                                     : b == blocks::leader ? "the leader"
                                                           : "the other blocks"),
               [b](edited_step& e) { e.s.where = b; });
  }
  void kinds() {
    auto const to = [&](std::initializer_list<action> from, action a, char const* mistake) {
      if (is(from)) change(mistake, [a](edited_step& e) { e.s.what = a; });
    };
    to({action::expect}, action::arrive, "arrives without bytes");
    to({action::wait_source}, action::wait_result, "waits for the result");
    to({action::wait_result}, action::wait_source, "waits for the source only");
    to({action::meet_cluster}, action::meet_block, "meets its block only");
    to({action::fence_proxy}, action::fence_init, "another fence");
    to({action::fence_init}, action::fence_proxy, "another fence");
    to({action::load_for_all}, action::load, "for its own block only");
  }

  edited const& p;
  int l, i;
  std::vector<mutant> found;
};

/// All mutants of a protocol that make some thread do something else in some setting.
inline std::vector<mutant> mutants_of(description const& d) {
  auto const right = lists_of(d);
  std::vector<mutant> out;
  for (int l = 0; l < 4; ++l)
    for (int i = 0; i < int(right.lists[std::size_t(l)].size()); ++i) {
      mistakes const here(right, l, i);
      out.insert(out.end(), here.all().begin(), here.all().end());
    }
  auto const sizes = small_settings_of(d);
  std::erase_if(out, [&](mutant const& m) {
    return std::all_of(sizes.begin(), sizes.end(), [&](setting const& size) {
      writer w(right, size);
      return same_steps(w.right(), w.write(m.protocol));
    });
  });
  return out;
}

} // namespace protocols
