// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two small float types, f16 (IEEE binary16) and bf16 (the upper half of a float): storage and conversion only;
// arithmetic happens in float, to which they convert by themselves. Layer 0.
//
// Conversions round once, to nearest even, and give the same bits on a host, which computes them with integers, and on a GPU, which has
// instructions. Rounding makes every NaN one positive quiet NaN, and so does what leaves a pipeline; on its way into float a bf16 keeps
// its bits and an f16's NaN is the one of a GPU, which costs nothing (docs/decisions/small_floats_keep_their_nan.md).
#pragma once

#include <tally/base/config.hpp>
#include <tally/base/stl.hpp>

namespace tally::v0 {

namespace detail {

TALLY_INLINE constexpr stl::uint32_t float_bits(float x) { return __builtin_bit_cast(stl::uint32_t, x); }
TALLY_INLINE constexpr float float_of(stl::uint32_t bits) { return __builtin_bit_cast(float, bits); }

inline constexpr stl::uint32_t canonical_nan = 0x7fc00000u, nan_of_gpu = 0x7fffffffu;

/// `yes ? a : b` by masks: a compiler that keeps floating-point traps cannot turn it into a branch, so loops
/// vectorise.
TALLY_INLINE constexpr stl::uint32_t either(bool yes, stl::uint32_t a, stl::uint32_t b) {
  return (a & (0u - static_cast<stl::uint32_t>(yes))) | (b & (static_cast<stl::uint32_t>(yes) - 1u));
}

/// A double as a float that is odd wherever it is inexact: a later rounding to fewer than 23 bits is then the only
/// one.
TALLY_HD constexpr float rounded_to_odd(double x) {
  double const size = x < 0 ? -x : x;
  if (!(size < 0x1.fffffep127))
    return x < 0 ? float_of(0xff800000u) : size == size ? float_of(0x7f800000u) : float_of(canonical_nan);
  float const near = static_cast<float>(x);
  double const near_size = near < 0 ? -static_cast<double>(near) : static_cast<double>(near);
  stl::uint32_t const bits = float_bits(near);
  if (near_size == size || (bits & 1u) != 0u) return near;
  return float_of(near_size > size ? bits - 1u : bits + 1u);
}

/// An integer as such a float; sign and magnitude come apart so that the most negative value is no special case.
template <class Integer>
TALLY_HD constexpr float whole_to_odd(Integer value) {
#if defined(__CUDA_ARCH__)
  if (!__builtin_is_constant_evaluated()) { // what was cut off shows in the last bit
    using wide = stl::conditional_t<stl::signed_integral<Integer>, long long, unsigned long long>;
    float cut;
    if constexpr (stl::signed_integral<Integer>)
      asm("cvt.rz.f32.s64 %0, %1;" : "=f"(cut) : "l"(static_cast<wide>(value)));
    else
      asm("cvt.rz.f32.u64 %0, %1;" : "=f"(cut) : "l"(static_cast<wide>(value)));
    return float_of(float_bits(cut) | static_cast<stl::uint32_t>(static_cast<wide>(cut) != static_cast<wide>(value)));
  }
#endif
  bool negative = false;
  if constexpr (stl::signed_integral<Integer>) negative = value < 0;
  stl::uint64_t const wide = static_cast<stl::uint64_t>(value);
  stl::uint64_t const size = negative ? 0u - wide : wide;
  stl::uint64_t const kept =
      size >> 53 == 0 ? size : (size & ~0x7ffull) | ((size & 0x7ffull) != 0 ? 0x800ull : 0ull);
  double const value_to_odd = static_cast<double>(kept);
  return rounded_to_odd(negative ? -value_to_odd : value_to_odd);
}

TALLY_INLINE constexpr stl::uint16_t f16_bits_by_integers(float x) {
  stl::uint32_t const bits = float_bits(x);
  stl::uint32_t const size = bits & 0x7fffffffu;
  stl::uint32_t const normal = (size - 0x38000000u + 0xfffu + ((size >> 13) & 1u)) >> 13;
  // The unit of 0.5f is the smallest f16, so this addition rounds a denormal result.
  stl::uint32_t const denormal =
      float_bits(float_of(either(size < 0x38800000u, size, 0u)) + 0.5f) - float_bits(0.5f);
  stl::uint32_t const finite = either(size < 0x38800000u, denormal, normal);
  stl::uint32_t const signed_result = either(size < 0x47800000u, finite, 0x7c00u) | ((bits >> 16) & 0x8000u);
  return static_cast<stl::uint16_t>(either(size > 0x7f800000u, 0x7e00u, signed_result));
}

TALLY_INLINE constexpr float f16_value_by_integers(stl::uint16_t half) {
  stl::uint32_t const size = half & 0x7fffu;
  stl::uint32_t const finite = float_bits(float_of(size << 13) * 0x1p112f);
  stl::uint32_t const value = either(size < 0x7c00u, finite, 0x7f800000u);
  stl::uint32_t const sign = static_cast<stl::uint32_t>(half & 0x8000u) << 16;
  return float_of(either(size > 0x7c00u, nan_of_gpu, value | sign));
}

TALLY_INLINE constexpr stl::uint16_t bf16_bits_by_integers(float x) {
  stl::uint32_t const bits = float_bits(x);
  stl::uint32_t const rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  return static_cast<stl::uint16_t>(either((bits & 0x7fffffffu) > 0x7f800000u, 0x7fc0u, rounded));
}

TALLY_INLINE constexpr stl::uint16_t f16_bits(float x) {
#if defined(__CUDA_ARCH__)
  if (!__builtin_is_constant_evaluated()) {
    stl::uint16_t half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(x));
    return x == x ? half : stl::uint16_t{0x7e00};
  }
#endif
  return f16_bits_by_integers(x);
}

TALLY_INLINE constexpr float f16_value(stl::uint16_t half) {
#if defined(__CUDA_ARCH__)
  if (!__builtin_is_constant_evaluated()) {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(half));
    return x;
  }
#endif
  return f16_value_by_integers(half);
}

TALLY_INLINE constexpr stl::uint16_t bf16_bits(float x) {
#if defined(__CUDA_ARCH__)
  if (!__builtin_is_constant_evaluated()) {
    stl::uint16_t half;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(half) : "f"(x));
    return x == x ? half : stl::uint16_t{0x7fc0};
  }
#endif
  return bf16_bits_by_integers(x);
}

TALLY_INLINE constexpr float bf16_value(stl::uint16_t half) {
#if defined(__CUDA_ARCH__)
  if (!__builtin_is_constant_evaluated()) { // halves of one register, put into their places by one instruction
    float x;
    asm("{.reg .b16 low;\nmov.b16 low, 0;\nmov.b32 %0, {low, %1};}" : "=f"(x) : "h"(half));
    return x;
  }
#endif
  return float_of(static_cast<stl::uint32_t>(half) << 16);
}

} // namespace detail

/// IEEE binary16: 11 significant bits, 2^-24 .. 65504; computes in float.
struct f16 {
  stl::uint16_t bits;

  f16() = default;
  /// Rounds to nearest even; 65520 and above become infinite.
  TALLY_INLINE explicit constexpr f16(float x) : bits(detail::f16_bits(x)) {}
  /// Rounds once, not through float.
  TALLY_HD explicit constexpr f16(double x) : bits(detail::f16_bits(detail::rounded_to_odd(x))) {}
  /// Rounds once.
  template <stl::integral Integer>
  TALLY_HD explicit constexpr f16(Integer x) : bits(detail::f16_bits(detail::whole_to_odd(x))) {}

  /// The value with these 16 bits.
  TALLY_INLINE static constexpr f16 from_bits(stl::uint16_t pattern) {
    f16 x{0.0f};
    x.bits = pattern;
    return x;
  }
  /// Exact; every NaN becomes the same.
  TALLY_INLINE constexpr operator float() const { return detail::f16_value(bits); }
};

/// The upper half of a float: 8 significant bits, the range of float; computes in float.
struct bf16 {
  stl::uint16_t bits;

  bf16() = default;
  /// Rounds to nearest even.
  TALLY_INLINE explicit constexpr bf16(float x) : bits(detail::bf16_bits(x)) {}
  /// Rounds once, not through float.
  TALLY_HD explicit constexpr bf16(double x) : bits(detail::bf16_bits(detail::rounded_to_odd(x))) {}
  /// Rounds once.
  template <stl::integral Integer>
  TALLY_HD explicit constexpr bf16(Integer x) : bits(detail::bf16_bits(detail::whole_to_odd(x))) {}

  /// The value with these 16 bits.
  TALLY_INLINE static constexpr bf16 from_bits(stl::uint16_t pattern) {
    bf16 x{0.0f};
    x.bits = pattern;
    return x;
  }
  /// Exact, bit by bit.
  TALLY_INLINE constexpr operator float() const { return detail::bf16_value(bits); }
};

} // namespace tally::v0
