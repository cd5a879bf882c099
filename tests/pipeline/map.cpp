// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verb map: what happens to one row.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

TALLY_FUNCTION(clamped, (float v), { return v < 0 ? 0.f : v; });
TALLY_FUNCTION(larger, (float a, float b), { return a > b ? a : b; });
TALLY_STRUCT(pair_of_floats, { float low, high; });
TALLY_FUNCTION(span_of, (pair_of_floats p), { return p.high - p.low; });

using namespace tally::v0;

TEST_CASE("map replaces the elements by an expression of them") {
  std::vector<float> const x{1, 2, 3};
  CHECK(run(from(x) | map(_1 * _1) | sum) == 14.f);
  CHECK(run(from(x) | map(_1 * _1) | reduce(sum, max)) == std::tuple(14.f, 9.f));
}

TEST_CASE("what map gives is named _1, _2, ... by whatever follows") {
  std::vector<int> const x{1, 2, 3}, y{4, 5, 6};
  CHECK(run(from(x, y) | map(_1 + _2) | reduce(max(_1))) == 9);
  CHECK(run(from(x, y) | map(_2, _1) | reduce(sum(_1 - _2))) == 9);
  CHECK(run(from(x) | map(_1, -_1) | reduce(min(_2), max(_1))) == std::tuple(-3, 3));
}

TEST_CASE("maps follow one another") {
  std::vector<int> const x{1, 2, 3};
  CHECK(run(from(x) | map(_1 + 1) | map(_1 * 10) | sum) == 90);
  CHECK(run(from(x) | map(_1 * 10) | map(_1 + 1) | sum) == 63);
}

TEST_CASE("index is the position of the element, and survives every map") {
  std::vector<int> const x{5, 5, 5, 5};
  CHECK(run(from(x) | map(_1 * tally::index) | sum) == 30);
  CHECK(run(from(x) | map(_1 + 1) | map(tally::index) | sum) == 6);
}

TEST_CASE("numbers stand in an expression as they are, and change without a new type") {
  std::vector<float> const x{1, 2, 3};
  auto const scaled = [&](float by) { return from(x) | map(_1 * by) | reduce(sum); };
  static_assert(std::is_same_v<decltype(scaled(2.f)), decltype(scaled(3.f))>);
  CHECK(run(scaled(2.f)) == 12.f);
  CHECK(run(scaled(3.f)) == 18.f);
  CHECK(run(from(x) | map(7) | sum) == 21);
}

TEST_CASE("an expression is an ordinary function object") {
  auto const hypotenuse = sqrt(_1 * _1 + _2 * _2);
  CHECK(hypotenuse(3.f, 4.f) == 5.f);
  std::vector<float> const x{3, 6}, y{4, 8};
  CHECK(run(from(x, y) | map(hypotenuse) | sum) == 15.f);
}

TEST_CASE("a function of the user's own is declared once, for numbers and for columns") {
  std::vector<float> const x{-1, 2, -3, 4}, y{0, 3, 0, 3};
  CHECK(clamped(-5.f) == 0.f);
  CHECK(run(from(x) | map(clamped(_1)) | sum) == 6.f);
  CHECK(run(from(x) | map(clamped) | sum) == 6.f);
  CHECK(run(from(x, y) | map(larger(_1, _2)) | sum) == 7.f);
  CHECK(run(from(x, y) | map(larger) | sum) == 7.f);
  CHECK(run(from(x) | reduce(sum(clamped(_1 * 2.f)))) == 12.f);
}

TEST_CASE("a struct of the user's own is taken apart by a function of the user's own") {
  std::vector<pair_of_floats> const x{{1, 4}, {2, 2}, {0, 7}};
  CHECK(run(from(x) | map(span_of(_1)) | reduce(sum, max)) == std::tuple(10.f, 7.f));
}

TEST_CASE("a host lambda is given every element, and keeps the pipeline on the CPU") {
  std::vector<float> const x{1, 2}, y{3, 4};
  int weight = 2;
  auto const p = from(x, y) | map([weight](float a, float b) { return double(a) * double(b) * weight; }) | reduce(sum);
  CHECK(run(p) == 22.0);
  CHECK(run(p, on::cpu) == 22.0);
}

TEST_CASE("nothing is stored between map and fold: the expression goes into the fold") {
  std::vector<float> const x{1, 2, 3};
  using mapped = decltype(bind(from(x) | map(_1 * _1) | reduce(sum)).program);
  using direct = decltype(bind(from(x) | reduce(sum(_1 * _1))).program);
  static_assert(std::is_same_v<mapped, direct>);
}
