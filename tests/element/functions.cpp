// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The named functions of element expressions: what they take, what they give, and their edges. The accuracy and the bits of
// tally::v0::math are in math.cpp.
#include <tally/element/functions.hpp>
#include <tally/element/placeholder.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <type_traits>

namespace {
using namespace tally::v0;
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinite = std::numeric_limits<float>::infinity();
} // namespace

TEST_CASE("functions of a float give a float, of a double or an integer a double, of small floats a float") {
  static_assert(std::is_same_v<decltype(sqrt(_1)(4.f)), float>);
  static_assert(std::is_same_v<decltype(sqrt(_1)(4.0)), double>);
  static_assert(std::is_same_v<decltype(sqrt(_1)(4)), double>);
  static_assert(std::is_same_v<decltype(exp(_1)(f16(1.f))), float>);
  CHECK(sqrt(_1)(9) == 3.0);
  CHECK(floor(_1)(-1.5f) == -2.f);
  CHECK(hypot(_1, _2)(3.f, 4.f) == 5.f);
  CHECK(pow(_1, 3.f)(2.f) == 8.f);
}

TEST_CASE("abs widens, and of the least integer it wraps") {
  CHECK(abs(_1)(i8(-128)) == 128);
  CHECK(abs(_1)(-2.5f) == 2.5f);
  CHECK(!std::signbit(abs(_1)(-0.f)));
  CHECK(abs(_1)(std::numeric_limits<i64>::min()) == std::numeric_limits<i64>::min());
}

TEST_CASE("least and most propagate NaN and order -0 before +0") {
  CHECK(least(_1, _2)(3, 4) == 3);
  CHECK(most(_1, 0.f)(-2.f) == 0.f);
  CHECK(std::isnan(least(_1, _2)(not_a_number, 1.f)));
  CHECK(std::isnan(most(_1, _2)(1.f, not_a_number)));
  CHECK(std::signbit(least(_1, _2)(0.f, -0.f)));
  CHECK(!std::signbit(most(_1, _2)(-0.f, 0.f)));
}

TEST_CASE("select takes one of two values, in their common type") {
  auto const positive_part = select(_1 > 0, _1, 0);
  CHECK(positive_part(5) == 5);
  CHECK(positive_part(-5) == 0);
  static_assert(std::is_same_v<decltype(select(_1 > 0, 1, 0.5f)(1)), float>);
  static_assert(std::is_same_v<decltype(select(_1 > 0, _1, _1)(i8(1))), i8>);
}

TEST_CASE("cast to an integer saturates, and NaN becomes 0") {
  CHECK(cast<int>(_1)(2.9f) == 2);
  CHECK(cast<int>(_1)(-2.9f) == -2);
  CHECK(cast<int>(_1)(1e30f) == std::numeric_limits<int>::max());
  CHECK(cast<i8>(_1)(-1000.0) == -128);
  CHECK(cast<u8>(_1)(-3.f) == 0);
  CHECK(cast<i64>(_1)(infinite) == std::numeric_limits<i64>::max());
  CHECK(cast<int>(_1)(not_a_number) == 0);
}

TEST_CASE("cast between integers keeps the low bits, to floats it rounds once") {
  CHECK(cast<u8>(_1)(300) == 44);
  CHECK(cast<float>(_1)(16777217) == 16777216.f);
  CHECK(float(cast<f16>(_1)(2049.f)) == 2048.f);
  static_assert(std::is_same_v<decltype(cast<double>(_1)(1)), double>);
}

TEST_CASE("fma rounds once where a * b + c rounds twice") {
  float const a = 1.f + 0x1p-12f;
  CHECK((_1 * _1 - 1.f - 0x1p-11f)(a) == 0.f);
  CHECK(fma(_1, _1, -1.f - 0x1p-11f)(a) == 0x1p-24f);
}

TEST_CASE("is_nan asks floats, and no integer is NaN") {
  CHECK(is_nan(_1)(not_a_number));
  CHECK(!is_nan(_1)(infinite));
  CHECK(!is_nan(_1)(5));
}

TEST_CASE("rounding: floor ceil trunc, round away from zero at halves, nearest to even") {
  CHECK(ceil(_1)(1.25f) == 2.f);
  CHECK(trunc(_1)(-1.75f) == -1.f);
  CHECK(round(_1)(2.5f) == 3.f);
  CHECK(round(_1)(-2.5f) == -3.f);
  CHECK(nearest(_1)(2.5f) == 2.f);
  CHECK(squared(_1)(-3) == 9);
}

TEST_CASE("what functions give at their edges") {
  CHECK(std::isnan(sqrt(_1)(-1.f)));
  CHECK(log(_1)(0.f) == -infinite);
  CHECK(std::isnan(log(_1)(-1.f)));
  CHECK(exp(_1)(1000.f) == infinite);
  CHECK(exp(_1)(-1000.f) == 0.f);
  CHECK(atan2(_1, _2)(0.f, 1.f) == 0.f);
  CHECK(std::isnan(fmod(_1, _2)(1.f, 0.f)));
  CHECK(copysign(_1, _2)(3.f, -0.f) == -3.f);
}
