// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The folds variance, sample_variance and stddev.
#include <tally/tally.hpp>
#include <tally/testing.hpp>

#include <cmath>
#include <limits>
#include <vector>

using namespace tally;
using testing::same_bits;

namespace {
double const not_a_number = std::numeric_limits<double>::quiet_NaN();

/// The mean squared deviation in two passes of long double.
template <class T>
double in_two_passes(std::vector<T> const& x) {
  long double total = 0, squares = 0;
  for (T v : x) total += static_cast<long double>(v);
  long double const middle = total / static_cast<long double>(x.size());
  for (T v : x) squares += (static_cast<long double>(v) - middle) * (static_cast<long double>(v) - middle);
  return static_cast<double>(squares / static_cast<long double>(x.size()));
}
} // namespace

TEST_CASE("variance divides by n, sample_variance by n - 1, stddev is the root of variance") {
  std::vector<double> const x{2, 4, 4, 4, 5, 5, 7, 9};
  auto const [v, s, d] = run(from(x) | reduce(variance, sample_variance, stddev));
  CHECK(v == 4.0);
  CHECK(s == 32.0 / 7.0);
  CHECK(d == 2.0);
}

TEST_CASE("integers are folded in double, f16 and bf16 in float") {
  std::vector<int> const x{1, 2, 3, 4};
  auto const of_ints = run(from(x) | variance);
  static_assert(std::is_same_v<decltype(of_ints), double const>);
  CHECK(of_ints == 1.25);
  std::vector<bf16> const small{bf16(1.f), bf16(3.f)};
  auto const of_small = run(from(small) | variance);
  static_assert(std::is_same_v<decltype(of_small), float const>);
  CHECK(of_small == 1.f);
}

TEST_CASE("a large offset costs little accuracy, where the mean of squares less the square of the mean loses all") {
  std::vector<float> x(100003);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1e6f + float(i % 17);
  double const right = in_two_passes(x);
  auto const [v, textbook] = run(from(x) | reduce(variance, sum(_1 * _1) / count - mean * mean));
  CHECK(v == doctest::Approx(right).epsilon(1e-3));
  CHECK(std::fabs(double(textbook) - right) > 1.0);
  std::vector<double> y(x.begin(), x.end());
  for (double& value : y) value += 1e9;
  CHECK(run(from(y) | variance) == doctest::Approx(in_two_passes(y)).epsilon(1e-9));
}

TEST_CASE("in<double>() keeps the deviations of floats in double") {
  std::vector<float> x(30011);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::ldexp(float(i % 101), int(i % 11) - 5);
  CHECK(run(from(x) | variance.in<double>()) == doctest::Approx(in_two_passes(x)).epsilon(1e-14));
}

TEST_CASE("equal elements do not vary at all, and one element neither") {
  std::vector<float> const same(10007, 0.1f), one{5.f};
  CHECK(same_bits(run(from(same) | variance), 0.f));
  CHECK(same_bits(run(from(one) | reduce(variance, stddev)), std::tuple(0.f, 0.f)));
}

TEST_CASE("of nothing variance is NaN; sample_variance needs two elements") {
  auto const of = [](std::vector<double> const& x) { return run(from(x) | reduce(variance, sample_variance, stddev)); };
  CHECK(same_bits(of({}), std::tuple(not_a_number, not_a_number, not_a_number)));
  CHECK(same_bits(of({5.0}), std::tuple(0.0, not_a_number, 0.0)));
  CHECK(same_bits(of({1.0, not_a_number}), std::tuple(not_a_number, not_a_number, not_a_number)));
  CHECK(same_bits(of({1.0, std::numeric_limits<double>::infinity()}), std::tuple(not_a_number, not_a_number, not_a_number)));
}

TEST_CASE("what a condition holds back does not vary") {
  std::vector<double> x(4096, 1e300);
  for (std::size_t i = 0; i < x.size(); i += 64) x[i] = double(i % 128) / 64; // 0 and 1
  CHECK(run(from(x) | variance.where(_1 < 2.0)) == 0.25);
  CHECK(run(from(x) | filter(_1 < 2.0) | stddev) == 0.5);
  CHECK(same_bits(run(from(x) | variance.where(_1 < -1.0)), not_a_number));
}
