// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the planner of rows, columns and total in one read decides, from numbers alone.
#include "plans/one_matrix.hpp"

#include <utility>

TEST_CASE("whole bands are the units where they fill the chip, parts of them where they do not") {
  auto const wave = make_mixed_plan(sums_of(65536, 4096, 4096));
  CHECK(wave.joins);
  CHECK(wave.total_joins());
  CHECK(wave.plan == mixed_plan{2, 2, false});
  CHECK(wave.cut.splits == 1);
  CHECK(wave.blocks() == 256);
  CHECK(wave.cut.slots_of_group == 8);
  auto const little = make_mixed_plan(sums_of(1024, 4096, 4096));
  CHECK(little.cut.splits == 8);
  CHECK(little.cut.lanes_of_unit == 16);
  for (i64 const rows : {128, 5000, 70000, 262144}) {
    auto const p = make_mixed_plan(sums_of(rows, 8192, 8192));
    CHECK(p.cut.splits * p.cut.lanes_of_unit == 128);
    CHECK(i64(p.cut.bands) * 1024 >= rows);
    CHECK(p.cut.slot_groups() <= p.cut.slots_of_group);
  }
}

TEST_CASE("parts of the whole are folded as soon as a unit's lanes have come where those have many, else those of a band") {
  auto const wide = make_mixed_plan(sums_of(896, 294912, 294912));
  CHECK(wide.plan.whole == whole_from::leaves_of_rows);
  CHECK(wide.cut.splits == 4);
  CHECK(wide.cut.rows_of_run == wide.cut.lanes_of_unit);
  CHECK(wide.cut.slots_of_run == 1);
  CHECK(wide.cut.sets_of_runs() == 4);
  CHECK(wide.cut.runs == 28);
  for (auto const& [rows, columns] : {std::pair<i64, i64>{130, 70000}, {200, 131 * 1024}}) // of tests/gpu/mixed.cpp
    CHECK(make_mixed_plan(sums_of(rows, columns, columns)).cut.slots_of_run == 1);
  auto const narrow = make_mixed_plan(sums_of(1024, 3072, 3072)); // units of few parts
  CHECK(narrow.cut.splits > 1);
  CHECK(narrow.cut.rows_of_run == 1024);
  CHECK(narrow.cut.slots_of_run == narrow.cut.splits);
  CHECK(narrow.cut.sets_of_runs() == 1);
  auto const wave = make_mixed_plan(sums_of(1024, 258048, 258048)); // bands that are not split
  CHECK(wave.cut.splits == 1);
  CHECK(wave.cut.sets_of_runs() == 1);
}

TEST_CASE("units of a last chunk that is not full come behind all others, and fold in shares where a share of a tile's columns is all they have") {
  struct cut_of {
    i64 columns;
    int shares, in_front;
    bool total;
  };
  for (auto const& c : {cut_of{4096, 1, 4, true}, {4097, 8, 4, true}, {4096 + 128, 8, 4, true}, {4096 + 129, 1, 5, true}, {4096 + 129, 4, 4, false}, {4096 + 300, 2, 4, false},
                        {4096 + 513, 1, 4, false}, {1023, 1, 0, true}, {512, 2, 0, true}, {256, 4, 0, true}, {132, 4, 0, true}}) {
    CAPTURE(c.columns);
    auto f = sums_of(160'000, c.columns, c.columns);
    f.total = c.total;
    auto const p = make_mixed_plan(f);
    CHECK(p.joins);
    CHECK(p.plan.shares_of_last_chunk == c.shares);
    CHECK(p.cut.chunks_in_front == c.in_front);
  }
  auto of_wide_states = sums_of(160'000, 256, 256);
  of_wide_states.column_bytes = 2 * 8 * 4; // as many as two tiles have for a column
  CHECK(make_mixed_plan(of_wide_states).plan.shares_of_last_chunk == 4);
  of_wide_states.column_bytes += 1;
  CHECK(says(make_mixed_plan(of_wide_states), "leave most of a tile empty"));
  // the others fill the chip: the last ones count as far as they have columns
  CHECK(make_mixed_plan(sums_of(65536, 4096, 4096)).cut.splits == 1);
  CHECK(make_mixed_plan(sums_of(65536, 4097, 4097)).cut.splits == 1);
  CHECK(make_mixed_plan(sums_of(128 * 1024, 1025, 1025)).cut.splits == 2);
  CHECK(planning::percent_of_chip(264, 0, 8, 264) == 100);
  CHECK(planning::percent_of_chip(132, 0, 8, 264) == 50);
  CHECK(planning::percent_of_chip(132, 264, 4, 264) == 100); // two after each other beside one
  CHECK(planning::percent_of_chip(264, 132, 4, 264) == 83);
}

TEST_CASE("rows that begin anywhere are copied in the pieces around them") {
  auto const odd = make_mixed_plan(sums_of(4096, 1027, 1027));
  CHECK(odd.joins);
  CHECK(odd.plan.begins_anywhere);
  CHECK(odd.plan.bytes_per_copy == 0);
  CHECK(odd.plan.stages == 2);
  CHECK(odd.shared_bytes - make_mixed_plan(sums_of(4096, 1028, 1028)).shared_bytes == 2 * 8 * 16 * 8); // eight rows, of eight shares in the last chunk
  CHECK(make_mixed_plan(sums_of(4096, 1024, 2048)).plan.stages == 2);
  CHECK_FALSE(make_mixed_plan(sums_of(4096, 1024, 2048)).plan.begins_anywhere);
  CHECK(make_mixed_plan(sums_of(4096, 1024, 2050)).plan.begins_anywhere);
  CHECK(make_mixed_plan(sums_of(65536, 1023, 1023)).plan.stages == 3);
  auto halves = sums_of(4096, 4097, 4097);
  halves.of.sources[0].bytes_per_element = 2;
  CHECK(make_mixed_plan(halves).joins);
  CHECK(make_mixed_plan(halves).plan.begins_anywhere);
  halves = sums_of(65536, 1999, 1999);
  halves.of.sources[0].bytes_per_element = 2;
  halves.of.lanes_per_group = 8;
  CHECK(make_mixed_plan(halves).plan.stages == 2);
}

TEST_CASE("rows fill half of a tile or of a share of it at the least, three quarters where elements are small") {
  for (i64 const columns : {128, 129, 255, 256, 257, 300, 500, 511, 512, 513, 516, 765, 769, 1000, 1023})
    CHECK_MESSAGE(make_mixed_plan(sums_of(160'000, columns, columns)).joins, columns);
  for (i64 const columns : {1, 50, 100, 127})
    CHECK_MESSAGE(says(make_mixed_plan(sums_of(160'000, columns, columns + 1)), "leave most of a tile empty"), columns);
  CHECK(make_mixed_plan(sums_of(160'000, 128, 132)).plan.shares_of_last_chunk == 8);
  for (i64 const columns : {500, 508, 511}) { // of fewer rows than a leaf has elements
    CHECK_MESSAGE(says(make_mixed_plan(sums_of(1023, columns, columns)), "leave most of a tile empty"), columns);
    auto without_engine = sums_of(160'000, columns, columns);
    without_engine.of.target = targets::a100;
    CHECK_MESSAGE(says(make_mixed_plan(without_engine), "leave most of a tile empty"), columns);
  }
  auto const of_halves = [](i64 columns) {
    auto f = sums_of(260000, columns, columns);
    f.of.sources[0].bytes_per_element = 2;
    f.of.lanes_per_group = 8;
    f.column_words = 64;
    return make_mixed_plan(f);
  };
  for (i64 const columns : {256, 400, 512, 800, 1000, 1023, 1024, 1537})
    CHECK_MESSAGE(of_halves(columns).joins, columns);
  for (i64 const columns : {255, 300, 511, 600, 700, 1025, 1535})
    CHECK_MESSAGE(says(of_halves(columns), "leave most of a tile empty"), columns);
  CHECK(make_mixed_plan(sums_of(16 * 1024 + 1, 1000, 1000)).joins);
  CHECK(says(make_mixed_plan(sums_of(16 * 1024, 1000, 1000)), "do not fill the chip"));
}

TEST_CASE("the whole is made of rows, of their leaves or of leaves that begin anywhere") {
  auto const whole_of = [](mixed_facts const& f) {
    auto const p = make_mixed_plan(f);
    CHECK(p.joins);
    CHECK(p.total_joins());
    return p.plan.whole;
  };
  CHECK(whole_of(sums_of(4096, 4096, 4096)) == whole_from::rows);
  CHECK(whole_of(sums_of(4096, 3072, 3072)) == whole_from::leaves_of_rows);
  CHECK(whole_of(sums_of(4096, 3072, 4000)) == whole_from::leaves_of_rows);
  CHECK(whole_of(sums_of(4096, 1027, 1027)) == whole_from::leaves);
  auto const begun = make_mixed_plan(sums_of(4097, 1027, 1027)), of_rows = make_mixed_plan(sums_of(4097, 1024, 1024));
  CHECK(begun.cut.parts_of_wholes == 4110); // 4097 * 1027 elements
  CHECK(begun.cut.groups_of_whole == 33);
  CHECK(of_rows.cut.parts_of_wholes == 4097);
  CHECK(of_rows.cut.groups_of_whole == 33);

  auto odd = sums_of(4096, 1027, 1027);
  odd.whole_in_any_order = true;
  CHECK(whole_of(odd) == whole_from::rows);
  auto const alone = [](mixed_facts const& f, char const* why) {
    auto const p = make_mixed_plan(f);
    CHECK(p.joins);
    CHECK_FALSE(p.total_joins());
    CHECK(p.plan.whole == whole_from::nothing);
    CHECK(says(p, why));
  };
  alone(sums_of(160'000, 191, 191), "so short");
  CHECK(whole_of(sums_of(160'000, 192, 192)) == whole_from::leaves);
  alone(sums_of(4096, 1027, 1100), "not every column has one row behind the other");
  odd = sums_of(4096, 1027, 1027);
  odd.of.sources[0].address_alignment = 8;
  alone(odd, "begins where none is aligned");
  odd = sums_of(65536, 4097, 4097);
  odd.of.sources[0].bytes_per_element = 2;
  odd.of.lanes_per_group = 8;
  alone(odd, "elements so small");
  odd.folds_columns = false;
  CHECK(whole_of(odd) == whole_from::leaves);
}

TEST_CASE("matrices of a batch have units of their own, and the whole of all is in the same read where their rows lie one behind the other") {
  auto const behind = make_mixed_plan(sums_of_batch(64, 1024, 4096));
  CHECK(behind.joins);
  CHECK(behind.total_joins());
  CHECK(behind.plan.batched);
  CHECK(behind.blocks() == 64 * 4);
  CHECK(behind.cut.parts_of_wholes == 64 * 1024);
  CHECK(behind.cut.wholes == 1);
  CHECK(behind.cut.row_of_source(3, 5) == 3 * 1024 + 5);
  auto const in_turn = make_mixed_plan(sums_of_batch(64, 1024, 4096, true));
  CHECK(in_turn.joins);
  CHECK(in_turn.cut.row_of_source(3, 5) == 5 * 64 + 3);
  CHECK(says(in_turn, "not those that lie one behind the other"));
  auto any_order = sums_of_batch(64, 1024, 4096, true);
  any_order.whole_in_any_order = true;
  CHECK(make_mixed_plan(any_order).total_joins());
  CHECK(make_mixed_plan(sums_of_batch(2000, 1024, 1024)).total_joins());
  CHECK(make_mixed_plan(sums_of_batch(1024, 1000, 1024)).total_joins());
  CHECK(says(make_mixed_plan(sums_of_batch(2000, 1000, 1024)), "reach from one into the next"));
  auto scattered = sums_of_batch(64, 1024, 4096);
  scattered.columns.kept_axes = 3;
  CHECK(says(make_mixed_plan(scattered), "do not make matrices"));
}

TEST_CASE("the whole is that of every matrix where those are folded") {
  auto each = [](mixed_facts f) {
    f.whole_of_each = true;
    return make_mixed_plan(f);
  };
  auto const rows = each(sums_of_batch(3000, 1000, 1024)); // however many bands
  CHECK(rows.total_joins());
  CHECK(rows.plan.whole_of_each);
  CHECK(rows.cut.wholes == 3000);
  CHECK(rows.cut.groups_of_whole == 8);
  CHECK(each(sums_of_batch(64, 1024, 4096, true)).total_joins());
  CHECK(each(sums_of_batch(64, 1000, 3072, true)).plan.whole == whole_from::leaves_of_rows);
  auto const image = each(sums_of_batch(128, 1080, 1920)); // 2025 leaves
  CHECK(image.plan.whole == whole_from::leaves);
  CHECK(image.cut.parts_of_wholes == 128 * 2025);
  auto const odd = each(sums_of_batch(128, 1080, 1924));
  CHECK(odd.joins);
  CHECK_FALSE(odd.plan.whole_of_each);
  CHECK(says(odd, "do not begin where leaves of all do"));
  CHECK(says(each(sums_of_batch(128, 1080, 1920, true)), "do not begin where leaves of all do"));
  CHECK_FALSE(each(sums_of(4096, 4096, 4096)).plan.whole_of_each);
}

TEST_CASE("tiles have the rows of several lanes where matrices have fewer than a leaf has elements") {
  struct { i64 rows; int lanes, of_band; } const all[] = {{64, 8, 64}, {100, 8, 128}, {128, 8, 128}, {129, 4, 128}, {256, 4, 128}, {512, 2, 128}, {513, 1, 128}, {1024, 1, 128}, {1100, 1, 128}};
  for (auto const& one : all) {
    CAPTURE(one.rows);
    auto const p = make_mixed_plan(sums_of_batch(512, one.rows, 4096));
    CHECK(p.joins);
    CHECK(p.plan.lanes_of_tile == one.lanes);
    CHECK(p.cut.lanes_of_band == one.of_band);
    CHECK(p.cut.splits * p.cut.lanes_of_unit == one.of_band);
  }
  CHECK(says(make_mixed_plan(sums_of_batch(512, 63, 4096)), "leave most of a tile empty"));
  CHECK(make_mixed_plan(sums_of(64, 1 << 22, 1 << 22)).plan.lanes_of_tile == 8);
  CHECK(make_mixed_plan(sums_of_batch(300, 720, 1279)).joins);
  CHECK(make_mixed_plan(sums_of_batch(300, 500, 1279)).joins);
  auto halves = sums_of_batch(300, 720, 1280);
  CHECK(make_mixed_plan(halves).joins);
  halves.of.sources[0].bytes_per_element = 2;
  halves.of.lanes_per_group = 8;
  CHECK(says(make_mixed_plan(halves), "leave most of a tile empty"));
}

TEST_CASE("where there is no copy engine threads copy rows, by 4 bytes at the least") {
  for (i64 const apart : {2048, 2050, 2049}) {
    auto older = sums_of(4096, 1024, apart);
    older.of.target = targets::a100;
    CHECK(make_mixed_plan(older).joins);
    CHECK(make_mixed_plan(older).plan.bytes_per_copy == (apart == 2048 ? 16 : apart == 2050 ? 8 : 4));
    older.of.sources[0].bytes_per_element = 2;
    CHECK(make_mixed_plan(older).joins == (apart != 2049));
    if (apart == 2049) CHECK(says(make_mixed_plan(older), "4 ahead at the least"));
  }
}

TEST_CASE("rows share a read with the whole, and with tables, where L2 holds little of it") {
  auto large = sums_of(65536, 4096, 4096), little = sums_of(4096, 2048, 2048);
  large.folds_columns = little.folds_columns = false;
  CHECK(make_mixed_plan(large).joins);
  CHECK_FALSE(make_mixed_plan(little).joins);
  CHECK(says(make_mixed_plan(little), "while L2 holds"));
  large.bytes_beside = little.bytes_beside = 1024;
  CHECK(make_mixed_plan(large).joins);
  CHECK_FALSE(make_mixed_plan(little).joins);
  little.rows = little.total = false; // tables alone are no matter of tiles
  CHECK_FALSE(make_mixed_plan(little).joins);
  little.folds_columns = true;
  CHECK(make_mixed_plan(little).joins);
}

TEST_CASE("what is the same in every row, or all along a row, is beside the tiles") {
  auto f = sums_of(65536, 4096, 4096);
  i64 const alone = make_mixed_plan(f).shared_bytes;
  f.of.source_count = 3;
  f.of.sources[1] = f.of.sources[2] = {4, 1, 4};
  f.columns.kept[0] = {4096, 1, {1, 1, 0}};
  f.columns.reduced[0] = {65536, 4096, {4096, 0, 1}};
  auto const p = make_mixed_plan(f);
  CHECK(p.joins);
  CHECK(p.plan == mixed_plan{2, 2, false, 0, 2, 4});
  CHECK(p.shared_bytes == alone + 2 * 4096);
  f.columns.reduced[0].steps[0] = 0;
  CHECK(says(make_mixed_plan(f), "no column has an element for each"));
  auto in_l2 = sums_of(4096, 2048, 2048); // what stands does not count
  in_l2.folds_columns = false;
  in_l2.of.source_count = 2;
  in_l2.of.sources[1] = {4, 1, 16};
  in_l2.columns.kept[0].steps[1] = 1;
  CHECK(says(make_mixed_plan(in_l2), "while L2 holds"));
}

TEST_CASE("columns that share their read with nothing are no matter of tiles") {
  auto f = sums_of(65536, 4096, 4096);
  f.rows = f.total = false;
  CHECK_FALSE(make_mixed_plan(f).joins);
}

TEST_CASE("folds that divide by how many elements they have seen join where little of the matrix is in a chunk that is not full") {
  auto const counting = [](i64 columns) {
    auto f = sums_of(160'000, columns, columns);
    f.counts = true;
    return make_mixed_plan(f);
  };
  for (i64 const columns : {4096, 4097, 4500, 1024})
    CHECK_MESSAGE(counting(columns).joins, columns);
  for (i64 const columns : {2500, 1500, 1000, 512}) {
    CHECK_MESSAGE(says(counting(columns), "divides by how many"), columns);
    CHECK_MESSAGE(make_mixed_plan(sums_of(160'000, columns, columns)).joins, columns);
  }
}

TEST_CASE("what does not make tiles is refused with the reason") {
  CHECK(says(make_mixed_plan(sums_of(4096, 100, 100)), "most of a tile empty"));
  auto strided = sums_of(4096, 4096, 1);
  strided.columns.kept[0].steps[0] = 4096;
  CHECK(says(make_mixed_plan(strided), "elements apart"));
  auto ordered = sums_of(4096, 4096, 4096);
  ordered.commutative = false;
  CHECK(says(make_mixed_plan(ordered), "does not commute"));
  auto exact = sums_of(4096, 4096, 4096);
  exact.exact = true;
  CHECK(says(make_mixed_plan(exact), "windows"));
  for (auto const& f : {ordered, exact, strided}) CHECK_FALSE(make_mixed_plan(f).joins);
}
