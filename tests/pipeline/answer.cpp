// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Answers: which leaves a reduction needs, and how their states become what was asked for.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <vector>

namespace {
using namespace tally::v0;

template <class Reduction>
inline constexpr int leaves = decltype(bind(std::declval<Reduction>()).program)::leaf_count;

std::vector<float> const x{3, 1, 2};
std::vector<int> const three_integers{3, 1, 2};
} // namespace

TEST_CASE("a fold is one leaf, and the same fold is the same leaf") {
  static_assert(leaves<decltype(from(x) | reduce(sum))> == 1);
  static_assert(leaves<decltype(from(x) | reduce(sum, sum(_1)))> == 1);
  static_assert(leaves<decltype(from(x) | reduce(sum, max))> == 2);
  static_assert(leaves<decltype(from(x) | reduce(sum(_1 * _1), sum, sum(_1 * _1) / sum))> == 2);
}

TEST_CASE("counting everything is free: the extent is known") {
  static_assert(leaves<decltype(from(x) | reduce(count))> == 0);
  static_assert(leaves<decltype(from(x) | reduce(mean, sum, count))> == 1);
  static_assert(leaves<decltype(from(x) | filter(_1 > 1.f) | reduce(mean, count))> == 2);
  CHECK(run(from(x) | reduce(count)) == 3);
}

TEST_CASE("variance and standard deviation are one leaf, minmax shares with min and max") {
  static_assert(leaves<decltype(from(x) | reduce(variance, stddev, sample_variance))> == 1);
  static_assert(leaves<decltype(from(x) | reduce(minmax, min, max))> == 2);
}

TEST_CASE("leaves that hold numbers of the user's are told apart, for the numbers may differ") {
  float const a = 1, b = 2;
  static_assert(leaves<decltype(from(x) | reduce(sum(_1 * a), sum(_1 * b)))> == 2);
  CHECK(run(from(x) | reduce(sum(_1 * a), sum(_1 * b))) == std::tuple(6.f, 12.f));
}

TEST_CASE("answers come in the order of the folds") {
  CHECK(run(from(three_integers) | reduce(max, min, sum)) == std::tuple(3, 1, 6));
  CHECK(run(from(three_integers) | reduce(sum, min, max)) == std::tuple(6, 1, 3));
}

TEST_CASE("the type of an answer is that of the fold") {
  static_assert(std::is_same_v<decltype(run(from(three_integers) | min)), int>);
  static_assert(std::is_same_v<decltype(run(from(three_integers) | sum)), i64>);
  static_assert(std::is_same_v<decltype(run(from(three_integers) | mean)), double>);
  static_assert(std::is_same_v<decltype(run(from(x) | mean)), float>);
  static_assert(std::is_same_v<decltype(run(from(x) | argmax)), i64>);
  static_assert(std::is_same_v<decltype(run(from(x) | all(_1 > 0.f))), bool>);
  static_assert(std::is_same_v<decltype(run(from(x) | min.maybe())), std::optional<float>>);
}

TEST_CASE("or_else converts to the type of the answer") {
  std::vector<double> const nothing;
  static_assert(std::is_same_v<decltype(run(from(nothing) | min.or_else(1))), double>);
  CHECK(run(from(nothing) | min.or_else(1)) == 1.0);
}

TEST_CASE("a formula has no answer as soon as one of its folds has none") {
  std::vector<int> const nothing;
  CHECK_THROWS_AS(run(from(nothing) | reduce(sum + max)), empty_input);
  CHECK(run(from(nothing) | reduce((sum + max).or_else(-7))) == -7);
  CHECK(run(from(nothing) | reduce(sum + max.or_else(5))) == 5);
}

TEST_CASE("the error names the fold that met no element") {
  std::vector<float> const nothing;
  CHECK_THROWS_WITH_AS(run(from(nothing) | reduce(sum, max(_1 * _1))),
                       "[tally-E1] max(_1 * _1) met no element among 0. docs/errors.md#E1", empty_input);
}
