// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that fold by key beside other folds, compiled from the pipeline a user writes down to a cubin, for one chip of each family that
// differs in how tables meet. Needs NVRTC, no GPU.
#include "plans/made_up.hpp"
#include "rtc/ptx_of.hpp"

#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace tally;
using made_up::matrix, made_up::numbers;

TALLY_FUNCTION(rtc_beside_class, (float x), { return x < 0 ? 0 : x < 1 ? 1 : 2; });

namespace {

/// The PTX of all kernels of a reduction, whose domains share as many reads; empty where there is no NVRTC.
template <class R, class... Options>
std::string compiled(R const& r, target const& chip, int shared, Options... options) {
  auto const e = explain(r, chip, options...);
  INFO(e.text());
  int n = 0;
  for (auto const& d : e.details().domains) n += d.shares_read ? 1 : 0;
  CHECK(n == shared);
  return ptx_of(e);
}

} // namespace

TEST_CASE("keys beside folds of the whole compile, with functions of the user, masks and several tables") {
  auto const x = from(numbers<float>(1 << 24), numbers<unsigned>(1 << 24));
  for (auto const& chip : {targets::a100, targets::h200}) {
    auto const ptx = compiled(x | filter(_1 > -1.f) | reduce(variance(_1), by_key(rtc_beside_class(_1), 3, sum(_1), count), histogram(_1, 0, 1, 64)), chip, 2);
    CHECK(has(ptx, "red.shared.add.u32"));
    CHECK(has(ptx, "4full")); // the name of the route
  }
  compiled(x | reduce(sum(_1), by_key(_2, 64, max(_1))), targets::h200, 1, fast);
  auto const wide = from(numbers<float>(1 << 26), numbers<float>(1 << 26), numbers<unsigned>(1 << 26)); // where rings would pay
  compiled(wide | reduce(sum(exp(_1)), variance(_2), by_key(_3, 300, sum(_1 * _2))), targets::h200, 1);
}

TEST_CASE("keys beside a matrix's rows, columns and total compile; a large table meets by the bulk engine") {
  auto const image = from(matrix<float>(8192, 4096));
  auto const ptx = compiled(image | reduce(over<0>(sum), over<1>(mean), histogram(0, 1, 8192), sum), targets::h200, 3);
  CHECK(has(ptx, "5mixed"));
  CHECK(has(ptx, "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32"));
}
