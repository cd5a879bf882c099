// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the library means by a number: the accumulator of each element type, and arithmetic that has one meaning on every
// back end (integers widen to 64 bits and wrap there; small floats compute in float). Layer 0.
#pragma once

#include <tally/base/config.hpp>
#include <tally/base/half.hpp>
#include <tally/base/stl.hpp>

namespace tally::v0 {

using i8 = stl::int8_t;
using i16 = stl::int16_t;
using i32 = stl::int32_t;
using i64 = stl::int64_t;
using u8 = stl::uint8_t;
using u16 = stl::uint16_t;
using u32 = stl::uint32_t;
using u64 = stl::uint64_t;
using f32 = float;
using f64 = double;

template <class T>
concept integer = stl::is_integral_v<T> && !stl::same_as<T, bool>;
template <class T>
concept small_float = stl::same_as<T, f16> || stl::same_as<T, bf16>;
template <class T>
concept floating = stl::same_as<T, float> || stl::same_as<T, double> || small_float<T>;
template <class T>
concept real = integer<T> || floating<T> || stl::same_as<T, bool>;

namespace detail {
template <class T>
struct accumulator {
  using type = T; // a user's type adds in itself
};
template <class T>
  requires(stl::is_integral_v<T> && T(-1) < T(0))
struct accumulator<T> {
  using type = i64;
};
template <class T>
  requires(stl::is_integral_v<T> && !(T(-1) < T(0)))
struct accumulator<T> {
  using type = u64;
};
template <small_float T>
struct accumulator<T> {
  using type = float;
};
template <>
struct accumulator<bool> {
  using type = u64;
};
} // namespace detail

/// In what a sum of T is kept: 64-bit integers of the same signedness, float for f16 and bf16, T otherwise.
template <class T>
using accumulator_t = typename detail::accumulator<T>::type;

/// What an element of type T becomes before arithmetic; the same table as the accumulator's.
template <class T>
TALLY_HD constexpr auto widen(T x) {
  return static_cast<accumulator_t<T>>(x);
}

/// The common type of two widened operands: float beats integer, double beats float, signed beats unsigned.
template <class A, class B>
struct common {
  using type = decltype(A{} + B{});
};
template <>
struct common<i64, u64> {
  using type = i64;
};
template <>
struct common<u64, i64> {
  using type = i64;
};
template <class A, class B>
using common_t = typename common<accumulator_t<A>, accumulator_t<B>>::type;

/// Signed 64-bit arithmetic that wraps instead of being undefined.
namespace wrapping {
template <class T>
TALLY_HD constexpr T add(T a, T b) {
  if constexpr (stl::same_as<T, i64>)
    return static_cast<i64>(static_cast<u64>(a) + static_cast<u64>(b));
  else
    return a + b;
}
template <class T>
TALLY_HD constexpr T subtract(T a, T b) {
  if constexpr (stl::same_as<T, i64>)
    return static_cast<i64>(static_cast<u64>(a) - static_cast<u64>(b));
  else
    return a - b;
}
template <class T>
TALLY_HD constexpr T multiply(T a, T b) {
  if constexpr (stl::same_as<T, i64>)
    return static_cast<i64>(static_cast<u64>(a) * static_cast<u64>(b));
  else
    return a * b;
}
} // namespace wrapping

namespace detail {
/// The largest e with 2^e <= n; n >= 1.
TALLY_HD constexpr int log2_of(i64 n) { return n > 1 ? 1 + log2_of(n / 2) : 0; }
} // namespace detail

/// The bits of a value as an integer of its size, and back.
template <class To, class From>
TALLY_HD constexpr To bits_as(From x) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, x);
}

/// Whether the sign bit of a float or double is set: true for -0.
template <class T>
TALLY_HD constexpr bool sign_of(T x) {
  if constexpr (sizeof(T) == 8)
    return (bits_as<u64>(x) >> 63) != 0;
  else
    return (bits_as<u32>(x) >> 31) != 0;
}

} // namespace tally::v0

namespace tally {
using v0::bf16, v0::f16, v0::f32, v0::f64, v0::i16, v0::i32, v0::i64, v0::i8, v0::u16, v0::u32, v0::u64, v0::u8;
} // namespace tally
