// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verb run_into: answers go into memory of the caller, all of them or none.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <optional>
#include <vector>

using namespace tally;

TEST_CASE("an answer goes into a variable") {
  std::vector<float> const x{1.f, 2.f, 3.f};
  float total = 0;
  run_into(from(x) | sum, total);
  CHECK(total == 6.f);
}

TEST_CASE("several answers go into several outputs, variables and pointers alike, in order") {
  std::vector<float> const x{1.f, 2.f, 3.f, 6.f};
  std::vector<float> totals(2, -1.f);
  i64 n = 0;
  std::optional<float> greatest;
  run_into(from(x) | reduce(sum, count, mean, max.maybe()), totals.data(), n, &totals[1], greatest);
  CHECK(totals == std::vector<float>{12.f, 3.f});
  CHECK(n == 4);
  CHECK(greatest == 6.f);
}

TEST_CASE("a place and a contract may stand among the outputs") {
  std::vector<float> const x(10000, 1.f);
  float total = 0;
  double wide = 0;
  run_into(from(x) | reduce(sum, sum), on::cpu.threads(2), total, wide, reproducible);
  CHECK(total == 10000.f);
  CHECK(wide == 10000.0);
}

TEST_CASE("an output may be wider than its answer, never narrower") {
  using detail::all_taken, detail::output;
  CHECK(all_taken<pack<output<double>>, pack<float>>);
  CHECK(all_taken<pack<output<std::optional<i64>>>, pack<i64>>);
  CHECK_FALSE(all_taken<pack<output<float>>, pack<double>>);
  CHECK_FALSE(all_taken<pack<output<int>>, pack<i64>>);
  CHECK_FALSE(all_taken<pack<output<float>>, pack<i64>>);
  CHECK_FALSE(all_taken<pack<output<float const>>, pack<float>>);
  CHECK_FALSE(all_taken<pack<detail::no_output>, pack<float>>);
  CHECK_FALSE(all_taken<pack<output<float>>, pack<float, float>>);
}

TEST_CASE("nothing is written when anything is wrong") {
  std::vector<float> const x{1.f, 2.f}, y{1.f}, nothing;
  float a = -1.f, b = -2.f;
  SUBCASE("a null output is named") {
    CHECK_THROWS_WITH_AS(run_into(from(x) | reduce(sum, max), a, static_cast<float*>(nullptr)),
                         "[tally-E3] output 2 is a null pointer. docs/errors.md#E3", null_column);
  }
  SUBCASE("columns that do not fit") {
    CHECK_THROWS_AS(run_into(from(x, y) | reduce(sum(_1 * _2), max), a, b), extent_mismatch);
  }
  SUBCASE("the second fold has no answer") { CHECK_THROWS_AS(run_into(from(nothing) | reduce(sum, max), a, b), empty_input); }
  CHECK(a == -1.f);
  CHECK(b == -2.f);
}

TEST_CASE("a GPU that is not there is an error, and the outputs stay") {
  if (gpu::device_count() > 0) return;
  std::vector<float> const x{1.f, 2.f};
  float a = -1.f;
  CHECK_THROWS_AS(run_into(from(x) | sum, a, on::gpu), no_gpu);
  CHECK(a == -1.f);
}
