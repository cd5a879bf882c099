// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the planner of folds by key of sorted elements decides, from numbers.
#include <tally/plan/sorted_keys.hpp>
#include <tally/plan/spell.hpp>
#include <tally/plan/targets.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace tally::v0;

namespace {

/// n elements of one column of 4 bytes, for an H200; a fold of 8 bytes.
keys_facts scalars(i64 n, i64 slots) {
  keys_facts f{};
  f.of.target = targets::h200;
  f.of.extent = n;
  f.of.source_count = 1;
  f.of.sources[0] = {4, 1, 16};
  f.of.lanes_per_group = 4;
  f.of.rows_per_leaf = 8;
  f.of.fold_count = 1;
  f.of.folds[0].state_bytes = 8;
  f.at = {0, 1, 1, n, {}, {{n, 1, {1}}}, {}};
  f.slots = slots;
  return f;
}

} // namespace

TEST_CASE("a short read is sorted by one block, a long one by four a multiprocessor, each with as many tiles") {
  CHECK(make_sorted_keys_plan(scalars(1, 10)).sort.blocks == 1);
  CHECK(make_sorted_keys_plan(scalars(4096, 10)).sort.blocks == 1);
  CHECK(make_sorted_keys_plan(scalars(4097, 10)).sort.blocks == 2);
  auto const large = make_sorted_keys_plan(scalars(1 << 28, 10));
  CHECK(large.sort.share == 125 * 4096);
  CHECK(large.sort.blocks == 525);
  CHECK(large.sort.share * large.sort.blocks >= 1 << 28);
  CHECK(large.sort.share * (large.sort.blocks - 1) < 1 << 28);
}

TEST_CASE("as many passes as slots, and that of no slot, have digits") {
  CHECK(make_sorted_keys_plan(scalars(1000, 1023)).sort.passes == 1);
  CHECK(make_sorted_keys_plan(scalars(1000, 1024)).sort.passes == 2);
  CHECK(make_sorted_keys_plan(scalars(1000, 3'000'000)).sort.passes == 3);
}

TEST_CASE("numbers of elements are wide where they, or the end of the last slot, need it") {
  auto const most = make_sorted_keys_plan(scalars((i64(1) << 32) - 1, 10)), more = make_sorted_keys_plan(scalars(i64(1) << 32, 10));
  CHECK_FALSE(most.plan.sort.wide_numbers);
  CHECK(most.plan.sort.elements_per_thread == 16);
  CHECK(more.plan.sort.wide_numbers);
  CHECK(more.plan.sort.elements_per_thread == 8);
  CHECK(more.sort.bytes() > 24 * (i64(1) << 32));
}

TEST_CASE("the plan says why there are no tables, and is spelled as the C++ that makes it again") {
  auto const made = make_sorted_keys_plan(scalars(1 << 20, 1000));
  REQUIRE(made.why_not.count == 1);
  CHECK(std::string(made.why_not.entries[0].choice) == "tables of slots");
  CHECK(spell(made.plan) ==
        "tally::v0::sorted_keys_plan{.sort = tally::v0::slot_sort_plan{.bits_of_digit = 10, .threads_per_block = 256, .blocks_per_multiprocessor = 4, .elements_per_thread = 12, .wide_numbers = false, "
        ".one_reduced_axis = true, .no_kept_axis = true}, .folds = "
        "tally::v0::segments_plan{.warps_per_block = 8, .blocks_per_multiprocessor = 4, .tile_elements = 256, .elements_per_lane = 8, "
        ".rows_in_flight = 4, .leaves_per_part = 8, .counted = false, .segments_per_lane = 0, .in_windows = false}}");
}
