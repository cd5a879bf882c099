// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rung of the ladder for a tile, on every kind of chip and contract, and the sentence for each rung that was refused.
#include <tally/plan/accumulate.hpp>
#include <tally/plan/targets.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace tally::v0;
using planning::accumulation, planning::tile_facts;
using primitive::element_type, primitive::operation, primitive::rung;

namespace {

/// 2^20 rows of 64 f32 to 10^5 keys, added on an H200 without a promise about order.
constexpr tile_facts usual{.op = operation::add,
                           .type = element_type::f32,
                           .bytes_per_element = 4,
                           .rows = 1 << 20,
                           .columns = 64,
                           .table_rows = 100'000,
                           .in_shared_memory = false,
                           .promise = contract::fast,
                           .target = targets::h200};

template <class Change>
constexpr accumulation chosen(Change change) {
  tile_facts f = usual;
  change(f);
  return planning::choose_rung(f);
}

std::string why_refused(accumulation const& a, std::string const& choice) {
  for (int i = 0; i < a.why.count; ++i)
    if (a.why.entries[i].choice == choice) return a.why.entries[i].reason;
  return "chosen, or below what was chosen";
}

constexpr void in_type(tile_facts& f, element_type type, int bytes) {
  f.type = type;
  f.bytes_per_element = bytes;
}

} // namespace

static_assert(chosen([](auto&) {}).how == rung::vector_red);
static_assert(chosen([](auto&) {}).elements_per_red == 4);
static_assert(chosen([](auto& f) { in_type(f, element_type::bf16, 2); }).elements_per_red == 8);
static_assert(chosen([](auto& f) {
                f.op = operation::min;
                in_type(f, element_type::f16, 2);
              }).how == rung::vector_red);
static_assert(chosen([](auto& f) { in_type(f, element_type::f64, 8); }).how == rung::scalar_red);
static_assert(chosen([](auto& f) { f.op = operation::max; }).how == rung::scalar_red);
static_assert(chosen([](auto& f) { f.columns = 1; }).how == rung::scalar_red);
static_assert(chosen([](auto& f) { f.target = targets::a100; }).how == rung::scalar_red);
static_assert(chosen([](auto& f) { f.in_shared_memory = true; }).how == rung::bulk_reduce);

TEST_CASE("a reproducible sum of floats takes no atomic rung") {
  auto const a = chosen([](auto& f) { f.promise = contract::reproducible; });
  CHECK(a.how == rung::ordered_partials);
  CHECK(a.why.count == 3);
  for (char const* choice : {"bulk reduce", "vector red", "scalar red"})
    CHECK(why_refused(a, choice).find("reproducible") != std::string::npos);
}

TEST_CASE("what no order can change takes any rung under every contract") {
  auto const integers = [](auto& f) {
    f.promise = contract::reproducible;
    in_type(f, element_type::u64, 8);
  };
  CHECK(chosen(integers).how == rung::scalar_red);
  auto const least = [](auto& f) {
    f.promise = contract::reproducible;
    f.op = operation::min;
    in_type(f, element_type::bf16, 2);
  };
  CHECK(chosen(least).how == rung::vector_red);
  auto const bits = [](auto& f) {
    f.promise = contract::reproducible;
    f.op = operation::bit_or;
    in_type(f, element_type::b32, 4);
    f.in_shared_memory = true;
  };
  CHECK(chosen(bits).how == rung::bulk_reduce);
}

TEST_CASE("every refused rung has its sentence") {
  CHECK(why_refused(chosen([](auto&) {}), "bulk reduce").find("not in shared memory") != std::string::npos);
  auto const least = chosen([](auto& f) {
    f.op = operation::min;
    f.in_shared_memory = true;
  });
  CHECK(why_refused(least, "bulk reduce").find("does not know this operation") != std::string::npos);
  CHECK(why_refused(least, "vector red").find("no vector of this type") != std::string::npos);
  auto const narrow = chosen([](auto& f) {
    f.columns = 3;
    f.in_shared_memory = true;
  });
  CHECK(why_refused(narrow, "bulk reduce").find("no 16 aligned") != std::string::npos);
  CHECK(narrow.how == rung::vector_red);
  auto const old = chosen([](auto& f) { f.target = targets::a100; });
  CHECK(why_refused(old, "bulk reduce").find("no bulk copy engine") != std::string::npos);
  CHECK(why_refused(old, "vector red").find("has no vector red") != std::string::npos);
  CHECK(why_refused(chosen([](auto& f) { f.columns = 1; }), "vector red").find("one column") != std::string::npos);
}

TEST_CASE("the grid covers the tile once") {
  auto const a = chosen([](auto&) {});
  CHECK(a.blocks * a.threads_per_block * planning::windows_per_thread == (i64(1) << 20) * 64 / 4);
  CHECK(chosen([](auto& f) { f.rows = 0; }).blocks == 1);
  CHECK(chosen([](auto& f) {
          f.rows = 1;
          f.columns = 1;
        }).blocks == 1);
}

TEST_CASE("a small table that many rows meet in is spread over copies") {
  CHECK(chosen([](auto&) {}).copies == 1);
  CHECK(chosen([](auto& f) { f.table_rows = 1000; }).copies == 1); // 250 KiB: no gain
  CHECK(chosen([](auto& f) {
          f.table_rows = 1000;
          in_type(f, element_type::bf16, 2);
        }).copies == 8);
  CHECK(chosen([](auto& f) { f.table_rows = 1; }).copies == 64);
  CHECK(chosen([](auto& f) {
          f.table_rows = 100;
          f.rows = 1000;
        }).copies == 1); // nobody waits for long
}

TEST_CASE("a table in shared memory takes words and pairs, by the threads that have it") {
  auto const in_block = [](auto& f) { f.table = primitive::space::shared_cta; };
  auto const a = chosen(in_block);
  CHECK(a.how == rung::scalar_red);
  CHECK(a.elements_per_red == 1);
  CHECK(why_refused(a, "bulk reduce").find("not inside a block") != std::string::npos);
  CHECK(why_refused(a, "vector red").find("global memory only") != std::string::npos);
  CHECK_FALSE(chosen([](auto& f) {
                f.table = primitive::space::shared_cta;
                f.table_rows = 1'000'000;
              }).larger_than_l2);
  CHECK(chosen([](auto& f) {
          f.table = primitive::space::shared_cta;
          in_type(f, element_type::bf16, 2);
        }).elements_per_red == 2);
  CHECK(chosen([](auto& f) {
          f.table = primitive::space::shared_cta;
          f.op = operation::min;
          in_type(f, element_type::bf16, 2);
        }).elements_per_red == 1);
}

TEST_CASE("integers of a tile in shared memory go to another block in bulk, floats word by word") {
  auto const to_another = [](element_type type, bool tile_there) {
    return chosen([=](auto& f) {
      f.table = primitive::space::shared_cluster;
      f.in_shared_memory = tile_there;
      in_type(f, type, 4);
    });
  };
  CHECK(to_another(element_type::u32, true).how == rung::bulk_reduce);
  CHECK(to_another(element_type::u32, false).how == rung::scalar_red);
  CHECK(to_another(element_type::f32, true).how == rung::scalar_red);
  CHECK(why_refused(to_another(element_type::f32, true), "bulk reduce").find("does not know") != std::string::npos);
  CHECK(chosen([](auto& f) {
          f.table = primitive::space::shared_cluster;
          f.promise = contract::reproducible;
        }).how == rung::ordered_partials);
}

TEST_CASE("pairs of halves before there were vectors") {
  auto const a = chosen([](auto& f) {
    f.target = targets::a100;
    in_type(f, element_type::f16, 2);
  });
  CHECK(a.how == rung::scalar_red);
  CHECK(a.elements_per_red == 2);
  CHECK(why_refused(a, "vector red").find("has no vector red") != std::string::npos);
}

TEST_CASE("ragged ends and published counts take the instruction of sm_100 where it is, and say why not elsewhere") {
  why_not_list none, why;
  CHECK(planning::choose_ends(targets::b200, none) == planning::ragged_ends::byte_mask);
  CHECK(planning::choose_publishing(targets::b200, none) == planning::publishing::red_async_release);
  CHECK(none.count == 0);
  CHECK(planning::choose_ends(targets::h200, why) == planning::ragged_ends::threads);
  CHECK(planning::choose_publishing(targets::h200, why) == planning::publishing::red_release);
  REQUIRE(why.count == 2);
  CHECK(std::string(why.entries[0].reason).find("no cp_mask") != std::string::npos);
  CHECK(std::string(why.entries[1].reason).find("red.release instead") != std::string::npos);
}

TEST_CASE("lines of a table larger than L2 are asked for early") {
  CHECK_FALSE(chosen([](auto&) {}).larger_than_l2);
  CHECK(chosen([](auto& f) { f.table_rows = 1'000'000; }).larger_than_l2);
}
