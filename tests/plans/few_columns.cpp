// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the planner decides of matrices of few columns, from numbers alone.
#include "plans/one_matrix.hpp"

TEST_CASE("neighbouring threads have a row as far as its loads are a power of two, each of them some lanes, and bands are side by side where lanes are few") {
  auto const has = [](few_columns_shape s, int neighbours, int threads, int lanes, int bands) {
    CAPTURE(s.columns);
    CHECK(s.neighbours() == neighbours);
    CHECK(s.threads_of_row() == threads);
    CHECK(s.lanes_of_thread() == lanes);
    CHECK(s.bands_beside() == bands);
    CHECK(s.loads() * neighbours * threads >= s.columns);
    CHECK((s.loads() - 1) * neighbours * threads < s.columns);
    CHECK(s.threads_of_band() * bands == mixed_folding_threads);
    CHECK(s.threads_of_band() * lanes == s.lanes() * threads);
  };
  has({4, 3}, 1, 1, 1, 2);
  has({4, 4}, 4, 1, 1, 2);
  has({4, 6}, 2, 1, 1, 2);
  has({4, 8}, 4, 2, 1, 1);
  has({4, 48}, 4, 4, 2, 1);
  has({4, 96}, 4, 8, 4, 1);
  has({8, 64}, 8, 8, 8, 1);
  has({8, 5}, 1, 1, 1, 1);
  has({2, 3}, 1, 1, 1, 4);
  has({1, 7}, 1, 1, 1, 8);
  has({4, 100}, 4, 2, 1, 1); // 25 loads, more columns than a thread keeps open
  has({4, 127}, 1, 2, 1, 1);
}

TEST_CASE("a tile of few columns has whole rows, and whole leaves where the total joins") {
  auto const p = make_mixed_plan(sums_of(8388608, 32, 32));
  CHECK(p.joins);
  CHECK(p.total_joins());
  CHECK(p.plan.few_columns == 32);
  CHECK(p.plan.rows_of_lane == 2); // 32 KiB
  CHECK(p.plan.stages == 3);
  CHECK(p.plan.blocks_per_multiprocessor == 2);
  CHECK(p.cut.bands_of_unit == 32);
  CHECK(p.blocks() == 256);
  CHECK(p.cut.states_of_rows() == 0);
  CHECK(p.shared_bytes == 3 * 32768 + (16 + 32) * 32 * 4);
  CHECK(make_mixed_plan(sums_of(67108864, 3, 3)).plan.rows_of_lane == 8); // 1024 rows are three leaves, fewer none
  CHECK(make_mixed_plan(sums_of(67108864, 12, 12)).plan.rows_of_lane == 2);
  auto const odd = make_mixed_plan(sums_of(8388608, 31, 31));
  CHECK(odd.joins);
  CHECK(!odd.total_joins());
  CHECK(says(odd, "no whole leaves"));
}

TEST_CASE("units of few columns are as many bands as leave no place empty before the end") {
  for (i64 const rows : {140'000, 1'000'000, 8'388'608, 10'000'000, 100'000'000}) {
    auto const p = make_mixed_plan(sums_of(rows, 16, 16));
    CAPTURE(rows);
    CHECK(p.joins);
    i64 const at_once = 264, units = p.blocks(), bands = (rows - 1) / 1024 + 1;
    CHECK((units - 1) * p.cut.bands_of_unit < bands);
    CHECK(units * p.cut.bands_of_unit >= bands);
    if (p.cut.bands_of_unit > 1) CHECK(100 * units >= 75 * ((units - 1) / at_once + 1) * at_once);
  }
  CHECK(!make_mixed_plan(sums_of(100'000, 16, 16)).joins); // a band for fewer than all multiprocessors
  CHECK(make_mixed_plan(sums_of(100'000, 128, 128)).plan.shares_of_last_chunk == 8); // whose lanes have shares nevertheless
}

TEST_CASE("what threads cannot have as rows goes another way") {
  CHECK(make_mixed_plan(sums_of(2097152, 129, 129)).plan.few_columns == 0); // more than a leaf's lanes
  CHECK(make_mixed_plan(sums_of(2097152, 120, 120)).plan.few_columns == 120);
  CHECK(make_mixed_plan(sums_of(2097152, 65, 65)).plan.few_columns == 65);
  auto three = sums_of(2097152, 65, 65); // its open lanes are more than registers
  three.column_words *= 2;
  CHECK(!make_mixed_plan(three).joins);
  CHECK(!make_mixed_plan(sums_of(2097152, 32, 40)).joins); // rows with something between them
  auto misaligned = sums_of(2097152, 32, 32);
  misaligned.of.sources[0].address_alignment = 4;
  CHECK(!make_mixed_plan(misaligned).joins);
  auto older = sums_of(2097152, 32, 32);
  older.of.target = targets::a100;
  CHECK(!make_mixed_plan(older).joins);
  auto counts = sums_of(2097152, 32, 32);
  counts.counts = true;
  CHECK(!make_mixed_plan(counts).joins);
  counts = sums_of(2097152, 12, 12);
  counts.counts = true;
  CHECK(make_mixed_plan(counts).joins);
  auto keys = sums_of(2097152, 32, 32);
  keys.bytes_beside = 4096;
  CHECK(!make_mixed_plan(keys).joins);
  auto wide = sums_of(2097152, 64, 64);
  wide.column_words *= 2;
  wide.column_bytes *= 2;
  CHECK(make_mixed_plan(wide).plan.blocks_per_multiprocessor == 1);
}

TEST_CASE("operands of few columns: one of a row is in the tiles, one of a column beside them") {
  auto f = sums_of(2097152, 32, 32);
  f.of.source_count = 3;
  f.of.sources[1] = {4, 1, 4}; // w[column], read element by element
  f.of.sources[2] = {4, 1, 16}; // v[row]
  f.columns.kept[0].steps[1] = 1;
  f.columns.reduced[0].steps[2] = 1;
  auto const p = make_mixed_plan(f);
  CHECK(p.plan.few_columns == 32);
  CHECK(p.total_joins());
  CHECK(p.plan.standing_down == 0b010);
  CHECK(p.plan.standing_along == 0b100);
  CHECK(!p.plan.stands_beside(2));
  CHECK(planning::bytes_of_few(f, 2) == 2 * 128 * (32 + 1) * 4);
  CHECK(planning::standing_bytes(f.of, p.plan, 32) == 32 * 4);
  f.of.sources[2].address_alignment = 8; // no bulk copies of it
  CHECK(make_mixed_plan(f).plan.few_columns == 0);
  f.of.sources[2].address_alignment = 16;
  f.columns.reduced[0].steps[2] = 2;
  CHECK(make_mixed_plan(f).plan.few_columns == 0);
  f.columns.reduced[0].steps[2] = 1;
  f.columns.kept[0] = {31, 1, {1, 1, 0}};
  f.columns.reduced[0] = {2097152, 31, {31, 0, 1}};
  f.columns.groups = 31;
  CHECK(make_mixed_plan(f).joins);
  CHECK(says(make_mixed_plan(f), "neighbours of a leaf are of two rows"));
}
