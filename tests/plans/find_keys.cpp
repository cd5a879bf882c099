// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the planner of reads that find keys decides, from numbers.
#include <tally/plan/find_keys.hpp>
#include <tally/plan/spell.hpp>
#include <tally/plan/targets.hpp>

#include <doctest/doctest.h>

using namespace tally::v0;

namespace {

/// n elements of one column of keys, on an H200.
constexpr find_keys_facts keys_of(i64 n, int key_bytes) {
  find_keys_facts f{};
  f.of.target = targets::h200;
  f.of.extent = n;
  f.of.source_count = 1;
  f.of.sources[0] = {key_bytes, 1, 16};
  f.at = {0, 1, 1, n, {}, {{n, 1, {1}}}, {}};
  f.key_bytes = key_bytes;
  return f;
}

} // namespace

TEST_CASE("neighbours are loaded together, and a block knows keys of 16 KiB") {
  constexpr auto p = make_find_keys_plan(keys_of(1 << 28, 4));
  CHECK(p.plan.in_order);
  CHECK(p.plan.elements_per_load == 4);
  CHECK(p.plan.keys_of_block == 4096);
  CHECK(p.blocks == 4 * 132);
  CHECK(make_find_keys_plan(keys_of(1 << 28, 8)).plan.keys_of_block == 2048);
  CHECK(make_find_keys_plan(keys_of(1000, 4)).blocks == 1);
  auto apart = keys_of(1 << 20, 4);
  apart.at.reduced[0].steps[0] = 2;
  CHECK(make_find_keys_plan(apart).plan.on_rows);
  CHECK(make_find_keys_plan(apart).plan.elements_per_load == 1);
  auto odd = keys_of(1 << 20, 4);
  odd.of.sources[0].address_alignment = 4;
  CHECK(make_find_keys_plan(odd).plan.elements_per_load == 1);
}

TEST_CASE("the first table is small, and never larger than all keys there can be") {
  CHECK(make_find_keys_plan(keys_of(i64(1) << 40, 8)).slots == planning::first_key_slots);
  CHECK(make_find_keys_plan(keys_of(1 << 20, 1)).slots == 512);
  CHECK(make_find_keys_plan(keys_of(1 << 20, 2)).slots == 1 << 17);
  CHECK(make_find_keys_plan(keys_of(1, 4)).slots == 2);
  CHECK(make_find_keys_plan(keys_of(1000, 4)).slots == 2048);
}

TEST_CASE("a table that was too small grows until it holds as many keys as there are elements, or 2^31") {
  auto const f = keys_of(10'000'000, 8);
  i64 slots = make_find_keys_plan(f).slots, reads = 0;
  for (i64 next = slots; next != 0; next = planning::next_key_slots(f, slots)) {
    CHECK((next & (next - 1)) == 0);
    CHECK(next <= planning::more_key_slots * slots);
    slots = next;
    ++reads;
  }
  CHECK(slots == i64(1) << 25);
  CHECK(reads == 4);
  CHECK(planning::next_key_slots(keys_of(i64(1) << 40, 8), planning::most_key_slots) == 0);
  CHECK(planning::enough_key_slots(keys_of(i64(1) << 62, 8)) == planning::most_key_slots);
  CHECK(planning::next_key_slots(keys_of(65'537, 4), planning::first_key_slots) == i64(1) << 18);
  CHECK(planning::next_key_slots(keys_of(65'536, 4), planning::first_key_slots) == 0);
}

TEST_CASE("a plan is spelled as the C++ that makes it again") {
  CHECK(spell(make_find_keys_plan(keys_of(1 << 28, 4)).plan) ==
        "tally::v0::find_keys_plan{.threads_per_block = 512, .elements_per_load = 4, .loads_in_flight = 2, .keys_of_block = 4096, .in_order = true, .on_rows = false, .standing = 0, .apart = 0}");
}
