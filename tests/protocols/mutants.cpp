// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every mistake that can be made in one step of a protocol is caught, or is no mistake, and then it is said why.
// With -s the test prints each mutant with the property that caught it.
#include "protocols/mutants.hpp"

#include "protocols/explorer.hpp"

#include <doctest/doctest.h>

#include <iterator>

using namespace protocols;

namespace {

/// A change that keeps every property, and why it does.
struct harmless {
  std::vector<action> steps;
  char const* mistake;
  char const* why;
  int list = -1;                  ///< or in any list
  char const* protocol = nullptr; ///< or in any
  int index = -1;                 ///< or anywhere
  bool covers(mutant const& m) const {
    return m.mistake == mistake && (list < 0 || list == m.list) && (index < 0 || index == m.index) &&
           (protocol == nullptr || m.protocol.name == protocol) &&
           std::find(steps.begin(), steps.end(), m.what) != steps.end();
  }
};

using enum action;
std::vector<harmless> const changes = {
    {{fence_init, fence_proxy, meet_warp, meet_block, meet_cluster, wait, wait_source, wait_result, clear},
     "done twice",
     "nothing is left to do the second time"},
    {{commit}, "done twice", "a group of nothing: who counts groups waits longer than he must"},
    {{commit}, "by all threads", "the others close groups of nothing"},
    {{wait}, "by all threads", "more threads wait for what happens anyway"},
    {{wait}, "in every block", "more blocks wait for what happens anyway"},
    {{wait_source, wait_result}, "by all threads", "the others have sent nothing to wait for"},
    {{wait_source}, "one group fewer", "waits longer than it must"},
    {{wait_source}, "waits for the result", "waits longer than it must"},
    {{wait_source}, "at the end", "the same wait, seen from the turn before", turn_list},
    {{meet_block}, "at the start", "the same meeting, seen from the turn after", turn_list, "store_sum_at_once", 7},
    {{commit}, "after the next", "threads read the same before and after it", turn_list, "store_sum_at_once"},
    {{read}, "after the next", "threads read the same before and after the wait", turn_list, "store_sum_at_once"},
    {{commit}, "after the next", "threads read the same before and after it", turn_list, "store_ring"},
    {{fence_init}, "by all threads", "the others have initialised nothing"},
    {{fence_init},
     "after the next",
     "only the thread that asks for copies needs it, and comes to it before it asks",
     setup_list,
     "load_ring_of_warp"},
    {{fence_init},
     "after the next",
     "only the thread that asks for copies needs it, and comes to it before it asks",
     setup_list,
     "load_ring_of_block"},
    {{meet_warp},
     "after the next",
     "bytes may be expected as soon as the phase before is over: only the copy waits for the readers",
     turn_list,
     "load_ring_of_warp"},
    {{init}, "after the next", "the two touch nothing in common", setup_list, nullptr, 0},
    {{init},
     "after the next",
     "the engine never uses this barrier, and its threads meet later",
     setup_list,
     "load_ring_of_block",
     1},
    {{init},
     "at the end",
     "who arrives at this barrier has waited for a tile that was asked for after it was initialised",
     setup_list,
     "load_ring_of_block",
     1},
    {{init, clear, write, fence_proxy}, "in every block", "of memory that nobody uses there"},
    {{meet_block}, "in every block", "the others meet once more than they must"},
    {{fence_proxy}, "by all threads", "the others have stored nothing"},
    {{clear}, "a turn of the ring later", "the same stage; the last ones are used no more", turn_list},
    {{meet_cluster},
     "by one thread",
     "one thread keeps the memory of its block, and who is gone counts as there",
     finish_list},
    {{meet_cluster},
     "by all threads but one",
     "one thread keeps the memory of its block, and who is gone counts as there",
     finish_list},
    {{meet_cluster},
     "in the other blocks",
     "the leader leaves when it has heard of everything that is sent to it, and the others wait for it to leave",
     finish_list},
    {{meet_cluster},
     "in the leader",
     "the others leave when they have read the last tile, and the leader waits for them to leave",
     finish_list},
};

/// What catches a mutant, in the first world where something does.
std::optional<broken> caught_by(mutant const& m, std::vector<writer>& writers) {
  for (auto& w : writers) {
    auto const wrong = w.write(m.protocol);
    if (auto found = explorer(wrong).run()) return found;
  }
  return std::nullopt;
}

} // namespace

TEST_CASE("every mistake in one step of a protocol is caught") {
  int caught = 0;
  std::vector<int> by_property(int(property::result_is_sequential) + 1), by_change(changes.size());
  for (auto const& d : every_protocol) {
    std::vector<writer> writers;
    for (auto const& size : small_settings_of(d)) writers.emplace_back(lists_of(d), size);
    int here = 0;
    for (auto const& m : mutants_of(d)) {
      if (auto const found = caught_by(m, writers)) {
        ++here, ++by_property[std::size_t(found->which)];
        CHECK_MESSAGE(true, m.name() << ": " << std::string(name_of(found->which)));
        continue;
      }
      auto const change = std::find_if(changes.begin(), changes.end(), [&](auto const& c) { return c.covers(m); });
      CHECK_MESSAGE(change != changes.end(), m.name() << " is not caught");
      if (change == changes.end()) continue;
      ++by_change[std::size_t(change - changes.begin())];
      CHECK_MESSAGE(true, m.name() << " is no mistake: " << std::string(change->why));
    }
    CHECK_MESSAGE(here >= 30, std::string(d.name));
    caught += here;
  }
  MESSAGE(caught << " mutants caught");
  CHECK(caught >= 1000);
  for (std::size_t p = 0; p < by_property.size(); ++p) {
    MESSAGE(std::string(name_of(property(p))) << " caught " << by_property[p]);
    CHECK_MESSAGE(by_property[p] > 0, std::string(name_of(property(p))));
  }
  for (std::size_t c = 0; c < changes.size(); ++c) // a reason that excuses nothing is stale
    CHECK_MESSAGE(by_change[c] > 0, std::string(changes[c].mistake) << ": " << std::string(changes[c].why));
}

namespace {

/// The property that catches a protocol with another turn than it should have.
template <class Change>
std::optional<property> caught(description const& d, setting const& size, Change change) {
  auto wrong = lists_of(d);
  change(wrong);
  writer w(lists_of(d), size);
  auto const other = w.write(wrong);
  auto const found = explorer(other).run();
  return found ? std::optional(found->which) : std::nullopt;
}
constexpr setting one_block{2, 5, 1, 3, 2}, two_blocks{2, 5, 2, 2, 1};

} // namespace

TEST_CASE("the traps of the manual are caught by the property that bears their name") {
  auto const without = [](int list, int index) {
    return [=](edited& p) { p.lists[std::size_t(list)].erase(p.lists[std::size_t(list)].begin() + index); };
  };
  SUBCASE("expect-tx equal to the bytes") {
    auto const more = [](edited& p) { p.lists[turn_list][3].bytes = p.lists[first_list][0].bytes = 1; };
    CHECK(caught(load_ring_of_warp(), one_block, more) == property::bytes_are_equal);
  }
  SUBCASE("arrivals equal to the count") {
    auto const more = [](edited& p) { p.lists[setup_list][1].arrivals = 1; };
    CHECK(caught(load_ring_of_block(), one_block, more) == property::arrivals_are_equal);
  }
  SUBCASE("a parity that does not alternate") {
    auto const wrong = [](edited& p) { p.lists[turn_list][0].parity = 1; };
    CHECK(caught(load_ring_of_warp(), one_block, wrong) == property::parity_alternates);
  }
  SUBCASE("a refill before all lanes have read") {
    CHECK(caught(load_ring_of_warp(), one_block, without(turn_list, 2)) == property::refill_after_release);
  }
  SUBCASE("ordinary stores without a proxy fence") {
    CHECK(caught(store_ring(), one_block, without(turn_list, 3)) == property::proxy_fence_before_engine);
    CHECK(caught(cluster_sum(), two_blocks, without(turn_list, 9)) == property::proxy_fence_before_engine);
  }
  SUBCASE("barriers that were not fenced") {
    CHECK(caught(load_ring_of_warp(), one_block, without(setup_list, 1)) == property::barriers_are_initialised);
    CHECK(caught(multicast_ring(), two_blocks, without(setup_list, 2)) == property::barriers_are_initialised);
  }
  SUBCASE("a stage used again while the engine reads it") {
    CHECK(caught(store_sum_ring(), one_block, without(turn_list, 0)) == property::source_free_before_reuse);
  }
  SUBCASE("an exit while the engine reads") {
    CHECK(caught(store_ring(), one_block, without(finish_list, 0)) == property::engine_done_before_exit);
  }
  SUBCASE("a result used when only the source has been read") {
    auto const source_only = [](edited& p) { p.lists[finish_list][0].s.what = wait_source; };
    CHECK(caught(store_sum_ring(), one_block, source_only) == property::result_complete_before_use);
  }
  SUBCASE("red.async into the block's own memory") {
    auto const own = [](edited& p) { p.lists[turn_list][7].s.of = holder::own; };
    CHECK(caught(cluster_words(), two_blocks, own) == property::remote_block_is_another);
  }
  SUBCASE("another block touched before it runs, and after it is gone") {
    auto const own_block_only = [](edited& p) { p.lists[setup_list][3].s.what = meet_block; };
    CHECK(caught(cluster_copy(), two_blocks, own_block_only) == property::remote_block_is_alive);
    CHECK(caught(cluster_words(), two_blocks, without(finish_list, 0)) == property::remote_block_is_alive);
  }
  SUBCASE("a meeting to which not everybody comes") {
    auto const one_only = [](edited& p) { p.lists[turn_list][2].s.who = threads::one; };
    CHECK(caught(load_ring_of_warp(), one_block, one_only) == property::no_deadlock);
  }
}
