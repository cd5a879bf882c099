// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Placeholders, index and captured numbers: the leaves of every expression.
#include <tally/element/functions.hpp>
#include <tally/element/placeholder.hpp>
#include <tally/element/user_function.hpp>

#include <doctest/doctest.h>

#include <type_traits>

using namespace tally::v0;

TEST_CASE("_1 is the first element of the row, _2 the second") {
  CHECK(_1(7) == 7);
  CHECK(_2(7, 2.5f) == 2.5f);
  CHECK(_8(1, 2, 3, 4, 5, 6, 7, 8) == 8);
}

TEST_CASE("index is the position of the row, 64 bits wide") {
  row<float> const r{make_pack(1.f), i64(1) << 40};
  CHECK(tally::v0::index.eval(r) == i64(1) << 40);
  CHECK((tally::v0::index + 1).eval(r) == (i64(1) << 40) + 1);
}

TEST_CASE("an expression knows how many elements it needs") {
  static_assert(decltype(_1 + 1)::arity == 1);
  static_assert(decltype(_3 * _1)::arity == 3);
  static_assert(decltype(tally::v0::index * 2)::arity == 0);
}

TEST_CASE("an expression is an ordinary function object") {
  auto const e = _1 * _1 + _2;
  CHECK(e(3, 1) == 10);
  CHECK(e(1.5f, 0.25f) == 2.5f);
  static_assert(std::is_trivially_copyable_v<decltype(e)>);
}

TEST_CASE("a number is kept with its type, and its value is no part of the expression's type") {
  int n = 3;
  auto const e = _1 + n;
  n = 100;
  CHECK(e(1) == 4);
  static_assert(std::is_same_v<decltype(_1 + 3), decltype(_1 + 4)>);
  static_assert(!std::is_same_v<decltype(_1 + 3), decltype(_1 + 3.f)>);
  static_assert(decltype(_1 + 3)::captures);
  static_assert(!decltype(_1 + _2)::captures);
}

TEST_CASE("substitution puts expressions in the place of elements") {
  auto const e = (_1 - _2).substitute(make_pack(_2 * _2, _1));
  CHECK(e(3, 5) == 22);
}

TEST_CASE("a host callable is an expression of every element, without text for a kernel") {
  auto const e = as_element<2>([](int a, int b) { return 10 * a + b; });
  CHECK(e(4, 2) == 42);
  static_assert(!decltype(e)::lowerable);
  static_assert(decltype(_1 + _2)::lowerable);
  static_assert(!decltype(_1 + e)::lowerable);
}
