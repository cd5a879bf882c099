// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The folds norm<P> and norm_inf.
#include <tally/tally.hpp>
#include <tally/testing.hpp>

#include <limits>
#include <vector>

using namespace tally;
using testing::same_bits;

TEST_CASE("norm<1> adds sizes, norm<2> is Euclid's, norm<P> the P-th root of the sum of P-th powers") {
  std::vector<float> const x{3.f, -4.f};
  auto const [one, two, three, largest] = run(from(x) | reduce(norm<1>, norm<2>, norm<3>, norm_inf));
  CHECK(one == 7.f);
  CHECK(two == 5.f);
  CHECK(three == doctest::Approx(4.497941445));
  CHECK(largest == 4.f);
}

TEST_CASE("integers: norm<1> and norm_inf stay exact, roots are doubles") {
  std::vector<i8> const x{-128, 3};
  auto const [one, two, largest] = run(from(x) | reduce(norm<1>, norm<2>, norm_inf));
  static_assert(std::is_same_v<decltype(one), i64 const>);
  static_assert(std::is_same_v<decltype(two), double const>);
  CHECK(one == 131);
  CHECK(two == doctest::Approx(128.035151423));
  CHECK(largest == 128);
}

TEST_CASE("the norm of nothing is zero") {
  std::vector<double> const nothing;
  CHECK((run(from(nothing) | reduce(norm<1>, norm<2>, norm<3>, norm_inf)) == std::tuple(0.0, 0.0, 0.0, 0.0)));
}

TEST_CASE("NaN is the norm of whatever holds it, and infinity is a size") {
  double const infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  auto const of = [](std::vector<double> const& x) { return run(from(x) | reduce(norm<1>, norm<2>, norm_inf)); };
  CHECK(same_bits(of({1.0, nan}), std::tuple(nan, nan, nan)));
  CHECK(same_bits(of({1.0, -infinity}), std::tuple(infinity, infinity, infinity)));
  CHECK(same_bits(of({-0.0, -0.0}), std::tuple(0.0, 0.0, 0.0)));
}

TEST_CASE("a norm of an expression: the distance of two columns, and of what passes") {
  std::vector<double> const x{1, 2, 3}, y{1, 4, 0};
  CHECK(run(from(x, y) | norm<2>(_1 - _2)) == doctest::Approx(3.605551275));
  CHECK(run(from(x, y) | norm_inf(_1 - _2)) == 3.0);
  CHECK(run(from(x, y) | norm<1>(_2).where(_1 > 1.0)) == 4.0);
}

TEST_CASE("powers of integers do not leave their range") {
  std::vector<int> const x{-100'000};
  std::vector<i64> const wide{3'000'000'000, -4'000'000'000};
  CHECK(run(from(x) | norm<4>) == doctest::Approx(100'000.0));
  CHECK(run(from(x) | norm<4>.in<double>()) == doctest::Approx(100'000.0));
  CHECK(run(from(wide) | norm<2>) == 5e9);
  CHECK(run(from(wide) | norm<1>) == 7'000'000'000);
}

TEST_CASE("a norm leaves NaN out, and says what it is asked to say of nothing") {
  double const nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> const x{1, nan, -3}, nothing;
  CHECK(run(from(x) | norm_inf.ignoring_nan()) == 3.0);
  CHECK(run(from(x) | norm<1>.ignoring_nan()) == 4.0);
  CHECK(run(from(nothing) | norm_inf.or_else(-1.0)) == -1.0);
  CHECK_FALSE(run(from(nothing) | norm_inf.maybe()).has_value());
  CHECK(run(from(x) | max.maybe().ignoring_nan()) == 1.0);
}
