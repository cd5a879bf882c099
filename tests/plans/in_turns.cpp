// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which walks take turns in one launch, from numbers and from pipelines.
#include "plans/made_up.hpp"
#include "plans/shared_of.hpp"

#include <tally/plan/turns.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace tally::v0;
using made_up::numbers;

namespace {

constexpr i64 n = 1 << 26;

} // namespace

TEST_CASE("segments take turns with the folds of the whole, with keys and with each other") {
  auto const x = from(numbers<float>(n), numbers<unsigned>(n));
  auto const offsets = numbers<int>(1001), others = numbers<int>(77);
  CHECK(shared_of(x | reduce(sum(_1), by_segment(offsets, sum(_1)))) == each{false, true}); // folds of the whole are shown last
  CHECK(shared_of(x | reduce(by_segment(offsets, sum(_1)), by_segment(others, max(_1)))) == each{false, true});
  CHECK(shared_of(x | reduce(by_key(_2, 16, sum(_1)), by_segment(offsets, sum(_1)))) == each{true, false});
  CHECK(shared_of(x | reduce(by_key(_2, 16, count), max(_2), by_segment(offsets, sum(_1)), histogram(_1, 0, 1, 8))) == each{true, false, true, true});
  CHECK(shared_of(x | reduce(sum(_1), by_key(_2, 16, count), by_segment(offsets, max(_1))), exact) == each{true, false, true});
  CHECK(shared_of(x | reduce(by_segment(offsets, sum(_1)), count)) == each{false, false}); // a count of all is the extent
  CHECK(shared_of(x | reduce(by_segment(offsets, count), sum(_1))) == each{false, false}); // and that of segments is their offsets
}

TEST_CASE("what does not take turns says why") {
  auto const x = from(numbers<float>(n), numbers<unsigned>(n));
  auto const offsets = numbers<int>(1001);
  auto const beyond = explain(x | reduce(sum(_1), by_segment(offsets, max(_1)), by_key(_2, 100'000, sum(_1))), targets::h200);
  CHECK(beyond.details().in_turns.joins);
  CHECK_FALSE(beyond.details().domains[1].shares_read);
  auto const many = explain(x | reduce(by_segment(offsets, max(_1)), by_segment(offsets, max(_1)), by_segment(offsets, max(_1)), by_segment(offsets, max(_1)),
                                       by_segment(offsets, max(_1))), targets::h200);
  CHECK_FALSE(many.details().in_turns.joins);
  CHECK(many.text().find("a launch has turns for 4") != std::string::npos);
}

TEST_CASE("explain says on the host what takes turns") {
  std::vector<float> const x(1 << 20);
  std::vector<int> const offsets{0, 10, 1 << 20};
  auto const e = explain(from(x) | reduce(sum(_1), by_segment(offsets, sum(_1))), on::cpu.threads(2));
  CHECK(e.details().passes() == 1);
  CHECK(e.details().domains[1].shares_read);
  CHECK(e.details().domains[1].cut.find("in turn with by_segment") == 0);
}

TEST_CASE("every turn is one walk's, each has all of its own in their order, and all are spread evenly") {
  for (u64 const all_own : {0ull, 1ull, 2ull, 7ull, 100ull, 101ull, 2'000'000'000ull}) {
    u64 const of = all_own > 101 ? 2'147'483'647 : 101;
    u64 own = 0, others = 0;
    for (u64 number = 0; number < 101; ++number) {
      turn const t(number, of, all_own);
      CHECK(t.before() == own);
      CHECK(number - t.before() == others);
      (t.is_own() ? own : others) += 1;
      CHECK(own * of <= (number + 1) * all_own); // never ahead of its share, and less than one behind
      CHECK((number + 1) * all_own < (own + 1) * of);
    }
    if (of == 101) CHECK(own == all_own);
  }
}

TEST_CASE("blocks that take turns are as large as each other, soon done, and no launch of their own") {
  facts f{};
  f.extent = n;
  f.lanes_per_group = 4;
  f.rows_per_leaf = 8;
  f.source_count = f.fold_count = 1;
  f.sources[0] = {4, 1, 16};
  f.folds[0].state_bytes = 4;
  f.folds[0].commutative = true;
  f.target = targets::h200;
  turns_facts t{true, f, 2, {{f, 1000, false}, {f, 5, true}}};
  auto const p = make_turns_plan(t);
  REQUIRE(p.joins);
  CHECK(p.plan.whole.takes_turns);
  CHECK_FALSE(p.plan.whole.overlaps_launch);
  CHECK(p.plan.whole.threads_per_block == p.plan.segments[0].threads_per_block());
  CHECK(p.plan.segments[0].threads_per_block() == p.plan.segments[1].threads_per_block());
  CHECK(p.plan.whole.leaves_per_warp == 4);
  CHECK(p.plan.segments[0].leaves_per_part == 4);
  CHECK(p.plan.segments[1].counted);
  CHECK(p.all_blocks == i64(p.blocks.of[0]) + p.blocks.of[1] + p.blocks.of[2]);
  t.whole.keys_beside = true;
  auto const keyed = make_turns_plan(t);
  CHECK(keyed.plan.whole.leaves_per_warp == 1);
  CHECK(keyed.plan.segments[0].leaves_per_part == 8);
  t.count = 1, t.any_whole = false;
  CHECK_FALSE(make_turns_plan(t).joins);
  t.any_whole = true;
  t.whole.keys_beside = false;
  t.whole.folds[0].exact = true;
  CHECK(i64(make_turns_plan(t).blocks.of[0]) * 8 * make_turns_plan(t).plan.whole.leaves_per_warp >= f.leaves()); // its blocks do not stay
  t.whole.folds[0].exact = false;
  for (facts* one : {&t.whole, &t.segments[0].of}) one->sources[0].bytes_per_element = 64, one->folds[0].state_bytes = 200;
  auto const wide = make_turns_plan(t);
  CHECK(wide.plan.whole.blocks_per_multiprocessor == 1);
  CHECK(wide.plan.segments[0].leaves_per_part == 2);
}
