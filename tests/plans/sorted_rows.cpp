// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the planner of folds by key of sorted rows decides, from numbers.
#include "plans/keyed_facts.hpp"

#include <tally/plan/sorted_rows.hpp>
#include <tally/plan/spell.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace tally::v0;

TEST_CASE("rows are sorted where they are long and many, and their slots too many for the table of a block") {
  using planning::sorts_rows;
  CHECK(sorts_rows(rows(1 << 22, 64, 1000, true)));
  CHECK_FALSE(sorts_rows(rows(1 << 22, 63, 1000, true)));
  CHECK(sorts_rows(rows(1 << 22, 16, 1000, false)));
  CHECK_FALSE(sorts_rows(rows(1 << 22, 15, 1000, false)));
  CHECK_FALSE(sorts_rows(rows(1 << 22, 64, 10, false)));
  CHECK_FALSE(sorts_rows(rows((1 << 15) - 1, 64, 1000, true)));
  auto apart = rows(1 << 22, 64, 1000, true);
  apart.rows_have_one_key = false;
  CHECK_FALSE(sorts_rows(apart));
}

TEST_CASE("rows are sorted, not elements, and a digit has all bits of few keys") {
  auto const made = make_sorted_rows_plan(rows(1 << 22, 64, 1000, true));
  CHECK(made.sort.elements == 1 << 22);
  CHECK(made.sort.slots == 1000);
  CHECK(made.sort.passes == 1);
  CHECK(made.plan.sort.no_kept_axis);
  CHECK(make_sorted_rows_plan(rows(1 << 22, 64, 100'000, true)).sort.passes == 2);
}

TEST_CASE("floats are loaded by 16 bytes and added where the answers go; of other folds a warp has one row, and there are cells for chunks") {
  auto const f32 = make_sorted_rows_plan(rows(1 << 22, 64, 1000, true)), bf16 = make_sorted_rows_plan(rows(1 << 22, 64, 1000, true, 2));
  CHECK(f32.plan.elements_per_load == 4);
  CHECK(f32.plan.threads_per_row == 16);
  CHECK(bf16.plan.elements_per_load == 8);
  CHECK(bf16.plan.threads_per_row == 8);
  CHECK(f32.plan.in_place);
  CHECK(f32.cells == 0);
  auto const exact = make_sorted_rows_plan(rows(1 << 22, 64, 1000, false));
  CHECK(exact.plan.elements_per_load == 2);
  CHECK(exact.plan.threads_per_row == 32);
  CHECK(make_sorted_rows_plan(rows(1 << 22, 256, 1000, false)).plan.elements_per_load == 4);
  CHECK(make_sorted_rows_plan(rows(1 << 22, 32, 1000, false)).plan.elements_per_load == 1);
  CHECK(make_sorted_rows_plan(rows(1 << 22, 64, 1'000'000, true, 2)).plan.elements_per_load == 4);
  CHECK_FALSE(exact.plan.in_place);
  CHECK(exact.cells == exact.cut.chunks * 64);
  CHECK(make_sorted_rows_plan(rows(1 << 22, 33, 1000, true)).plan.elements_per_load == 1);
}

TEST_CASE("every row is in one chunk, every column in one strip, and long reads have longer chunks") {
  for (i64 const n : {i64(1), i64(31), i64(32), i64(33), i64(1 << 15), i64(100'001), i64(1 << 22), i64(1) << 26})
    for (i64 const columns : {32, 33, 64, 100, 1000}) {
      CAPTURE(n);
      CAPTURE(columns);
      auto const made = make_sorted_rows_plan(rows(n, columns, 1000, true));
      auto const& cut = made.cut;
      i64 const of_strip = i64(made.plan.threads_per_row) * made.plan.elements_per_load;
      CHECK(cut.chunks * cut.chunk_rows >= n);
      CHECK((cut.chunks - 1) * cut.chunk_rows < n);
      CHECK(cut.strips * of_strip >= columns);
      CHECK((cut.strips - 1) * of_strip < columns);
      CHECK(made.blocks * (made.plan.threads_per_block / made.plan.threads_per_row) >= cut.chunks * cut.strips);
      CHECK(cut.chunk_rows >= planning::least_chunk_rows);
      CHECK(cut.chunk_rows <= planning::most_chunk_rows);
    }
  CHECK(make_sorted_rows_plan(rows(1 << 24, 64, 1000, true)).cut.chunk_rows > make_sorted_rows_plan(rows(1 << 20, 64, 1000, true)).cut.chunk_rows);
}

TEST_CASE("the plan says why there are no tables, and is spelled as the C++ that makes it again") {
  auto const made = make_sorted_rows_plan(rows(1 << 22, 64, 1000, true));
  REQUIRE(made.why_not.count == 1);
  CHECK(std::string(made.why_not.entries[0].choice) == "tables of slots");
  CHECK(spell(made.plan) ==
        "tally::v0::sorted_rows_plan{.sort = tally::v0::slot_sort_plan{.bits_of_digit = 10, .threads_per_block = 256, .blocks_per_multiprocessor = 4, "
        ".elements_per_thread = 12, .wide_numbers = false, .one_reduced_axis = true, .no_kept_axis = true}, .threads_per_block = 256, "
        ".blocks_per_multiprocessor = 4, .threads_per_row = 16, .elements_per_load = 4, .rows_in_flight = 4, .in_place = true}");
}
