// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that IEEE 754 defines to the last bit (abs, sqrt, fma, copysign, the roundings, fmod) and the
// pieces that every other function of tally::math is made of. Layer 1.
//
// The hardware is asked where it answers exactly; elsewhere the roundings are a pair of additions, which vectorises
// on any instruction set. Sums of products are fused wherever that saves an instruction. Nothing here depends on the rounding mode being other than to nearest.
#pragma once

#include <tally/base/config.hpp>
#include <tally/base/stl.hpp>

namespace tally::v0::math {

namespace detail {

/// How IEEE 754 lays a T out: its word, its fraction bits and its exponent bias.
template <class T>
struct layout;

template <>
struct layout<float> {
  using word = stl::uint32_t;
  static constexpr word fraction_bits = 23;
  static constexpr word bias = 127;
  static constexpr word magnitude = 0x7fffffffu;
  static constexpr word infinity = 0x7f800000u;
  static constexpr word quiet_nan = 0x7fc00000u;
  static constexpr float rounder = 0x1.8p23f;
};

template <>
struct layout<double> {
  using word = stl::uint64_t;
  static constexpr word fraction_bits = 52;
  static constexpr word bias = 1023;
  static constexpr word magnitude = 0x7fffffffffffffffu;
  static constexpr word infinity = 0x7ff0000000000000u;
  static constexpr word quiet_nan = 0x7ff8000000000000u;
  static constexpr double rounder = 0x1.8p52;
};

template <class T>
using word_of = typename layout<T>::word;

TALLY_INLINE constexpr stl::uint32_t bits_of(float x) { return __builtin_bit_cast(stl::uint32_t, x); }
TALLY_INLINE constexpr stl::uint64_t bits_of(double x) { return __builtin_bit_cast(stl::uint64_t, x); }
TALLY_INLINE constexpr float from_bits(stl::uint32_t bits) { return __builtin_bit_cast(float, bits); }
TALLY_INLINE constexpr double from_bits(stl::uint64_t bits) { return __builtin_bit_cast(double, bits); }

template <class T>
TALLY_INLINE constexpr T infinity() {
  return from_bits(layout<T>::infinity);
}
/// The one NaN that the functions of tally::math return.
template <class T>
TALLY_INLINE constexpr T quiet_nan() {
  return from_bits(layout<T>::quiet_nan);
}
template <class T>
TALLY_INLINE constexpr T magnitude_of(T x) {
#if defined(__CUDA_ARCH__)
  if (!__builtin_is_constant_evaluated()) { // part of the instruction that takes it
    if constexpr (sizeof(T) == sizeof(float))
      return ::fabsf(x);
    else
      return ::fabs(x);
  }
#endif
  return from_bits(static_cast<word_of<T>>(bits_of(x) & layout<T>::magnitude));
}
/// `magnitude`, which is not negative, with the sign bit of `x`.
template <class T>
TALLY_INLINE constexpr T with_sign_of(T magnitude, T x) {
  return from_bits(static_cast<word_of<T>>(bits_of(magnitude) | (bits_of(x) & ~layout<T>::magnitude)));
}
/// `yes ? a : b` by masks: a compiler that keeps floating-point traps cannot turn it into a branch, so loops
/// vectorise.
template <class T>
TALLY_INLINE constexpr T either(bool yes, T a, T b) {
  word_of<T> const mask = word_of<T>{0} - static_cast<word_of<T>>(yes);
  return from_bits(static_cast<word_of<T>>((bits_of(a) & mask) | (bits_of(b) & ~mask)));
}
/// `result`, or the one NaN where `x` is a NaN.
template <class T>
TALLY_INLINE constexpr T unless_nan(T x, T result) {
  return either(x == x, result, quiet_nan<T>());
}
/// A double result as a float, with the one NaN.
TALLY_INLINE constexpr float narrowed(double x) { return unless_nan(static_cast<float>(x), static_cast<float>(x)); }

/// x * 2^k, rounded once; k is a two's complement word with -2 * bias < k < 2 * bias.
template <class T>
TALLY_INLINE constexpr T scaled(T x, word_of<T> k) {
  using form = layout<T>;
  word_of<T> const both = k + 2 * form::bias;
  word_of<T> const half = both >> 1;
  return x * from_bits(static_cast<word_of<T>>(half << form::fraction_bits)) *
         from_bits(static_cast<word_of<T>>((both - half) << form::fraction_bits));
}

/// A value as an unevaluated sum of two floating-point numbers, the second below half a unit of the first.
template <class T>
struct pair_sum {
  T high;
  T low;
};

/// a + b without error, where |a| >= |b| or a is zero.
template <class T>
TALLY_INLINE constexpr pair_sum<T> ordered_sum(T a, T b) {
  T const sum = a + b;
  return {sum, (a - sum) + b};
}
template <class T>
TALLY_INLINE constexpr pair_sum<T> normalised(pair_sum<T> x) {
  return ordered_sum(x.high, x.low);
}
/// a + b without error.
template <class T>
TALLY_INLINE constexpr pair_sum<T> exact_sum(T a, T b) {
  T const sum = a + b;
  T const from_b = sum - a;
  return {sum, (a - (sum - from_b)) + (b - from_b)};
}

/// The next double above or below x, which is not zero.
TALLY_INLINE constexpr double next_double(double x, bool above) { return from_bits(above == (x > 0) ? bits_of(x) + 1 : bits_of(x) - 1); }
TALLY_INLINE constexpr bool is_odd(double x) { return (bits_of(x) & 1u) != 0; }
/// high + low, high being that rounded, with the last bit set where it is not exact, so that it can be rounded again.
TALLY_INLINE constexpr double rounded_to_odd(double high, double low) { return low == 0 || is_odd(high) ? high : next_double(high, low > 0); }
/// a + b in the same way.
TALLY_HD constexpr double sum_rounded_to_odd(double a, double b) {
  pair_sum<double> const sum = exact_sum(a, b);
  return rounded_to_odd(sum.high, sum.low);
}
/// fma in constant expressions, where not every compiler has it (Boldo and Melquiond): for finite results, none of them near
/// the denormals.
TALLY_HD constexpr float fma_while_compiling(float a, float b, float c) {
  return static_cast<float>(sum_rounded_to_odd(static_cast<double>(a) * static_cast<double>(b), static_cast<double>(c)));
}
TALLY_HD constexpr double fma_while_compiling(double a, double b, double c) {
  double const a_far = a * 0x1.000002p+27, a_high = a_far - (a_far - a), a_low = a - a_high;
  double const b_far = b * 0x1.000002p+27, b_high = b_far - (b_far - b), b_low = b - b_high;
  double const product = a * b;
  double const lost = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
  pair_sum<double> const below = exact_sum(c, lost), sum = exact_sum(product, below.high);
  return sum.high + sum_rounded_to_odd(below.low, sum.low);
}
/// a * b + c, rounded once: an instruction on every GPU, and on a CPU wherever the loop around it was compiled for one;
/// elsewhere the C library's, which is slower and as exact.
template <class T>
TALLY_INLINE constexpr T fma(T a, T b, T c) {
  if (__builtin_is_constant_evaluated()) return fma_while_compiling(a, b, c);
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) == sizeof(float))
    return __fmaf_rn(a, b, c);
  else
    return __fma_rn(a, b, c);
#else
  if constexpr (sizeof(T) == sizeof(float))
    return __builtin_fmaf(a, b, c);
  else
    return __builtin_fma(a, b, c);
#endif
}

/// c0 + x * (c1 + x * (c2 + ...)), each step rounded once.
template <class T>
TALLY_INLINE constexpr T polynomial(T, T last) {
  return last;
}
template <class T, class... Rest>
TALLY_INLINE constexpr T polynomial(T x, T first, Rest... rest) {
  return fma(x, polynomial(x, rest...), first);
}

/// The leading 26 bits of x.
TALLY_INLINE constexpr double leading(double x) { return from_bits(bits_of(x) & ~stl::uint64_t{0x7ffffff}); }
/// a * b without error, where that is not near the denormals.
TALLY_INLINE constexpr pair_sum<double> exact_product(double a, double b) {
  double const product = a * b;
  return {product, fma(a, b, -product)};
}
TALLY_INLINE constexpr pair_sum<double> product(pair_sum<double> a, pair_sum<double> b) {
  pair_sum<double> const p = exact_product(a.high, b.high);
  return ordered_sum(p.high, fma(a.high, b.low, fma(a.low, b.high, p.low)));
}
/// n / d to about 2^-100 of itself, for a normal quotient.
TALLY_INLINE constexpr pair_sum<double> quotient(pair_sum<double> n, pair_sum<double> d) {
  double const inverse = 1.0 / d.high;
  double const first = n.high * inverse;
  double const rest = fma(-first, d.high, n.high) + fma(-first, d.low, n.low);
  return ordered_sum(first, rest * inverse);
}

} // namespace detail

/// |x|; the sign of a NaN is not kept apart.
TALLY_INLINE constexpr float abs(float x) { return detail::magnitude_of(x); }
TALLY_INLINE constexpr double abs(double x) { return detail::magnitude_of(x); }

namespace detail {

// A template, since not every compiler has it as a constant expression.
template <class T>
TALLY_INLINE constexpr T sqrt(T x) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) == sizeof(float))
    return __fsqrt_rn(x);
  else
    return __dsqrt_rn(x);
#else
  if constexpr (sizeof(T) == sizeof(float))
    return __builtin_sqrtf(x);
  else
    return __builtin_sqrt(x);
#endif
}

} // namespace detail

/// The square root, correctly rounded.
TALLY_INLINE constexpr float sqrt(float x) { return detail::sqrt(x); }
TALLY_INLINE constexpr double sqrt(double x) { return detail::sqrt(x); }

/// a * b + c, rounded once.
TALLY_INLINE constexpr float fma(float a, float b, float c) { return detail::fma(a, b, c); }
TALLY_INLINE constexpr double fma(double a, double b, double c) { return detail::fma(a, b, c); }

} // namespace tally::v0::math
