// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pipe: how pipelines are put together.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <array>
#include <span>
#include <type_traits>
#include <vector>

using namespace tally;

TEST_CASE("a pipeline is a value: it is named, copied and continued in several ways") {
  std::vector<int> const x{1, -2, 3};
  auto const positive = from(x) | filter(_1 > 0);
  auto const squares = positive | map(_1 * _1);
  CHECK(run(positive | sum) == 4);
  CHECK(run(squares | sum) == 10);
  CHECK(run(squares | reduce(count, max)) == std::tuple(2, 9));
  CHECK(run(positive | sum) == 4);
}

TEST_CASE("stages and folds are values as well, and know nothing of a source") {
  auto const squared_ones = map(_1 * _1);
  auto const spread = max - min;
  std::vector<int> const x{1, -2, 3};
  std::vector<float> const y{0.5f, 2.f};
  CHECK(run(from(x) | squared_ones | spread) == 8);
  CHECK(run(from(y) | squared_ones | spread) == 3.75f);
}

TEST_CASE("a pipeline is small, trivially copyable, and holds pointers, not elements") {
  std::vector<float> const x(1000);
  auto const p = from(x) | filter(_1 > 0.5f) | map(_1 * 2.f) | reduce(sum, max);
  static_assert(std::is_trivially_copyable_v<decltype(p)>);
  CHECK(sizeof p <= 256);
}

TEST_CASE("pipelines of one shape have one type, whatever numbers they hold") {
  std::vector<float> const x(10), y(20);
  auto const above = [](auto const& column, float limit) { return from(column) | filter(_1 > limit) | reduce(count); };
  static_assert(std::is_same_v<decltype(above(x, 1.f)), decltype(above(y, 2.f))>);
  static_assert(!std::is_same_v<decltype(above(x, 1.f)), decltype(from(x) | filter(_1 >= 1.f) | reduce(count))>);
}

TEST_CASE("pipelines are put together while compiling where their source is known") {
  static constexpr std::array<int, 4> x{1, 2, 3, 4};
  static constexpr auto p = from(x) | filter(_1 > 1) | reduce(sum(_1 * 10), count);
  static_assert(p.pipe.source.extents[0] == 4);
  CHECK(run(p) == std::tuple(90, 3));
}

TEST_CASE("the bitwise or of elements is bits_or, because | composes") {
  std::vector<int> const x{1, 2, 4};
  CHECK(run(from(x) | reduce(sum(bits_or(_1, 1)))) == 1 + 3 + 5);
  CHECK(run(from(x) | reduce(bit_or)) == 7);
}
