// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operators of element expressions: one meaning on every back end, where C++ and hardware leave a choice.
#include <tally/element/operators.hpp>
#include <tally/element/placeholder.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <type_traits>

namespace {
using namespace tally::v0;
constexpr i64 least_i64 = std::numeric_limits<i64>::min(), greatest_i64 = std::numeric_limits<i64>::max();

template <class E, class... Ts>
using type_of = decltype(std::declval<E>()(std::declval<Ts>()...));
using sum_of_two = decltype(_1 + _2);
} // namespace

TEST_CASE("integers widen to 64 bits before anything is done to them") {
  CHECK((_1 * _2)(2'000'000'000, 4) == 8'000'000'000);
  CHECK((_1 + _2)(u8(200), u8(100)) == 300);
  CHECK((-_1)(u8(1)) == -1);
  static_assert(std::is_same_v<type_of<sum_of_two, i8, i8>, i64>);
  static_assert(std::is_same_v<type_of<sum_of_two, u16, u8>, u64>);
  static_assert(std::is_same_v<type_of<sum_of_two, bool, bool>, u64>);
}

TEST_CASE("float beats integer, double beats float, signed beats unsigned") {
  static_assert(std::is_same_v<type_of<sum_of_two, i64, float>, float>);
  static_assert(std::is_same_v<type_of<sum_of_two, float, double>, double>);
  static_assert(std::is_same_v<type_of<sum_of_two, u64, i8>, i64>);
  static_assert(std::is_same_v<type_of<sum_of_two, f16, bf16>, float>);
  CHECK((_1 + _2)(f16(1.f), bf16(2.f)) == 3.f);
}

TEST_CASE("integers wrap in 64 bits, whatever the operation") {
  CHECK((_1 + 1)(greatest_i64) == least_i64);
  CHECK((_1 - 1)(least_i64) == greatest_i64);
  CHECK((_1 * 2)(greatest_i64) == -2);
  CHECK((-_1)(least_i64) == least_i64);
  CHECK((_1 / -1)(least_i64) == least_i64);
  CHECK((_1 - 1u)(0u) == std::numeric_limits<u64>::max());
}

TEST_CASE("an integer divided by zero is zero, and so is its remainder") {
  CHECK((_1 / _2)(7, 0) == 0);
  CHECK((_1 % _2)(7, 0) == 0);
  CHECK((_1 / _2)(7u, 0u) == 0);
  CHECK((_1 % _2)(least_i64, -1) == 0);
  CHECK((_1 % 5)(-7) == -2);
  CHECK((_1 / 2)(-7) == -3);
}

TEST_CASE("floats divide as IEEE 754 says") {
  CHECK((_1 / _2)(1.f, 0.f) == std::numeric_limits<float>::infinity());
  CHECK(std::isnan((_1 / _2)(0.0, 0.0)));
}

TEST_CASE("comparisons of integers are those of mathematics, whatever the signs") {
  CHECK((_1 < _2)(-1, 1u));
  CHECK(!(_1 > _2)(-1, std::numeric_limits<u64>::max()));
  CHECK((_1 != _2)(-1, std::numeric_limits<u64>::max()));
  CHECK((_1 >= _2)(1u, -1));
  CHECK((_1 <= _2)(u64(5), i8(5)));
  CHECK((_1 == _2)(u64(5), i8(5)));
}

TEST_CASE("a comparison with NaN is false, except !=") {
  float const nan_value = std::numeric_limits<float>::quiet_NaN();
  CHECK(!(_1 < 1.f)(nan_value));
  CHECK(!(_1 >= 1.f)(nan_value));
  CHECK(!(_1 == _1)(nan_value));
  CHECK((_1 != _1)(nan_value));
  CHECK(!(_1 <= _1)(nan_value));
}

TEST_CASE("conditions combine with && || !") {
  auto const inside = _1 > 0 && _1 < 10;
  CHECK(inside(5));
  CHECK(!inside(10));
  CHECK((!inside || _1 == 5)(5));
  static_assert(std::is_same_v<type_of<decltype(_1 && _2), bool, bool>, bool>);
}

TEST_CASE("bits: & ^ ~ << >> of widened integers, and bits_or, because | composes") {
  CHECK((_1 & 6)(3) == 2);
  CHECK((_1 ^ 6)(3) == 5);
  CHECK(bits_or(_1, 6)(3) == 7);
  CHECK((~_1)(u8(0)) == std::numeric_limits<u64>::max());
  CHECK((_1 << 40)(1) == i64(1) << 40);
  CHECK((_1 >> 1)(-4) == -2);
  CHECK((_1 >> 1)(u64(1) << 63) == u64(1) << 62);
}

TEST_CASE("shifts count modulo 64") {
  CHECK((_1 << 65)(1) == 2);
  CHECK((_1 >> 64)(5) == 5);
  CHECK((_1 << -1)(1) == least_i64);
}

TEST_CASE("numbers may stand on either side") {
  CHECK((10 - _1)(3) == 7);
  CHECK((1.f / _1)(4) == 0.25f);
  CHECK((2 < _1)(3));
}

TEST_CASE("a type with operators of its own keeps them") {
  struct money {
    int cents;
    money operator+(money o) const { return {cents + o.cents}; }
    bool operator<(money o) const { return cents < o.cents; }
  };
  CHECK((_1 + _2)(money{3}, money{4}).cents == 7);
  CHECK((_1 < _2)(money{3}, money{4}));
}
