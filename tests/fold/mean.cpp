// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fold mean.
#include <tally/tally.hpp>
#include <tally/testing.hpp>

#include <limits>
#include <vector>

using namespace tally;

namespace {
double const not_a_number = std::numeric_limits<double>::quiet_NaN();
}

TEST_CASE("the mean of integers is a double") {
  std::vector<int> const x{1, 2, 4};
  auto const of_ints = run(from(x) | mean);
  static_assert(std::is_same_v<decltype(of_ints), double const>);
  CHECK(of_ints == 7.0 / 3.0);
  std::vector<u8> const bytes(100000, 255);
  CHECK(run(from(bytes) | mean) == 255.0);
  std::vector<i64> const wide{-3, 2};
  CHECK(run(from(wide) | mean) == -0.5);
}

TEST_CASE("the mean of floats is of their accumulator's type: float for f16 and float, double for double") {
  std::vector<float> const x{1.f, 2.f, 4.f};
  auto const of_floats = run(from(x) | mean);
  static_assert(std::is_same_v<decltype(of_floats), float const>);
  CHECK(of_floats == 7.f / 3.f);
  std::vector<f16> const h(70000, f16(60000.f));
  auto const of_halves = run(from(h) | mean);
  static_assert(std::is_same_v<decltype(of_halves), float const>);
  CHECK(of_halves == doctest::Approx(60000.0).epsilon(1e-6));
  std::vector<double> const d{1.0, 2.0};
  CHECK(run(from(d) | mean) == 1.5);
}

TEST_CASE("in<double>() keeps the sum in double") {
  std::vector<float> const x(1000003, 0.1f);
  auto const in_double = run(from(x) | mean.in<double>());
  static_assert(std::is_same_v<decltype(in_double), double const>);
  CHECK(in_double == doctest::Approx(double(0.1f)).epsilon(1e-12));
}

TEST_CASE("a mean of an expression, of what passes, and in arithmetic of folds") {
  std::vector<double> const x{1, 2, 3, 4};
  CHECK(run(from(x) | mean(_1 * _1)) == 7.5);
  CHECK(run(from(x) | mean.where(_1 > 2.0)) == 3.5);
  CHECK(run(from(x) | filter(_1 < 3.0) | mean) == 1.5);
  CHECK(run(from(x) | reduce(sum(_1 * _1) / count - mean * mean)) == 1.25);
}

TEST_CASE("the mean of nothing is NaN, of integers too") {
  std::vector<double> const nothing;
  CHECK(testing::same_bits(run(from(nothing) | mean), not_a_number));
  std::vector<int> const x{1};
  CHECK(testing::same_bits(run(from(x) | mean.where(_1 > 4)), not_a_number));
}

TEST_CASE("NaN and infinities follow IEEE; ignoring_nan() leaves NaN out of sum and count") {
  double const infinity = std::numeric_limits<double>::infinity();
  auto const of = [](std::vector<double> const& x) { return run(from(x) | reduce(mean, mean.ignoring_nan())); };
  CHECK(testing::same_bits(of({1.0, not_a_number, 5.0}), std::tuple(not_a_number, 3.0)));
  CHECK(testing::same_bits(of({1.0, infinity}), std::tuple(infinity, infinity)));
  CHECK(testing::same_bits(of({-infinity, infinity}), std::tuple(not_a_number, not_a_number)));
}

TEST_CASE("the mean of integers of 64 bits does not leave them: nanoseconds since 1970, whole, by axis, by key and by segment") {
  i64 const now = 1764100000000000000;
  std::vector<i64> x(10, now);
  std::vector<int> const key(10, 0), offsets{0, 10};
  double const expected = static_cast<double>(now);
  CHECK(run(from(x) | mean) == expected);
  CHECK(run(from(x) | mean.where(_1 > 0)) == expected);
  CHECK(run(from(shaped(x, 1, 10)) | over<1>(mean))[0] == expected);
  CHECK(run(from(shaped(x, 10, 1)) | over<0>(mean))[0] == expected);
  CHECK(run(from(x, key) | by_key(_2, 1, mean(_1)))[0] == expected);
  CHECK(run(from(x) | by_segment(offsets, mean))[0] == expected);
  for (i64& v : x) v = -v;
  CHECK(run(from(x) | mean) == -expected);
  std::vector<u64> const most(1000, std::numeric_limits<u64>::max());
  CHECK(run(from(most) | mean) == 0x1p64);
  std::vector<i64> const small{-3, 2};
  auto const [total, average] = run(from(small) | reduce(sum, mean));
  CHECK(total == -1);
  CHECK(average == -0.5);
}

TEST_CASE("ignoring_nan() of a formula: its counts count what its first fold of elements folds, wherever they stand") {
  float const nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> const x{nan, 1, nan, 2};
  CHECK(run(from(x) | (sum / cast<float>(count)).ignoring_nan()) == 1.5f);
  CHECK(run(from(x) | (sum / (count + 0)).ignoring_nan()) == 1.5f);
  CHECK(run(from(x) | (cast<float>(count) / sum).ignoring_nan()) == 2.f / 3.f);
  CHECK(run(from(x) | (variance * cast<float>(count)).ignoring_nan()) == 0.5f);
  CHECK(run(from(x) | (cast<float>(1 - count) + sum).ignoring_nan()) == 2.f);
}
