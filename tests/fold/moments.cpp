// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The folds moments<K> and covariance.
#include <tally/tally.hpp>
#include <tally/testing.hpp>

#include <cmath>
#include <limits>
#include <vector>

using namespace tally;
using testing::same_bits;

namespace {
double const not_a_number = std::numeric_limits<double>::quiet_NaN();

/// The central moment of order k in two passes of long double.
double central(std::vector<double> const& x, int k) {
  long double total = 0, powers = 0;
  for (double v : x) total += v;
  long double const middle = total / static_cast<long double>(x.size());
  for (double v : x) powers += std::pow(v - middle, static_cast<long double>(k));
  return static_cast<double>(powers / static_cast<long double>(x.size()));
}
std::vector<double> skewed(std::size_t n) {
  std::vector<double> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = 100 + std::exp(double(i * 7919 % n) / double(n));
  return x;
}
} // namespace

TEST_CASE("moments<4> are the number, the mean and the central moments of order 2 to 4") {
  auto const x = skewed(20011);
  auto const m = run(from(x) | moments<4>);
  CHECK(m.n == 20011);
  CHECK(m.mean == doctest::Approx(run(from(x) | mean)).epsilon(1e-14));
  for (int k = 2; k <= 4; ++k) CHECK(m.central[k - 2] == doctest::Approx(central(x, k)).epsilon(1e-10));
  CHECK(m.skewness() == doctest::Approx(central(x, 3) / std::pow(central(x, 2), 1.5)).epsilon(1e-10));
  CHECK(m.kurtosis() == doctest::Approx(central(x, 4) / std::pow(central(x, 2), 2)).epsilon(1e-10));
}

TEST_CASE("moments of lower order are the same numbers") {
  std::vector<float> const x{1, 2, 3, 10};
  auto const [two, three] = run(from(x) | reduce(moments<2>, moments<3>));
  CHECK(same_bits(two, moments_result<float, 2>{4, 4.f, {12.5f}}));
  CHECK(same_bits(three, moments_result<float, 3>{4, 4.f, {12.5f, 45.f}}));
}

TEST_CASE("integers are folded in double, and in<double>() folds floats in double") {
  std::vector<u8> const x{1, 2, 3};
  auto const of_bytes = run(from(x) | moments<3>);
  static_assert(std::is_same_v<decltype(of_bytes.mean), double>);
  CHECK(of_bytes.mean == 2.0);
  CHECK(of_bytes.central[0] == doctest::Approx(2.0 / 3.0));
  CHECK(of_bytes.central[1] == doctest::Approx(0.0));
  std::vector<float> const y{1, 2};
  static_assert(std::is_same_v<decltype(run(from(y) | moments<2>.in<double>()).mean), double>);
}

TEST_CASE("moments of what passes; of nothing, the number is 0 and the moments are NaN") {
  std::vector<double> const x{1, 1000, 3};
  auto const passing = [&](double limit) { return run(from(x) | moments<2>.where(_1 < limit)); };
  CHECK(same_bits(passing(10), moments_result<double, 2>{2, 2.0, {1.0}}));
  auto const none_passes = passing(0);
  CHECK(none_passes.n == 0);
  CHECK(same_bits(none_passes.central[0], not_a_number));
}

TEST_CASE("NaN reaches the mean and every moment") {
  std::vector<double> const x{1, not_a_number, 3};
  CHECK(same_bits(run(from(x) | moments<3>), moments_result<double, 3>{3, not_a_number, {not_a_number, not_a_number}}));
}

TEST_CASE("covariance of two expressions divides by n") {
  std::vector<double> const x{1, 2, 3, 4}, y{2, 4, 6, 9};
  CHECK(run(from(x, y) | covariance) == doctest::Approx(2.875));
  CHECK(run(from(x, y) | covariance(_2, _1)) == doctest::Approx(2.875));
  CHECK(run(from(x, y) | covariance(_1, -_2)) == doctest::Approx(-2.875));
  auto const z = skewed(10007);
  auto const [with_itself, of_itself] = run(from(z) | reduce(covariance(_1, _1), variance));
  CHECK(with_itself == doctest::Approx(of_itself).epsilon(1e-12));
}

TEST_CASE("covariance of nothing is NaN, of one element 0, with a constant 0") {
  auto const of = [](std::vector<double> const& x) { return run(from(x) | covariance(_1, _1 * 0.0 + 3.0)); };
  CHECK(same_bits(of({}), not_a_number));
  CHECK(of({7.0}) == 0.0);
  CHECK(of({7.0, 8.0, 20.0}) == 0.0);
}
