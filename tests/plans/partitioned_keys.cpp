// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the planner of folds by key of partitioned elements decides, from numbers, and which route folds take whose elements come in any order.
#include "plans/keyed_facts.hpp"

#include <tally/plan/keys_in_any_order.hpp>
#include <tally/plan/spell.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace tally::v0;

namespace {

/// n exact sums of f32 by keys of 8 bytes.
keys_facts sums(i64 n, i64 slots) {
  keys_facts f = scalars(n, slots, 112);
  f.of.source_count = 2;
  f.of.sources[1] = {8, 1, 16};
  f.at.reduced[0].steps[1] = 1;
  f.travelling = 1;
  f.can_travel = true;
  f.atomics_of_element = 2;
  return f;
}
i64 partitions_of(keys_facts const& f) {
  why_not_list why;
  return planning::choose_partitions(f, why);
}
std::string refusal_of(keys_facts const& f) {
  why_not_list why;
  return planning::choose_partitions(f, why) == 0 && why.count == 1 ? why.entries[0].reason : "";
}
keys_facts with(keys_facts f, auto const& change) {
  change(f);
  return f;
}

} // namespace

TEST_CASE("elements are partitioned where their slots have no room in a block and each of them takes two atomics") {
  i64 const n = 1 << 24;
  CHECK(partitions_of(sums(n, 6000)) == 0); // three ranges
  CHECK(partitions_of(sums(n, 7000)) == 28); // of 256 slots
  CHECK(partitions_of(sums(n, 100'000)) == 264); // two a multiprocessor
  CHECK(partitions_of(sums(n, 1'000'000)) == 506); // of as many slots as a block has room for
  CHECK(partitions_of(with(sums(n, 1'000'000), [](auto& f) { f.bytes_in_windows = 24; })) == 264);
  CHECK(partitions_of(with(sums(n, 18'000), [](auto& f) { f.bytes_in_windows = 24; })) == 0); // two ranges
  auto const small = [&](i64 slots, int bytes_of_number) { return with(sums(n, slots), [&](auto& f) { f.bytes_in_windows = 16, f.of.sources[0].bytes_per_element = bytes_of_number; }); };
  CHECK(partitions_of(small(40'000, 4)) == 0); // three ranges
  CHECK(partitions_of(small(54'000, 4)) == 211); // not four
  CHECK(partitions_of(small(54'000, 8)) == 0); // but for numbers that are long to copy
  CHECK(partitions_of(small(60'000, 8)) == 235); // not five
  CHECK(partitions_of(with(sums(n, 100'000), [](auto& f) { f.atomics_of_element = 1; })) == 0);
  CHECK(partitions_of(with(sums(n, 100'000), [](auto& f) { f.own_cell_bytes = 8; })) == 0); // four ranges of little
  CHECK(partitions_of(with(sums(n, 400'000), [](auto& f) { f.own_cell_bytes = 8; })) == 264);
  CHECK(partitions_of(with(sums(n, 100'000), [](auto& f) { f.own_cell_bytes = 0; })) == 0);
  CHECK(partitions_of(with(sums(n, 100'000), [](auto& f) { f.rows_have_one_key = true; })) == 0);
}

TEST_CASE("what keeps elements from being partitioned is said") {
  i64 const n = 1 << 24;
  CHECK(refusal_of(with(sums(n, 100'000), [](auto& f) { f.of.target = targets::a100; })) == "tiles are written by the bulk engine, which is of sm_90");
  CHECK(refusal_of(with(sums(n, 100'000), [](auto& f) { f.can_travel = false; })) == "a fold looks at positions, or at what is computed");
  CHECK(refusal_of(with(sums(n, 100'000), [](auto& f) { f.at.reduced[0].steps[0] = 2; })) == "elements do not follow each other in every column");
  CHECK(refusal_of(sums(1 << 20, 100'000)) == "{0} elements by {1} slots are too few");
  CHECK(refusal_of(sums(n, 5'000'000)) == "{0} elements by {1} slots are too few");
  CHECK(refusal_of(sums(i64(1) << 28, 9'000'000)) == "{0} slots are more than 4096 times {1}");
  CHECK(refusal_of(with(sums(n, 100'000), [](auto& f) { f.of.sources[0].bytes_per_element = 64; })) == "a tile of elements of {0} bytes does not fit");
}

TEST_CASE("both kernels have the room that they ask for, and every element, partition and pass is taken once") {
  for (i64 const n : {i64(1) << 21, (i64(1) << 24) + 3, (i64(1) << 27) + 4, i64(1) << 31})
    for (i64 const slots : {5000, 100'000, 500'000, 1'500'000, 4'000'000})
      for (int const bytes : {1, 4, 8, 16}) {
        CAPTURE(n);
        CAPTURE(slots);
        CAPTURE(bytes);
        auto const f = with(sums(n, slots), [&](auto& facts) { facts.of.sources[0].bytes_per_element = bytes; });
        i64 const partitions = partitions_of(f);
        if (partitions == 0) continue;
        auto const made = make_partitioned_keys_plan(f, partitions);
        auto const& p = made.plan;
        CHECK(made.shared_bytes <= f.of.target.shared_bytes_per_block);
        CHECK(made.fold_shared_bytes <= f.of.target.shared_bytes_per_block);
        CHECK(p.elements_of_tile() < 1 << 16);
        CHECK(p.slots_of_partition * partitions >= slots);
        CHECK(made.passes * made.of_pass >= partitions);
        CHECK((made.passes - 1) * made.of_pass < partitions);
        CHECK(made.of_pass <= most_partitions);
        CHECK(made.parts * made.part >= n - 3);
        CHECK((made.parts == 1 || made.part % p.elements_of_tile() == 0));
        CHECK(p.in_runs.hot_slots * (f.own_cell_bytes + 4) <= made.fold_shared_bytes);
        CHECK(made.tile_bytes < i64(1) << 32);
      }
}

TEST_CASE("a partition of which a tile has few elements is read by fewer threads, and wide elements have shorter tiles") {
  i64 const n = i64(1) << 27;
  auto const plan_of = [](keys_facts const& f) { return make_partitioned_keys_plan(f, partitions_of(f)).plan; };
  CHECK(plan_of(sums(n, 20'000)).threads_per_run == 32);
  CHECK(plan_of(sums(n, 1'000'000)).threads_per_run == 16);
  CHECK(plan_of(sums(n, 1'900'000)).threads_per_run == 8);
  CHECK(plan_of(sums(n, 100'000)).elements_per_thread == 16);
  CHECK(plan_of(with(sums(n, 100'000), [](auto& f) { f.of.sources[0].bytes_per_element = 8; })).elements_per_thread == 8);
  CHECK(plan_of(with(sums(n, 100'000), [](auto& f) { f.of.target = targets::rtx_pro_6000; })).elements_per_thread == 8); // less shared memory
  CHECK(plan_of(with(sums(n, 100'000), [](auto& f) { f.of.sources[1].address_alignment = 8; })).elements_per_load == 1);
}

TEST_CASE("folds that need a sort, and floats in partitions, are taken exactly where exact cells are in shared memory and worth their room") {
  auto const floats = [](i64 n, i64 slots, int bytes) { return with(sums(n, slots), [&](auto& f) { f.own_cell_bytes = bytes, f.swaps_floats = true; }); };
  i64 const n = 1 << 24;
  auto const needs_a_sort = [](i64 elements, i64 slots) { return scalars(elements, slots, 0); };
  CHECK(are_better_exact(needs_a_sort(n, 1000), sums(n, 1000)));        // a table
  CHECK(are_better_exact(needs_a_sort(n, 100'000), sums(n, 100'000)));  // partitions
  CHECK(are_better_exact(needs_a_sort(n, 1'000'000), sums(n, 1'000'000)));
  CHECK(are_better_exact(needs_a_sort(n, 1'500'000), sums(n, 1'500'000)));
  CHECK_FALSE(are_better_exact(needs_a_sort(n, 3'000'000), sums(n, 3'000'000))); // five elements a slot
  CHECK_FALSE(are_better_exact(needs_a_sort(7000, 1000), sums(7000, 1000)));
  CHECK_FALSE(are_better_exact(needs_a_sort(1 << 20, 30'000), sums(1 << 20, 30'000))); // in global memory
  auto const of_doubles = [](i64 elements, i64 slots) { return with(sums(elements, slots), [](auto& f) { f.own_cell_bytes = 1852, f.bytes_in_windows = 84; }); };
  CHECK(are_better_exact(needs_a_sort(n / 2, 1'000'000), of_doubles(n / 2, 1'000'000)));
  CHECK_FALSE(are_better_exact(needs_a_sort(n, 100), needs_a_sort(n, 100)));
  REQUIRE(choose_any_order(floats(n, 1'000'000, 8)).route == any_order_route::partitions);
  CHECK(are_better_exact(floats(n, 1'000'000, 8), sums(n, 1'000'000)));
  CHECK_FALSE(are_better_exact(floats(n, 1'000'000, 8), of_doubles(n, 1'000'000)));
  CHECK_FALSE(are_better_exact(with(floats(n, 1'000'000, 8), [](auto& f) { f.swaps_floats = false; }), sums(n, 1'000'000)));
  CHECK_FALSE(are_better_exact(floats(n, 100'000, 8), sums(n, 100'000))); // ranges of a table, which lanes have cells in
  auto const one_float = [&](i64 elements, i64 slots) { return with(floats(elements, slots, 4), [](auto& f) { f.atomics_of_element = 1; }); };
  REQUIRE(choose_any_order(one_float(n, 1'000'000)).route == any_order_route::tables); // a red of each in L2
  CHECK_FALSE(are_better_exact(one_float(n, 1'000'000), sums(n, 1'000'000)));
  CHECK(are_better_exact(one_float(n * 2, 1'000'000), sums(n * 2, 1'000'000)));
  CHECK_FALSE(are_better_exact(one_float(n * 2, 100'000), sums(n * 2, 100'000))); // two ranges
}

TEST_CASE("states that no atomic combines are never in tables, and the plan is spelled as the C++ that makes it again") {
  CHECK(choose_any_order(sums(1 << 24, 100'000)).route == any_order_route::partitions);
  CHECK(choose_any_order(sums(1 << 10, 100'000)).route == any_order_route::tables);
  CHECK(choose_any_order(scalars(1 << 10, 10, 0)).route == any_order_route::sorted_elements);
  CHECK(choose_any_order(rows(1 << 22, 64, 1000, true)).route == any_order_route::sorted_rows);
  auto const made = make_partitioned_keys_plan(sums(1 << 24, 100'000), 264);
  REQUIRE(made.why_not.count == 1);
  CHECK(std::string(made.why_not.entries[0].choice) == "tables of slots");
  CHECK(spell(made.plan) == "tally::v0::partitioned_keys_plan{.table = " + spell(made.plan.table) + ", .in_runs = " + spell(made.plan.in_runs) +
                                ", .slots_of_partition = 380, .threads_per_block = 1024, .elements_per_thread = 16, .elements_per_load = 4, .threads_per_run = 16, "
                                ".tiles_in_flight = 4}");
}
