// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the planner of folds by key decides, from numbers.
#include "plans/keyed_facts.hpp"

#include <tally/plan/find_keys.hpp>
#include <tally/plan/keys.hpp>
#include <tally/plan/keys_in_any_order.hpp>
#include <tally/plan/spell.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace tally::v0;

TEST_CASE("few slots are kept in shared memory, and copied for lanes while there is room") {
  auto const few = make_keys_plan(scalars(1 << 28, 256, 4));
  CHECK(few.plan.route == keys_route::in_shared_memory);
  CHECK(few.plan.replicas == 8);
  CHECK(few.shared_bytes == 8 * 256 * 4);
  CHECK(few.blocks == 4 * 132);
  CHECK(few.plan.blocks_per_multiprocessor == 2);
  auto const room_of_one_block = make_keys_plan(scalars(1 << 28, 4096, 4));
  CHECK(room_of_one_block.plan.replicas == 8);
  CHECK(room_of_one_block.plan.threads_per_block == 1024);
  CHECK(room_of_one_block.blocks == 132);
  CHECK(make_keys_plan(scalars(1 << 28, 1000, 112)).plan.replicas == 2);
  CHECK(make_keys_plan(scalars(1 << 20, 4096, 4)).plan.replicas == 1); // a block has more cells than elements
  CHECK(make_keys_plan(scalars(1 << 28, 256, 112)).plan.replicas == 8);
  auto const of_rows = make_keys_plan(rows(1 << 20, 16, 16, false)); // of as many slots, which leave room for more blocks
  CHECK(of_rows.plan.route == keys_route::in_shared_memory);
  CHECK(of_rows.plan.replicas == 1);
  auto const more = make_keys_plan(scalars(1 << 28, 32768, 4));
  CHECK(more.plan.replicas == 1);
  CHECK(more.plan.threads_per_block == 1024);
  CHECK(more.blocks == 132);
}

TEST_CASE("the bulk engine folds the table of a block into that of all where that is large, once, and of words") {
  auto f = scalars(1 << 28, 32766, 4);
  CHECK_FALSE(make_keys_plan(f).plan.gives_in_bulk); // behind no operation on words
  f.gives_words = true;
  auto const once = make_keys_plan(f);
  CHECK(once.plan.gives_in_bulk);
  CHECK(once.shared_bytes == 32768 * 4); // whole groups of four
  auto const replicated = [&] { auto g = f; g.slots = 4096; return make_keys_plan(g); }();
  CHECK(replicated.plan.replicas == 8);
  CHECK_FALSE(replicated.plan.gives_in_bulk);
  f.of.target = targets::a100;
  CHECK_FALSE(make_keys_plan(f).plan.gives_in_bulk);
}

TEST_CASE("of integers by many keys clusters keep half of the slots, or what they have room for, of floats less, and L2 the others") {
  auto f = scalars(1 << 28, 300'000, 4);
  CHECK(make_keys_plan(f).plan.cluster_blocks == 1); // behind locks, or of 64 bits
  f.meet_in_clusters = true;
  CHECK(make_keys_plan(f).plan.slots_in_cluster == 14976); // floats: fewer
  f.integers = true;
  auto const half = make_keys_plan(f);
  CHECK(half.plan.route == keys_route::in_global_memory);
  CHECK(half.plan.cluster_blocks == 8);
  CHECK(half.plan.slots_in_cluster == 18688); // whole pages
  CHECK(half.plan.gives_in_bulk);
  CHECK(half.shared_bytes == 4096 * 8 + 18688 * 4);
  CHECK(half.blocks == 128);
  CHECK(half.plan.threads_per_block == 1024);
  f.slots = 2'000'000;
  auto const full = make_keys_plan(f);
  CHECK(full.plan.slots_in_cluster == 49408);
  CHECK(full.shared_bytes <= f.of.target.shared_bytes_per_block);
  f.slots = 4'000'000;
  CHECK(make_keys_plan(f).plan.cluster_blocks == 1); // less than an eighth of them
  CHECK(std::string(make_keys_plan(f).why_not.entries[1].choice) == "slots in a cluster");
  f.slots = 300'000, f.own_cell_bytes = 16;
  CHECK(make_keys_plan(f).plan.cluster_blocks == 8);
  f.own_cell_bytes = 20;
  CHECK(make_keys_plan(f).plan.cluster_blocks == 1);
  f.own_cell_bytes = 4, f.at.extent = 1 << 23;
  CHECK(make_keys_plan(f).plan.cluster_blocks == 1);
  f.at.extent = 1 << 28, f.gives_cells = true, f.bytes_of_neighbour = 4;
  CHECK_FALSE(make_keys_plan(f).plan.in_place); // the bulk engine wants whole lines of its own
  f.of.target = targets::a100;
  CHECK(make_keys_plan(f).plan.cluster_blocks == 1);
}

TEST_CASE("few elements go in one cluster and one launch, where their folds are of integers and a slot has few bytes") {
  auto f = scalars(1 << 16, 100, 8);
  f.atomics_of_element = 3, f.short_atomics = true, f.of.target = targets::h200;
  auto const one = make_keys_plan(f);
  CHECK(one.plan.route == keys_route::in_one_cluster);
  CHECK(one.plan.cluster_blocks == 8);
  CHECK(one.blocks == 8);
  CHECK(one.plan.replicas == 1);
  CHECK(one.shared_bytes == 800 + bytes_told);
  auto const route_of = [&](auto const& change) {
    auto other = f;
    change(other);
    return make_keys_plan(other).plan.route;
  };
  using enum keys_route;
  CHECK(route_of([](keys_facts& o) { o.at.extent = 1 << 17; }) == in_shared_memory);
  CHECK(route_of([](keys_facts& o) { o.at.extent = 1 << 17, o.atomics_of_element = 2; }) == in_one_cluster);
  CHECK(route_of([](keys_facts& o) { o.short_atomics = false; }) == in_shared_memory);
  CHECK(route_of([](keys_facts& o) { o.own_cell_bytes = 20; }) == in_shared_memory);
  CHECK(route_of([](keys_facts& o) { o.of.target = targets::a100; }) == in_shared_memory);
  CHECK(route_of([](keys_facts& o) { o.slots = 20'000; }) == in_one_cluster);
  CHECK(route_of([](keys_facts& o) { o.slots = 100'000; }) != in_one_cluster);
  auto of_rows = f;
  of_rows.rows_have_one_key = true, of_rows.at.groups = 4, of_rows.at.extent = 1 << 12, of_rows.slots = 400;
  CHECK(make_keys_plan(of_rows).plan.route == in_one_cluster);
  CHECK(make_keys_plan(of_rows).blocks == 8);
}

TEST_CASE("exact sums have windows where whole ones have no room in a table of a block") {
  auto f = scalars(1 << 24, 2000, 292); // variances of floats
  CHECK(planning::own_bytes(f) == 292); // no window is known
  f.bytes_in_windows = 60;
  auto const windows = make_keys_plan(f);
  CHECK(windows.plan.sums_in_windows);
  CHECK(windows.plan.route == keys_route::in_shared_memory);
  CHECK(windows.plan.ranges == 1);
  CHECK(windows.plan.elements_per_load == 4);
  CHECK(windows.shared_bytes == 120'000);
  auto const changed = [&](auto const& change) {
    auto other = f;
    change(other);
    return other;
  };
  CHECK_FALSE(make_keys_plan(changed([](auto& o) { o.slots = 700; })).plan.sums_in_windows);
  CHECK_FALSE(make_keys_plan(changed([](auto& o) { o.rows_have_one_key = true; })).plan.sums_in_windows);
  CHECK_FALSE(make_keys_plan(changed([](auto& o) { o.at.groups = 2; })).plan.sums_in_windows);
  auto const far = make_keys_plan(changed([](auto& o) { o.slots = 100'000; }));
  CHECK(far.plan.sums_in_windows);
  CHECK(far.plan.hot_slots == 512); // of 64 bytes
}

TEST_CASE("values and their places are swapped two words at once where the chip does so, and sorted else") {
  auto f = scalars(1 << 24, 1000, 16);
  f.places = f.swaps_pairs = true, f.of.target = targets::h200;
  CHECK(choose_any_order(f).route == any_order_route::tables);
  CHECK(make_keys_plan(f).plan.numbers_in_32);
  f.at.extent = i64(1) << 32;
  CHECK_FALSE(make_keys_plan(f).plan.numbers_in_32);
  f.of.target = targets::a100;
  CHECK(choose_any_order(f).route == any_order_route::sorted_elements);
  f.swaps_pairs = false;
  CHECK(choose_any_order(f).route == any_order_route::tables);
}

TEST_CASE("counts have 32 bits where no more elements can come, and then the bulk engine adds them") {
  auto f = scalars(1 << 28, 32768, 4);
  f.only_counts = f.counts = true;
  CHECK(make_keys_plan(f).plan.numbers_in_32);
  CHECK(make_keys_plan(f).plan.gives_in_bulk);
  f.at.extent = i64(1) << 32;
  CHECK_FALSE(make_keys_plan(f).plan.numbers_in_32);
  CHECK_FALSE(make_keys_plan(f).plan.gives_in_bulk);
  f.at.extent = 1 << 28, f.slots = 256;
  CHECK_FALSE(make_keys_plan(f).plan.gives_in_bulk);
}

TEST_CASE("counts have no replicas: lanes that meet are counted at once") {
  auto f = scalars(1 << 28, 256, 4);
  f.only_counts = true;
  CHECK(make_keys_plan(f).plan.replicas == 1);
}

TEST_CASE("floats that are added as they come have a table for every lane, or cells for the lanes of hot keys") {
  auto const planned = [](i64 slots, int cell_bytes = 4, i64 elements = 1 << 28) {
    auto f = scalars(elements, slots, cell_bytes);
    f.swaps_floats = true;
    return make_keys_plan(f);
  };
  CHECK(planned(256).plan.replicas == 32);
  CHECK(planned(256).plan.hot_keys == 0);
  CHECK(planned(256, 4, 1 << 18).plan.replicas == 4); // a block has more cells than elements
  CHECK(planned(13'000).plan.replicas == 4);
  CHECK(planned(13'000).plan.hot_keys == 0);
  auto const few = planned(20'000);
  CHECK(few.plan.replicas == 2);
  CHECK(few.plan.hot_keys == planning::most_hot_keys);
  CHECK(few.shared_bytes == 2 * 20'000 * 4 + 32 * 32 * 4 + 8 * (hot_places(32) + 1));
  CHECK(cells_of_hot_keys(few.plan) == 32 * 32);
  auto const in_ranges = planned(100'000);
  CHECK(in_ranges.plan.ranges == 2);
  CHECK(in_ranges.plan.hot_keys == planning::most_hot_keys);
  CHECK(in_ranges.shared_bytes <= planning::shared_bytes_for_table(scalars(1, 1, 4).of));
  CHECK(planned(20'000, 4, 1 << 19).plan.hot_keys == 0); // a sample takes longer
  CHECK(planned(2000, 112).plan.hot_keys == 0);          // large cells
  CHECK(without_hot_keys(few.plan).hot_keys == 0);
  auto of_rows = rows(1 << 20, 16, 16, false);
  of_rows.swaps_floats = true;
  CHECK(make_keys_plan(of_rows).plan.replicas == 1);
}

TEST_CASE("slots that fit in up to four ranges are read as often; more go to global memory, but for those met first") {
  i64 const room = planning::shared_bytes_for_table(scalars(1, 1, 4).of) / 4;
  CHECK(make_keys_plan(scalars(1 << 28, room, 4)).plan.ranges == 1);
  auto const two = make_keys_plan(scalars(1 << 28, room + 1, 4));
  CHECK(two.plan.ranges == 2);
  CHECK(two.blocks % 2 == 0);
  CHECK(make_keys_plan(scalars(1 << 28, 4 * room, 4)).plan.ranges == 4);
  auto found = scalars(1 << 28, room + 1, 4);
  found.looks_keys_up = true; // dearer than an atomic
  CHECK(make_keys_plan(found).plan.route == keys_route::in_global_memory);
  CHECK(std::string(make_keys_plan(found).why_not.entries[0].choice) == "ranges of slots");
  auto const many = make_keys_plan(scalars(1 << 28, 4 * room + 1, 4));
  CHECK(many.plan.route == keys_route::in_global_memory);
  CHECK(many.plan.hot_slots == 4096);
  CHECK(many.shared_bytes == 4096 * 8);
  CHECK(std::string(many.why_not.entries[0].choice) == "table of a block");
  CHECK(make_keys_plan(scalars(1 << 28, 1'000'000, 112)).plan.hot_slots == 256);
}

TEST_CASE("a fold behind a lock has no table of a block, and one element in flight") {
  auto const p = make_keys_plan(scalars(1 << 20, 10, 0)).plan;
  CHECK(p.route == keys_route::in_global_memory);
  CHECK(p.hot_slots == 0);
  CHECK(p.elements_per_load == 1);
  CHECK(p.loads_in_flight == 1);
}

TEST_CASE("rows of floats are added four columns at once and in place; exact ones a column a thread") {
  auto const p = make_keys_plan(rows(1 << 22, 64, 100'000, true)).plan;
  CHECK(p.route == keys_route::in_global_memory);
  CHECK(p.elements_per_load == 4);
  CHECK(p.threads_per_row == 16);
  CHECK(p.in_place);
  CHECK(p.in_order);
  CHECK(make_keys_plan(rows(1 << 22, 64, 100'000, true)).blocks == p.blocks_per_multiprocessor * 132);
  CHECK(make_keys_plan(rows(1 << 22, 66, 100'000, true)).plan.elements_per_load == 2);
  CHECK(make_keys_plan(rows(1 << 22, 33, 100'000, true)).plan.elements_per_load == 1);
  auto const exact = make_keys_plan(rows(1 << 22, 64, 100'000, false)).plan;
  CHECK(exact.elements_per_load == 1);
  CHECK(exact.threads_per_row == 32);
  CHECK_FALSE(exact.in_place);
  auto const odd = make_keys_plan(rows(1 << 22, 33, 30, true)).plan;
  CHECK(odd.route == keys_route::in_shared_memory);
  CHECK_FALSE(odd.in_place);
}

TEST_CASE("rows meet in copies: of all slots where those are few lines, else of the keys that a sample finds hot") {
  auto const few = make_keys_plan(rows(1 << 26, 4, 1000, true)).plan;
  CHECK(few.copies == 32);
  CHECK(few.hot_keys == 0);
  CHECK(make_keys_plan(rows(1 << 26, 4, 1, true)).plan.copies == 64);
  auto const hot = make_keys_plan(rows(1 << 22, 64, 100'000, true));
  CHECK(hot.plan.copies == 64);
  CHECK(hot.plan.hot_keys == planning::most_hot_keys);
  CHECK(hot.shared_bytes == 8 * hot_places(hot.plan.hot_keys));
  CHECK(make_keys_plan(rows(1 << 22, 64, 100'000, false)).plan.copies == 32);
  CHECK(make_keys_plan(rows(1 << 18, 1024, 1000, false)).plan.copies == 2);
  auto const wide = make_keys_plan(rows(1 << 18, 4096, 1000, false)).plan; // not even two copies have room
  CHECK(wide.copies == 1);
  CHECK(wide.hot_keys == 0);
  CHECK(make_keys_plan(rows(planning::rows_worth_a_sample - 1, 64, 100'000, true)).plan.copies == 1);
  CHECK(make_keys_plan(scalars(1 << 28, 1'000'000, 4)).plan.copies == 1);
  CHECK(copied_slots(few, 4000, 4) == 32 * 4000);
  CHECK(copied_slots(hot.plan, 6'400'000, 64) == 64 * 32 * 64);
  CHECK(slots_of_copy(1) == 32); // two copies of one slot lie on lines of their own
}

TEST_CASE("slots of tables beyond L2 are asked for ahead") {
  CHECK(make_keys_plan(rows(1 << 22, 64, 1'000'000, true)).plan.asks_ahead);
  CHECK_FALSE(make_keys_plan(rows(1 << 22, 64, 100'000, true)).plan.asks_ahead);
  CHECK_FALSE(make_keys_plan(rows(1 << 26, 16, 1'000'000, true)).plan.asks_ahead);
  CHECK_FALSE(make_keys_plan(rows(1 << 22, 64, 1'000'000, false)).plan.asks_ahead);
}

TEST_CASE("hot keys are written with their number, and no bin looks like none") {
  u64 const key = hot_key(2'147'483'647u, 31);
  CHECK(hot_bin(key) == 2'147'483'647);
  CHECK(hot_number(key) == 31);
  CHECK(key != no_hot_key);
  CHECK((hot_places(32) & (hot_places(32) - 1)) == 0); // what is searched is a power of two
  CHECK((sample_places & (sample_places - 1)) == 0);
}

TEST_CASE("a short read takes few blocks; misaligned columns are loaded one by one") {
  CHECK(make_keys_plan(scalars(1000, 256, 4)).blocks == 1);
  auto f = scalars(1 << 20, 256, 4);
  f.of.sources[0].address_alignment = 4;
  CHECK(make_keys_plan(f).plan.elements_per_load == 1);
}

TEST_CASE("four neighbours come together only where they are whole loads") {
  for (int const bytes : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24}) {
    CAPTURE(bytes);
    auto f = scalars(1 << 20, 256, 4);
    f.of.sources[0].bytes_per_element = bytes;
    bool const whole = bytes * 4 % 16 == 0 || bytes <= 2;
    CHECK(make_keys_plan(f).plan.elements_per_load == (whole ? 4 : 1));
    find_keys_facts of_keys{};
    of_keys.of = f.of;
    of_keys.at = f.at;
    of_keys.key_bytes = 4;
    CHECK(make_find_keys_plan(of_keys).plan.elements_per_load == (whole ? 4 : 1));
  }
}

TEST_CASE("elements on rows are walked in order: together, as one for all, or one by one where a row may end among them") {
  auto const planned = [](i64 n, i64 pitch, int alignment = 16) { // a matrix, an operand of its rows, one of its columns
    auto f = scalars(1 << 20, 256, 4);
    i64 const rows = (1 << 20) / n;
    f.of.source_count = 3;
    f.of.sources[0] = f.of.sources[1] = f.of.sources[2] = {4, 1, 16};
    f.of.sources[0].address_alignment = alignment;
    f.at = {0, 2, 1, rows * n, {}, {{rows, n, {pitch, 1, 0}}, {n, 1, {1, 0, 1}}}, {}};
    return make_keys_plan(f).plan;
  };
  auto const whole = planned(1024, 1024);
  CHECK(whole.in_order);
  CHECK(whole.on_rows);
  CHECK(whole.elements_per_load == 4);
  CHECK(whole.standing == 2);
  CHECK(whole.apart == 0);
  auto const odd = planned(1023, 1023);
  CHECK(odd.elements_per_load == 4); // one row follows the other
  CHECK(odd.standing == 0);
  CHECK(odd.apart == 6);
  CHECK(planned(1024, 1028).apart == 0);
  CHECK(planned(1024, 1025).apart == 1); // still four of the columns' operand
  CHECK(planned(1023, 1025).elements_per_load == 1);
  CHECK(planned(1024, 1024, 4).apart == 1);
  CHECK(planned(2, 2).elements_per_load == 1); // several rows end among four
  auto three_axes = scalars(1 << 20, 256, 4);
  three_axes.at = {0, 3, 1, 1 << 20, {}, {{64, 1 << 14, {1 << 14}}, {128, 128, {256}}, {128, 1, {1}}}, {}};
  CHECK_FALSE(make_keys_plan(three_axes).plan.in_order);
}

TEST_CASE("a plan is spelled as the C++ that makes it again") {
  CHECK(spell(make_keys_plan(scalars(1 << 28, 256, 4)).plan) ==
        "tally::v0::keys_plan{.route = tally::v0::keys_route::in_shared_memory, .threads_per_block = 512, .blocks_per_multiprocessor = 2, .elements_per_load = 4, .loads_in_flight = 4, "
        ".replicas = 8, .ranges = 1, .hot_slots = 0, .turns_of_table = 0, .in_order = true, .on_rows = false, .standing = 0, .apart = 0, .threads_per_row = 0, .copies = 1, .hot_keys = 0, .asks_ahead = false, .in_place = false, .gives_in_bulk = false, .sums_in_windows = false, .numbers_in_32 = false, .cluster_blocks = 1, .slots_in_cluster = 0}");
}
