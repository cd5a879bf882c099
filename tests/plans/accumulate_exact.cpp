// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The way to exact sums of rows for a tile, its launch, and the sentence for each way that was refused.
#include <tally/plan/accumulate_exact.hpp>
#include <tally/plan/targets.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace tally::v0;
using planning::exact_accumulation, planning::exact_rung, planning::tile_facts;
using primitive::element_type, primitive::operation;

namespace {

/// 2^21 rows of 128 f32 to 10^5 keys, on an H200.
constexpr tile_facts usual{.op = operation::add,
                           .type = element_type::f32,
                           .bytes_per_element = 4,
                           .rows = 1 << 21,
                           .columns = 128,
                           .table_rows = 100'000,
                           .in_shared_memory = false,
                           .promise = contract::exact,
                           .target = targets::h200};

template <class Change>
constexpr exact_accumulation chosen(Change change) {
  tile_facts f = usual;
  change(f);
  return planning::choose_exact_rung(f);
}

std::string why_refused(exact_accumulation const& a, std::string const& choice) {
  for (int i = 0; i < a.why.count; ++i)
    if (a.why.entries[i].choice == choice) return a.why.entries[i].reason;
  return "chosen, or below what was chosen";
}

constexpr auto few_keys = [](tile_facts& f) { f.table_rows = 100; };
constexpr auto short_rows = [](tile_facts& f) { f.columns = 16, f.rows = 1 << 24; };
constexpr auto idle_threads = [](tile_facts& f) { f.columns = 32, f.table_rows = 2000; };
constexpr auto many_rows = [](tile_facts& f) { f.rows = i64(1) << 33, f.table_rows = i64(1) << 30; };

} // namespace

static_assert(chosen([](auto&) {}).how == exact_rung::gathered);
static_assert(chosen(few_keys).how == exact_rung::lanes_in_bulk);
static_assert(chosen(short_rows).how == exact_rung::lanes_in_bulk);
static_assert(chosen(idle_threads).how == exact_rung::lanes_in_bulk);
static_assert(chosen(many_rows).how == exact_rung::lanes_in_bulk);
static_assert(chosen([](auto& f) {
                short_rows(f);
                f.table_rows = 1'000'000; // whose lanes do not fit into L2
              }).how == exact_rung::gathered);
static_assert(chosen([](auto& f) {
                few_keys(f);
                f.target = targets::a100;
              }).how == exact_rung::lanes_by_red);
static_assert(chosen([](auto& f) { f.rows = 0; }).how == exact_rung::gathered);

// Room for the rows of a key, where keys are even: the mean, four deviations and four more, in fours.
static_assert(planning::room_per_key(0, 0) == 8);
static_assert(planning::room_per_key(1 << 21, 1'000'000) == 16);
static_assert(planning::room_per_key(1 << 21, 1000) == 2288);

TEST_CASE("the launch covers the tile, and the resident blocks") {
  auto const gathered = chosen([](auto&) {});
  CHECK(gathered.blocks * gathered.threads_per_block == 1 << 21); // a thread files a row
  CHECK(gathered.finish_blocks == 16 * 132); // a warp gathers rows of 512 bytes, of several keys one after the other
  CHECK(chosen([](auto& f) { f.table_rows = 10'000; }).finish_blocks == 10'000 / 8); // of one key
  CHECK(gathered.per_key == 48);
  CHECK(gathered.larger_than_l2);
  auto const bulk = chosen(few_keys);
  CHECK(bulk.blocks == 132 * 3);
  CHECK(bulk.bytes_per_warp == 8192);
  CHECK(bulk.finish_blocks * bulk.threads_per_block == 100 * 128 / 2); // a thread finishes two lanes
  CHECK_FALSE(bulk.larger_than_l2);
  CHECK(chosen([](auto& f) { f.rows = 0, f.table_rows = 0; }).blocks == 1);
}

TEST_CASE("the ladder of rounding additions refuses exact sums of floats, and takes those of integers") {
  CHECK(planning::choose_rung(usual).how == primitive::rung::ordered_partials);
  auto whole = usual;
  whole.type = element_type::u64, whole.bytes_per_element = 8;
  CHECK(planning::choose_rung(whole).how == primitive::rung::scalar_red);
}

TEST_CASE("why not gathered, why not in bulk") {
  CHECK(why_refused(chosen(few_keys), "gathered").find("would wait for each other") != std::string::npos);
  CHECK(why_refused(chosen(short_rows), "gathered").find("are short") != std::string::npos);
  CHECK(why_refused(chosen(idle_threads), "gathered").find("too few threads") != std::string::npos);
  CHECK(why_refused(chosen(many_rows), "gathered").find("32 bits") != std::string::npos);
  auto const old = chosen([](auto& f) {
    few_keys(f);
    f.target = targets::a100;
  });
  CHECK(why_refused(old, "lanes in bulk").find("no bulk copy engine") != std::string::npos);
}
