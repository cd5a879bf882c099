// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of every kind, compiled from the pipeline a user writes down to a cubin, for one chip of each family: every
// load, every block algorithm, every element type, functions and structs of the user's own. Needs NVRTC, no GPU; what
// was compiled before comes from the cache. What the machine code looks like is tests/ptx.
#include "plans/made_up.hpp"
#include "fold/own_folds.hpp"

#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdio>
#include <string>

using namespace tally::v0;
using made_up::numbers;

TALLY_FUNCTION(rtc_clamped, (float r), { return r < 0 ? 0.f : r > 1 ? 1.f : r; });
TALLY_STRUCT(rtc_point, { float x, y, z; });
TALLY_FUNCTION(rtc_height, (rtc_point p), { return p.z; });

namespace rtc::own {
TALLY_STRUCT(interval, { double low, high; });
TALLY_FUNCTION(joined, (interval a, interval b),
               { return interval{a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high}; });
TALLY_FUNCTION(around, (double x), { return interval{x, x}; });
TALLY_FUNCTION(width, (interval a), { return a.high - a.low; });
} // namespace rtc::own

namespace {

constexpr target families[] = {targets::a100, targets::h200, targets::b200, targets::rtx_pro_6000};

/// Compiles for a chip and gives the plan, for what the test wants to see in it.
template <class Reduction, class... Options>
plan compiles(Reduction const& r, target const& chip, Options... options) {
  auto const e = explain(r, chip, options...);
  auto const& d = e.details();
  INFO(e.text());
  REQUIRE(d.on_gpu);
  CHECK(legal(d.planned.plan, d.facts));
  static bool const able = gpu::can_compile();
  if (!able) {
    static bool const said = std::printf("skipped: no NVRTC on this machine\n") != 0;
    (void)said;
    return d.planned.plan;
  }
  std::string ptx;
  CHECK_NOTHROW(ptx = e.ptx());
  auto const family = ".target sm_" + std::to_string(chip.compute_major) + std::to_string(chip.compute_minor);
  CHECK(ptx.find(family) != std::string::npos);
  return d.planned.plan;
}

constexpr i64 few = 5000, many = i64(1) << 28;

} // namespace

TEST_CASE("the sum of a column compiles for every family") {
  for (auto const& chip : families)
    CHECK(compiles(from(numbers<float>(many)) | sum, chip).sources[0].load == load_primitive::vector_ldg);
}

TEST_CASE("the kernel of queued sums compiles for every family") {
  if (!gpu::can_compile()) return;
  auto const r = from(numbers<float>(many)) | sum;
  for (auto const& chip : families) {
    auto f = explain(r, chip).details().facts;
    f.queued = true;
    auto const p = make_plan(f).plan;
    CHECK(p.reads_ahead == (chip.compute_major >= 9));
    CHECK_NOTHROW(gpu::ptx_of(gpu::unit_of(detail::type_of<decltype(bind(r).program)>(), p, f), chip));
  }
}

TEST_CASE("kernels that make their answers compile for every family, alone and behind each other") {
  if (!gpu::can_compile()) return;
  auto const check = [](auto const& r, auto... options) {
    auto const b = detail::bind_for<decltype(options)...>(r);
    using Program = std::remove_cvref_t<decltype(b.program)>;
    auto const& answers = detail::group_type_of<Program, std::remove_cvref_t<decltype(b.nodes)>>();
    for (auto const& chip : families)
      for (bool queued : {false, true}) {
        auto f = explain(r, chip, options...).details().facts;
        f.queued = queued;
        INFO(text_of(r));
        CHECK_NOTHROW(gpu::ptx_of(gpu::unit_of(detail::type_of<Program>(), make_plan(f).plan, f, &answers), chip));
      }
  };
  check(from(numbers<float>(many)) | filter(_1 > 0.f) | reduce(sum, mean, variance, argmax, count));
  check(from(numbers<float>(many)) | mean, exact);
}

TEST_CASE("small types, integers and 64 bits side by side, for every family") {
  auto const r = from(numbers<f16>(few), numbers<bf16>(few), numbers<i8>(few), numbers<u64>(few)) |
                 reduce(sum(_1), max(_2), sum(_3), bit_xor(_4));
  for (auto const& chip : families) compiles(r, chip);
}

TEST_CASE("a misaligned column is striped, for the oldest and the newest family") {
  auto const r = from(numbers<float>(few, 4)) | reduce(sum, max);
  for (auto const& chip : {targets::a100, targets::rtx_pro_6000})
    CHECK(compiles(r, chip).sources[0].load == load_primitive::striped_ldg);
}

TEST_CASE("strided, computed and filtered, with a function of the user's own") {
  auto const column = every(numbers<float>(1).column.data, few, -2);
  auto const r = from(column, iota(few)) | filter(_2 % 3 == 1) | map(rtc_clamped(_1), _2) |
                 reduce(sum(_1 * _2), count, argmax(_1).or_else(i64(-1)), mean(_1).maybe());
  compiles(r, targets::h200);
  compiles(from(iota(1.0, few, 0.5)) | reduce(sum(sqrt(_1))), targets::a100);
}

TEST_CASE("a fold of the user's own that does not commute keeps its order in vector and in striped lanes") {
  for (int remainder : {0, 4}) {
    auto const r = from(numbers<float>(few, remainder)) | own_recurrence;
    CHECK(compiles(r, targets::h200, fast).order == combine_order::canonical_tree);
  }
}

TEST_CASE("a wide fold that does not commute is raked in its order, from vector and from striped lanes") {
  for (int remainder : {0, 4}) {
    auto const p = compiles(from(numbers<u32>(many, remainder)) | own_matrices, targets::h200, fast);
    CHECK(p.order == combine_order::ordered);
    CHECK(p.folds[0].block == block_algorithm::raking);
  }
}

TEST_CASE("structs of the user's own as states, in a namespace, and as elements") {
  using namespace rtc::own;
  auto const hull = fold_of(interval{1e300, -1e300}, joined, around, width, order_free);
  compiles(from(numbers<double>(few)) | hull, targets::b200);
  compiles(from(numbers<rtc_point>(few)) | reduce(sum(rtc_height(_1))), targets::h200);
}

TEST_CASE("heavy folds of a long column go through rings where there is a copy engine") {
  auto const r = from(numbers<double>(many)) | reduce(variance, min, max);
  for (auto const& chip : families)
    CHECK((compiles(r, chip).stages > 0) == (chip.compute_major >= 9));
}

TEST_CASE("rings of several columns, some of them computed") {
  auto const r = from(numbers<double>(many), iota(many), numbers<i16>(many)) | reduce(sum(_1 * _2).where(_3 > 0));
  CHECK(compiles(r, targets::h200).stages > 0);
}

TEST_CASE("the fast contract brings in CUB, by the width of the state") {
  auto const narrow = compiles(from(numbers<float>(many)) | sum, targets::h200, fast);
  CHECK(narrow.folds[0].block == block_algorithm::neighbour_tree);
  auto const wide = compiles(from(numbers<double>(many)) | reduce(variance, moments<4>), targets::a100, fast);
  CHECK(wide.folds[0].block == block_algorithm::raking);
}

TEST_CASE("small integers of both signs meet by redux.sync, for every family") {
  for (auto const& chip : families) {
    auto const p = compiles(from(numbers<i8>(few), numbers<u16>(few), numbers<i32>(few)) | reduce(min(_1), max(_2), bit_xor(_3)), chip);
    for (int i = 0; i < 3; ++i) CHECK(p.folds[i].block == block_algorithm::redux);
  }
}

TEST_CASE("many wide states take turns in one room of shared memory") {
  auto const r = from(numbers<double>(few), numbers<double>(few)) |
                 reduce(moments<4>(_1), moments<4>(_2), covariance(_1, _2), variance(_1), variance(_2));
  compiles(r, targets::a100, fast);
}

TEST_CASE("every fold of the library compiles") {
  auto const x = numbers<float>(few);
  compiles(from(x) | reduce(sum, product, min, max, minmax, argmin, argmax, first, last), targets::h200);
  compiles(from(x) | reduce(mean, stddev, sample_variance, moments<3>, norm<2>, norm_inf, logsumexp), targets::h200);
  compiles(from(x) | reduce(sum.compensated(), sum.in<double>()), targets::h200);
  auto const conditions = reduce(any(_1 > 0), all(_1 > 0), none(_1 > 0), count_if(_1 == 3));
  compiles(from(numbers<i32>(few)) | conditions, targets::h200);
  compiles(from(numbers<i32>(few)) | reduce(sum.checked(), bit_and, bit_or), targets::h200);
  compiles(from(x) | reduce(min.ignoring_nan(), max.ignoring_nan(), sum.ignoring_nan()), targets::h200);
}

TEST_CASE("captured numbers are data, not code: another value needs no other kernel") {
  auto const at = [](float threshold) {
    return explain(from(numbers<float>(few)) | filter(_1 > threshold) | reduce(sum(_1 * threshold)), targets::h200);
  };
  if (gpu::can_compile()) CHECK(at(1.f).ptx() == at(2.f).ptx());
}

TEST_CASE("exact sums compile for every family, alone and beside other folds") {
  for (auto const& chip : families) {
    auto const p = compiles(from(numbers<float>(many)) | sum, chip, exact);
    CHECK(p.promise == contract::exact);
    CHECK((p.stages > 0) == (chip.compute_major >= 9));
  }
  auto const two = from(numbers<float>(many), numbers<double>(many));
  compiles(two | reduce(sum(_1), mean(_2), sum(_1 * _2), max(_1), variance(_1).where(_2 > 0.0)), targets::h200, exact);
  compiles(from(numbers<f16>(few, 2)) | reduce(sum, sum(_1 * _1)), targets::a100, exact);
}

TEST_CASE("exact sums of powers compile for every family, and their digits fit shared memory") {
  for (auto const& chip : families) {
    auto const p = compiles(from(numbers<float>(many)) | moments<4>, chip, exact);
    CHECK(p.rows_in_flight == (p.stages > 0 ? 2 : 8));
  }
  compiles(from(numbers<bf16>(few), numbers<float>(few)) | reduce(moments<3>(_1), moments<4>(_2).where(_2 > 0.f), max(_2)), targets::h200, exact);
  CHECK(compiles(from(numbers<double>(many)) | moments<4>, targets::h200, exact).threads_per_block == 256);
  CHECK(compiles(from(numbers<double>(many)) | moments<4>, targets::a100, exact).threads_per_block == 256);
  CHECK(compiles(from(numbers<double>(many)) | reduce(moments<4>(_1), min(_1)), targets::a100, exact).threads_per_block == 128); // the states of all folds have a room
}
