// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of walks that take turns, compiled from the pipeline a user writes down to a cubin. Needs NVRTC, no GPU.
#include "plans/made_up.hpp"
#include "rtc/ptx_of.hpp"

#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace tally;
using made_up::numbers;

TALLY_FUNCTION(rtc_turns_class, (float x), { return x < 0 ? 0 : x < 1 ? 1 : 2; });

namespace {

/// The PTX of the kernel that all domains share; empty where there is no NVRTC.
template <class R, class... Options>
std::string compiled(R const& r, target const& chip, Options... options) {
  auto const e = explain(r, chip, options...);
  INFO(e.text());
  CHECK(e.details().in_turns.joins);
  return ptx_of(e);
}

constexpr i64 n = 1 << 24;

} // namespace

TEST_CASE("a sum, keys beside it and segments are one kernel, with functions of the user and masks") {
  auto const x = from(numbers<float>(n), numbers<unsigned>(n));
  auto const offsets = numbers<int>(1001);
  auto const ptx = compiled(x | filter(_1 > -1.f) | reduce(variance(_1), by_segment(offsets, sum(_1).where(_2 > 3u)), by_key(rtc_turns_class(_1), 3, count)), targets::h200);
  CHECK(has(ptx, "8in_turns")); // the name of the route
  CHECK(has(ptx, "red.shared.add.u32"));
  CHECK_FALSE((!ptx.empty() && has(ptx, "ld.global.cs"))); // what one walk has read stays in L2
}

TEST_CASE("segments of several kinds of offsets take turns with each other, counted by the device or not") {
  auto const x = from(numbers<double>(n));
  auto const wide = numbers<long long>(1001);
  auto const ptx = compiled(x | reduce(by_segment(numbers<unsigned>(17), sum(_1)), by_segment(wide, max(_1), mean(_1))), targets::a100, fast);
  CHECK(has(ptx, "8in_turns"));
}
