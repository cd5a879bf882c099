// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verb reduce: what is computed, all in one read.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

TALLY_FUNCTION(digit, (long d), { return static_cast<int>(d); });
TALLY_FUNCTION(later, (int a, int b), { return b < 0 ? a : b; });
TALLY_FUNCTION(same, (int a), { return a; });

using namespace tally::v0;

TEST_CASE("one fold gives a value, several give a std::tuple of their answers") {
  std::vector<float> const x{1, 2, 3, 4};
  static_assert(std::is_same_v<decltype(run(from(x) | reduce(sum))), float>);
  CHECK(run(from(x) | reduce(sum, max, count)) == std::tuple(10.f, 4.f, i64(4)));
  auto const [total, greatest, n] = run(from(x) | reduce(sum, max, count));
  CHECK(total / float(n) == 2.5f);
  CHECK(greatest == 4.f);
}

TEST_CASE("a fold by itself is a stage") {
  std::vector<float> const x{1, 2, 3, 4};
  CHECK(run(from(x) | mean) == 2.5f);
}

TEST_CASE("a fold looks at _1 until it is given an expression") {
  std::vector<int> const x{1, 2, 3}, y{10, 20, 30};
  CHECK(run(from(x, y) | reduce(sum, sum(_1), sum(_2), sum(_1 * _2), max(_2 - _1))) == std::tuple(6, 6, 60, 140, 27));
}

TEST_CASE("where narrows one fold and leaves the others") {
  std::vector<int> const x{-2, 5, -7, 4};
  CHECK(run(from(x) | reduce(sum, sum.where(_1 > 0), sum(_1).where(_1 < 0), count_if(_1 > 0))) == std::tuple(0, 9, -9, 2));
  CHECK(run(from(x) | reduce(sum.where(_1 > 0).where(_1 < 5))) == 4);
}

TEST_CASE("folds compute: formulas of folds are folds") {
  std::vector<double> const x{1, 2, 3, 4};
  CHECK(run(from(x) | reduce(sum / count)) == 2.5);
  CHECK(run(from(x) | reduce(sum(_1 * _1) / count - mean * mean)) == 1.25);
  CHECK(run(from(x) | reduce(sqrt(variance), max - min)) == std::tuple(std::sqrt(1.25), 3.0));
  CHECK(run(from(x) | reduce(select(count > 3, mean, min))) == 2.5);
  CHECK(run(from(x) | reduce((sum / count).where(_1 > 2.0))) == 3.5);
}

TEST_CASE("in<T>() chooses the accumulator") {
  std::vector<float> const x{16777216.f, 1.f, 1.f};
  CHECK(run(from(x) | reduce(sum)) != 16777218.f); // 2^24 + 1 is no float
  CHECK(run(from(x) | reduce(sum.in<double>())) == 16777218.0);
  static_assert(std::is_same_v<decltype(run(from(x) | reduce(mean.in<double>()))), double>);
  CHECK(run(from(x) | reduce(mean.in<double>())) == 16777218.0 / 3);
  CHECK(run(from(x) | reduce((max - mean).in<double>())) == 16777216.0 - 16777218.0 / 3); // what has one, in a formula
}

TEST_CASE("integers are summed in 64 bits, wrap there, and say so when they are asked to") {
  std::vector<i64> const x{std::numeric_limits<i64>::max(), 1};
  CHECK(run(from(x) | sum) == std::numeric_limits<i64>::min());
  CHECK_THROWS_AS(run(from(x) | reduce(sum.checked())), overflow);
  std::vector<i64> const back{std::numeric_limits<i64>::max(), 1, -1};
  CHECK(run(from(back) | reduce(sum.checked())) == std::numeric_limits<i64>::max());
}

TEST_CASE("compensated() carries the rounding errors of a float sum") {
  std::vector<float> x(30'000, 0.1f);
  double right = 0;
  for (float const v : x)
    right += double(v);
  CHECK(run(from(x) | reduce(sum.compensated())) == float(right));
}

TEST_CASE("minima and maxima are those of IEEE 754-2019: NaN wins, and -0 is less than +0") {
  float const nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> const x{2, nan, -1};
  CHECK(std::isnan(run(from(x) | min)));
  CHECK(run(from(x) | reduce(min.ignoring_nan(), max.ignoring_nan())) == std::tuple(-1.f, 2.f));
  CHECK(run(from(x) | reduce(argmax)) == 1);
  CHECK(run(from(x) | reduce(argmax.ignoring_nan())) == 0);
  std::vector<float> const zeros{0.f, -0.f};
  CHECK(std::signbit(run(from(zeros) | min)));
  CHECK(!std::signbit(run(from(zeros) | max)));
}

TEST_CASE("ties go to the first position") {
  std::vector<int> const x{1, 7, 0, 7, 0};
  CHECK(run(from(x) | reduce(argmax, argmin)) == std::tuple(1, 2));
}

TEST_CASE("or_else is the answer where there is nothing to answer from, maybe an empty optional") {
  std::vector<int> const nothing;
  CHECK(run(from(nothing) | reduce(min.or_else(-1), max.maybe(), sum)) == std::tuple(-1, std::optional<int>(), 0));
  std::vector<int> const one{4};
  CHECK(run(from(one) | reduce(min.or_else(-1), max.maybe())) == std::tuple(4, std::optional<int>(4)));
  CHECK(run(from(nothing) | reduce(max.maybe().or_else(7), max.or_else(7).maybe())) == std::tuple(7, std::optional<int>())); // the last one holds
  CHECK(run(from(one) | reduce((max - min).or_else(99), min.or_else(5).where(_1 > 4))) == std::tuple(0, 5));
}

TEST_CASE("questions: any, all, none") {
  std::vector<int> const x{1, 2, 3};
  CHECK(run(from(x) | reduce(any(_1 > 2), all(_1 > 0), none(_1 > 3), any(_1 > 3))) == std::tuple(true, true, true, false));
  std::vector<int> const nothing;
  CHECK(run(from(nothing) | reduce(any(_1 > 2), all(_1 > 0), none(_1 > 3))) == std::tuple(false, true, true));
}

TEST_CASE("a fold of the user's own keeps the order of its elements") {
  std::vector<int> x(1000);
  for (int i = 0; i < 1000; ++i)
    x[std::size_t(i)] = i;
  auto const last_of = fold_of(-1, later, digit, same, associative); // -1: nothing yet
  CHECK(run(from(x) | reduce(last_of, last_of(_1 * 2), last_of + 1)) == std::tuple(999, 1998, 1000));
}

TEST_CASE("folds that share a part compute it once") {
  std::vector<float> const x{1, 2};
  using program = decltype(bind(from(x) | reduce(sum, mean, sum / count, sum(_1))).program);
  static_assert(program::leaf_count == 1); // the sum; the count is the extent
}
