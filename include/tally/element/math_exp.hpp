// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The exponential family: exp, exp2, expm1, sinh, cosh, tanh, sigmoid. Layer 1.
//
// x = k ln 2 + r with |r| <= ln 2 / 2; e^r is 1 + r + r^2/2 + r^3 P(r), P minimax; the power of two goes in by two
// exact scalings, so that overflow and denormals round once. No branches; float stays in float, and its exp is 18 instructions
// on a GPU.
#pragma once

#include <tally/base/config.hpp>
#include <tally/base/stl.hpp>
#include <tally/element/math_exact.hpp>

namespace tally::v0::math {

namespace detail {

/// The larger of x and low; low for a NaN.
TALLY_INLINE constexpr float clamped_below(float x, float low) {
#if defined(__CUDA_ARCH__)
  if (!__builtin_is_constant_evaluated()) return ::fmaxf(x, low);
#endif
  return either(x > low, x, low);
}
TALLY_INLINE constexpr double clamped_below(double x, double low) { return either(x > low, x, low); }
/// x, moved into [low, high]; a NaN becomes a bound, or stays one.
TALLY_INLINE constexpr float clamped(float x, float low, float high) {
#if defined(__CUDA_ARCH__)
  if (!__builtin_is_constant_evaluated()) {
    float inside;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(inside) : "f"(x), "f"(high));
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(inside) : "f"(inside), "f"(low));
    return inside;
  }
#endif
  return clamped_below(either(x < high, x, high), low);
}
TALLY_INLINE constexpr double clamped(double x, double low, double high) {
  return clamped_below(either(x < high, x, high), low);
}

/// A power whose exponent was clamped(x, ...), or the one NaN where x is a NaN. A GPU's NaN came through, and has the largest
/// bits of all that are not negative.
TALLY_INLINE constexpr float power_unless_nan(float x, float power) {
#if defined(__CUDA_ARCH__)
  if (!__builtin_is_constant_evaluated()) {
    auto const bits = bits_of(power);
    return from_bits(bits < layout<float>::quiet_nan ? bits : layout<float>::quiet_nan);
  }
#endif
  return unless_nan(x, power);
}

/// A whole number k near x, and the word k + 2 bias in its low bits: the exponent fields of two powers of two whose
/// product is 2^k, once halved.
template <class T>
struct whole_part {
  T value;
  word_of<T> doubled_field;
};
/// For factor * x.
template <class T>
TALLY_INLINE constexpr whole_part<T> whole_part_of(T x, T factor) {
  constexpr T rounder = layout<T>::rounder + T(2 * layout<T>::bias);
  T const shifted = fma(x, factor, rounder);
  return {shifted - rounder, bits_of(shifted)};
}
/// x 2^k for such a word, rounded once; what lies above the field in the word falls out.
template <class T>
TALLY_INLINE constexpr T scaled_by_field(T x, word_of<T> doubled_field) {
  constexpr word_of<T> fraction = (word_of<T>{1} << layout<T>::fraction_bits) - 1;
  word_of<T> const halved = static_cast<word_of<T>>(doubled_field << (layout<T>::fraction_bits - 1));
  word_of<T> const half = halved & ~fraction;
  return x * from_bits(half) * from_bits(static_cast<word_of<T>>(halved + halved - half));
}

/// (e^r - 1 - r) / r^2 = 1/2 + r P(r); error 2^-28 and 2^-57 of e^r.
TALLY_INLINE constexpr float exp_tail(float r) {
  return polynomial(r, 0.5f, 0x1.555492p-3f, 0x1.5554cp-5f, 0x1.123ap-7f, 0x1.6d7af2p-10f);
}
TALLY_INLINE constexpr double exp_tail(double r) {
  return polynomial(r, 0.5, 0x1.555555555555cp-3, 0x1.5555555553168p-5, 0x1.111111110e58bp-7, 0x1.6c16c17cf51b3p-10,
                    0x1.a01a01b66cd30p-13, 0x1.a019aa926e3fdp-16, 0x1.71dde8919f151p-19, 0x1.28a022245e3c6p-22,
                    0x1.af79148fb9091p-26);
}

/// What e^(high + low) has beyond 1 + high, for |high| <= 0.35 and a small low.
template <class T>
TALLY_INLINE constexpr T exp_rest(T high, T low) {
  T const r = high + low;
  return fma(r * r, exp_tail(r), low);
}
TALLY_INLINE constexpr double exp_of_small(double high, double low) {
  pair_sum<double> const lead = ordered_sum(1.0, high);
  return lead.high + (lead.low + exp_rest(high, low));
}
/// e^r for |r| <= 0.35, with one rounding of r left in.
TALLY_INLINE constexpr float exp_of_small(float r) { return fma(r, fma(r, exp_tail(r), 1.0f), 1.0f); }

/// ln 2 as a sum, the first of few enough bits that its products with k are exact.
template <class T>
inline constexpr pair_sum<T> ln_two{};
template <>
inline constexpr pair_sum<float> ln_two<float>{0x1.62e4p-1f, 0x1.7f7d1cp-20f};
template <>
inline constexpr pair_sum<double> ln_two<double>{0x1.62e42fefa38p-1, 0x1.ef35793c7673p-45};

/// x less the nearest multiple k of ln 2.
template <class T>
struct reduced_exponent {
  T high;
  T k;
  word_of<T> doubled_field;
  TALLY_INLINE constexpr T low() const { return k * -ln_two<T>.low; }
  TALLY_INLINE constexpr T sum() const { return fma(k, -ln_two<T>.low, high); }
};
template <class T>
TALLY_INLINE constexpr reduced_exponent<T> reduce_exponent(T x) {
  whole_part<T> const k = whole_part_of(x, T(0x1.71547652b82fep+0));
  return {fma(k.value, -ln_two<T>.high, x), k.value, k.doubled_field};
}

/// 2^shift e^x, anything for a NaN.
TALLY_INLINE constexpr float scaled_exp(float x, stl::uint32_t shift) {
  reduced_exponent<float> const r = reduce_exponent(clamped(x, -105.0f, 90.0f));
  return scaled_by_field(exp_of_small(r.sum()), r.doubled_field + shift);
}
TALLY_INLINE constexpr double scaled_exp(double x, stl::uint64_t shift) {
  reduced_exponent<double> const r = reduce_exponent(clamped(x, -747.0, 712.0));
  return scaled_by_field(exp_of_small(r.high, r.low()), r.doubled_field + shift);
}

/// e^-|x| as a weight of what is added to one or more: beyond 86 (double: 700) it stays where it is, for a NaN too, which
/// changes no such sum. The exponent field takes the power of two by an addition.
template <class T>
TALLY_INLINE constexpr T weight_at_distance(T x) {
  T const below = clamped_below(-magnitude_of(x), sizeof(T) == sizeof(float) ? T(-86) : T(-700));
  T const shifted = fma(below, T(0x1.71547652b82fep+0), layout<T>::rounder);
  T const k = shifted - layout<T>::rounder;
  T const high = fma(k, -ln_two<T>.high, below);
  T unscaled;
  if constexpr (sizeof(T) == sizeof(float))
    unscaled = exp_of_small(fma(k, -ln_two<T>.low, high));
  else
    unscaled = exp_of_small(high, k * -ln_two<T>.low);
  return from_bits(static_cast<word_of<T>>(bits_of(unscaled) + (bits_of(shifted) << layout<T>::fraction_bits)));
}

/// Odd polynomials of the hyperbolic functions near zero.
TALLY_INLINE constexpr double sinh_below_one(double x) {
  double const z = x * x;
  return fma(x * z,
             polynomial(z, 0x1.5555555555556p-3, 0x1.11111111110a1p-7, 0x1.a01a01a0291fap-13, 0x1.71de3a45f72a0p-19,
                        0x1.ae64676686fffp-26, 0x1.611a3a20fa21cp-33, 0x1.b4cf789d04909p-41),
             x);
}
TALLY_INLINE constexpr float tanh_near_zero(float x) {
  float const z = x * x;
  return fma(x * z, polynomial(z, -0x1.55554ap-2f, 0x1.110ddap-3f, -0x1.b98108p-5f, 0x1.5f9082p-6f, -0x1.f662fep-8f, 0x1.c8975p-10f),
             x);
}
TALLY_INLINE constexpr double tanh_near_zero(double x) {
  double const z = x * x;
  return fma(x * z,
             polynomial(z, -0x1.555555555554cp-2, 0x1.111111111032fp-3, -0x1.ba1ba1b93c2e3p-5, 0x1.664f484aa1454p-6,
                        -0x1.226e2d296f205p-7, 0x1.d6d24d47f6757p-9, -0x1.7d8bda02306f7p-10, 0x1.3462b5e61630cp-11,
                        -0x1.e81de4cebcde7p-13, 0x1.59a61727b7085p-14, -0x1.3d9f4eba2a56ep-16),
             x);
}
template <class T>
TALLY_INLINE constexpr T tanh(T x) {
  T const size = magnitude_of(x);
  T const edge = sizeof(T) == sizeof(float) ? T(0.75) : T(0.5625);
  T const far = T(1) - T(2) / (scaled_exp(T(2) * size, 0) + T(1));
  return unless_nan(x, with_sign_of(either(size < edge, tanh_near_zero(size), far), x));
}

/// s / (1 + s) or 1 / (1 + s) with s = e^-|x|; what s and 1 + s lost by rounding is put back, to first order.
template <class T>
TALLY_INLINE constexpr T sigmoid(T x) {
  bool const negative = x < T(0);
  reduced_exponent<T> const r =
      reduce_exponent(clamped(-magnitude_of(x), T(sizeof(T) == sizeof(float) ? -105 : -747), T(0)));
  pair_sum<T> const lead = ordered_sum(T(1), r.high);
  pair_sum<T> const p = ordered_sum(lead.high, lead.low + exp_rest(r.high, r.low()));
  T const s = scaled_by_field(p.high, r.doubled_field);
  pair_sum<T> const whole = ordered_sum(T(1), s);
  T const first = either(negative, s, T(1)) / whole.high;
  T const inverse = either(negative, T(1) - first, first);
  T const lost = whole.low + scaled_by_field(p.low, r.doubled_field);
  T const kept = either(negative, p.low * (T(2) - p.high), T(0));
  return unless_nan(x, fma(first, fma(-lost, inverse, kept), first));
}

} // namespace detail

/// e^x.
TALLY_INLINE constexpr float exp(float x) { return detail::power_unless_nan(x, detail::scaled_exp(x, 0)); }
TALLY_INLINE constexpr double exp(double x) { return detail::unless_nan(x, detail::scaled_exp(x, 0)); }

/// 2^x; exact for whole x.
TALLY_INLINE constexpr float exp2(float x) {
  float const t = detail::clamped(x, -152.0f, 130.0f);
  detail::whole_part<float> const k = detail::whole_part_of(t, 1.0f);
  float const small = detail::polynomial(t - k.value, 1.0f, 0x1.62e43p-1f, 0x1.ebfbep-3f, 0x1.c6af8ap-5f, 0x1.3b2a2ep-7f,
                                         0x1.5f0414p-10f, 0x1.44451ap-13f);
  return detail::power_unless_nan(x, detail::scaled_by_field(small, k.doubled_field));
}
TALLY_INLINE constexpr double exp2(double x) {
  double const t = detail::clamped(x, -1077.0, 1026.0);
  detail::whole_part<double> const k = detail::whole_part_of(t, 1.0);
  double const r = t - k.value;
  detail::pair_sum<double> const s = detail::exact_product(r, 0x1.62e42fefa39efp-1);
  double const low = detail::fma(r, 0x1.abc9e3b39803fp-56, s.low);
  return detail::unless_nan(x, detail::scaled_by_field(detail::exp_of_small(s.high, low), k.doubled_field));
}

/// e^x - 1, accurate near zero.
TALLY_INLINE constexpr double expm1(double x) {
  using namespace detail;
  reduced_exponent<double> const r = reduce_exponent(clamped(x, -50.0, 712.0));
  // 2^-k, or nothing where that is far below the last bit.
  stl::uint64_t const field = 3 * layout<double>::bias - r.doubled_field;
  double const unit = either(x < 700, from_bits(static_cast<stl::uint64_t>(field << 52)), 0.0);
  pair_sum<double> const lead = ordered_sum(1.0 - unit, r.high);
  double const result = scaled_by_field(lead.high + (lead.low + exp_rest(r.high, r.low())), r.doubled_field);
  return either(x == 0, x, unless_nan(x, result));
}
TALLY_INLINE constexpr float expm1(float x) { return detail::narrowed(expm1(static_cast<double>(x))); }

/// (e^x - e^-x) / 2.
TALLY_INLINE constexpr double sinh(double x) {
  double const size = detail::magnitude_of(x);
  double const half = detail::scaled_exp(size, ~stl::uint64_t{0});
  double const result = detail::either(size < 1, detail::sinh_below_one(size), half - 0.25 / half);
  return detail::unless_nan(x, detail::with_sign_of(result, x));
}
TALLY_INLINE constexpr float sinh(float x) { return detail::narrowed(sinh(static_cast<double>(x))); }

/// (e^x + e^-x) / 2.
TALLY_INLINE constexpr double cosh(double x) {
  double const half = detail::scaled_exp(detail::magnitude_of(x), ~stl::uint64_t{0});
  return detail::unless_nan(x, half + 0.25 / half);
}
TALLY_INLINE constexpr float cosh(float x) { return detail::narrowed(cosh(static_cast<double>(x))); }

/// (e^x - e^-x) / (e^x + e^-x).
TALLY_INLINE constexpr float tanh(float x) { return detail::tanh(x); }
TALLY_INLINE constexpr double tanh(double x) { return detail::tanh(x); }

/// 1 / (1 + e^-x).
TALLY_INLINE constexpr float sigmoid(float x) { return detail::sigmoid(x); }
TALLY_INLINE constexpr double sigmoid(double x) { return detail::sigmoid(x); }

} // namespace tally::v0::math
