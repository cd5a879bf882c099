// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fold logsumexp.
#include <tally/tally.hpp>
#include <tally/testing.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace tally;
using testing::same_bits;

namespace {
constexpr double infinity = std::numeric_limits<double>::infinity(), not_a_number = std::numeric_limits<double>::quiet_NaN();
double of(std::vector<double> const& x) { return run(from(x) | logsumexp); }

double in_long_double(std::vector<double> const& x) {
  long double const largest = *std::max_element(x.begin(), x.end());
  long double total = 0;
  for (double v : x) total += std::exp(static_cast<long double>(v) - largest);
  return static_cast<double>(largest + std::log(total));
}
} // namespace

TEST_CASE("logsumexp is the logarithm of the sum of exponentials") {
  CHECK(of({0.0, 0.0}) == doctest::Approx(std::log(2.0)));
  std::vector<double> x(20011);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(double(i)) * 30;
  CHECK(of(x) == doctest::Approx(in_long_double(x)).epsilon(1e-14));
}

TEST_CASE("it neither overflows nor underflows where exp would") {
  CHECK(of({1000.0, 1000.0}) == doctest::Approx(1000 + std::log(2.0)));
  CHECK(of({-1000.0, -1000.0, -1000.0}) == doctest::Approx(-1000 + std::log(3.0)));
  CHECK(of({-1e300, 5.0}) == 5.0);
  CHECK(of({1e308, -1e308}) == 1e308);
}

TEST_CASE("floats stay floats, small floats are folded in float, integers in double") {
  std::vector<float> const x{88.f, 89.f, 90.f};
  auto const of_floats = run(from(x) | logsumexp);
  static_assert(std::is_same_v<decltype(of_floats), float const>);
  CHECK(of_floats == doctest::Approx(90.4076).epsilon(1e-6));
  std::vector<f16> const h{f16(1.f), f16(1.f)};
  static_assert(std::is_same_v<decltype(run(from(h) | logsumexp)), float>);
  std::vector<int> const whole{1, 1};
  CHECK(run(from(whole) | logsumexp) == doctest::Approx(1 + std::log(2.0)));
  CHECK(run(from(x) | logsumexp.in<double>()) == doctest::Approx(in_long_double({88, 89, 90})).epsilon(1e-15));
}

TEST_CASE("of nothing, or of -infinity alone, it is -infinity") {
  CHECK(of({}) == -infinity);
  CHECK(of({-infinity, -infinity}) == -infinity);
  CHECK(of({-infinity, 2.0}) == 2.0);
  std::vector<double> const x{1.0};
  CHECK(run(from(x) | logsumexp.where(_1 > 5.0)) == -infinity);
}

TEST_CASE("infinity is infinity, and NaN is NaN, wherever they stand") {
  CHECK(of({infinity, 1.0}) == infinity);
  CHECK(of({infinity, -infinity, infinity}) == infinity);
  for (std::size_t at : {0u, 1u, 600u, 1999u}) {
    std::vector<double> x(2000, 1.0);
    x[1000] = infinity;
    x[at] = not_a_number;
    CHECK(same_bits(of(x), not_a_number));
  }
}
