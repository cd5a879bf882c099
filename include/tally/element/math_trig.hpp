// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sin, cos, tan for every finite argument, however large. Layer 1.
//
// x = n pi/2 + r, |r| <= pi/4, with r as a pair of doubles: below 2^20 quarter turns by subtracting n times pi/2 in
// four parts, beyond by an integer product with the bits of 2/pi that matter (Payne and Hanek). Float goes through
// double.
#pragma once

#include <tally/base/config.hpp>
#include <tally/base/stl.hpp>
#include <tally/element/math_exact.hpp>

namespace tally::v0::math {

namespace detail {

/// n mod 4 quarter turns and what is left of the angle.
struct reduced_angle {
  stl::uint32_t quarter;
  pair_sum<double> rest;
};

/// For |x| < 2^20 pi/2: the first three parts of pi/2 have 33 bits, so their products with n are exact.
TALLY_INLINE constexpr reduced_angle reduce_small_angle(double x) {
  double const shifted = fma(x, 0x1.45f306dc9c883p-1, layout<double>::rounder);
  double const n = shifted - layout<double>::rounder;
  pair_sum<double> const first = exact_sum(fma(n, -0x1.921fb544p+0, x), n * -0x1.0b4611a6p-34);
  pair_sum<double> const second = exact_sum(first.high, n * -0x1.3198a2ep-69);
  pair_sum<double> const rest = ordered_sum(second.high, first.low + fma(n, -0x1.b839a252049c1p-104, second.low));
  return {static_cast<stl::uint32_t>(bits_of(shifted)) & 3u, rest};
}

/// 192 bits of 4 x / (2 pi) mod 4, the first two before the binary point, the highest word first.
struct turn_bits {
  stl::uint32_t word[6];
};
TALLY_HD constexpr turn_bits bits_of_turns(double x) {
  // 2/pi in binary, behind 64 zeros.
  constexpr stl::uint32_t two_over_pi[40] = {
      0x00000000u, 0x00000000u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u,
      0xfe5163abu, 0xdebbc561u, 0xb7246e3au, 0x424dd2e0u, 0x06492eeau, 0x09d1921cu, 0xfe1deb1cu, 0xb129a73eu,
      0xe88235f5u, 0x2ebb4484u, 0xe99c7026u, 0xb45f7e41u, 0x3991d639u, 0x835339f4u, 0x9c845f8bu, 0xbdf9283bu,
      0x1ff897ffu, 0xde05980fu, 0xef2f118bu, 0x5a0a6d1fu, 0x6d367ecfu, 0x27cb09b7u, 0x4f463f66u, 0x9e5fea2du,
      0x7527bac7u, 0xebe5f17bu, 0x3d0739f7u, 0x8a5292eau, 0x6bfb5fb1u, 0x1f8d5d08u, 0x56033046u, 0xfc7b6babu};
  stl::uint64_t const bits = bits_of(x);
  stl::uint64_t const significand = (bits & 0xfffffffffffffull) | 0x10000000000000ull;
  // x = significand 2^e with e = field - 1075; the bits of 2/pi above weight 2^(2 - e) give whole turns.
  stl::uint32_t const start = static_cast<stl::uint32_t>((bits >> 52) & 0x7ffu) - 1075u + 62u;
  stl::uint32_t const index = start >> 5, shift = start & 31u;
  turn_bits turns{};
  stl::uint64_t carry_low = 0, carry_high = 0;
  stl::uint64_t const m_low = significand & 0xffffffffu, m_high = significand >> 32;
  stl::uint64_t below = 0; // the next lower word of the window
  for (int i = 5; i >= 0; --i) {
    stl::uint32_t const at = index + static_cast<stl::uint32_t>(i);
    stl::uint64_t const two = (static_cast<stl::uint64_t>(two_over_pi[at]) << 32) | two_over_pi[at + 1];
    stl::uint64_t const word = ((two << shift) >> 32) & 0xffffffffu;
    carry_low += word * m_low;
    carry_high += below * m_high;
    stl::uint64_t const sum = (carry_low & 0xffffffffu) + (carry_high & 0xffffffffu);
    turns.word[i] = static_cast<stl::uint32_t>(sum);
    carry_low = (carry_low >> 32) + (sum >> 32);
    carry_high >>= 32;
    below = word;
  }
  return turns;
}

/// For |x| >= 2^20 pi/2, finite.
TALLY_HD constexpr reduced_angle reduce_large_angle(double x) {
  turn_bits turns = bits_of_turns(x);
  stl::uint32_t const top = turns.word[0];
  bool const upper_half = (top & 0x20000000u) != 0;
  stl::uint32_t const quarter = (top >> 30) + (upper_half ? 1u : 0u);
  // The fraction, or one less it, so that it is at most a half; bits that are left out are worth 2^-137.
  turns.word[0] = (upper_half ? ~top : top) & 0x3fffffffu;
  double unit = 0x1p-190;
  pair_sum<double> fraction{0.0, 0.0};
  for (int i = 5; i >= 0; --i) {
    stl::uint32_t const word = upper_half && i != 0 ? ~turns.word[i] : turns.word[i];
    pair_sum<double> const sum = exact_sum(static_cast<double>(word) * unit, fraction.high);
    fraction = {sum.high, fraction.low + sum.low};
    unit *= 0x1p32;
  }
  pair_sum<double> const rest = product(normalised(fraction), {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54});
  bool const negative = upper_half != (x < 0);
  return {(x < 0 ? 0u - quarter : quarter) & 3u, {negative ? -rest.high : rest.high, negative ? -rest.low : rest.low}};
}

TALLY_INLINE constexpr reduced_angle reduce_angle(double x) {
  double const size = magnitude_of(x);
  if (size < 0x1.921fb54442d18p-1) return {0u, {x, 0.0}};
  if (size < 0x1.921fbp+20) return reduce_small_angle(x);
  return reduce_large_angle(size < infinity<double>() ? x : 0x1p1000);
}

/// sin and cos of |r| <= pi/4 as sums of two, the second not small; the errors are below 2^-57 of the value.
TALLY_INLINE constexpr pair_sum<double> sin_near_zero(pair_sum<double> r) {
  double const z = r.high * r.high;
  double const tail = r.high * z *
                      polynomial(z, -0x1.5555555555549p-3, 0x1.111111110f889p-7, -0x1.a01a019c13515p-13,
                                 0x1.71de35790f1ddp-19, -0x1.ae5e672ff14b4p-26, 0x1.5d93426a6c93bp-33);
  return {r.high, fma(-0.5 * z, r.low, r.low) + tail};
}
TALLY_INLINE constexpr pair_sum<double> cos_near_zero(pair_sum<double> r) {
  double const z = r.high * r.high;
  pair_sum<double> const lead = ordered_sum(1.0, -0.5 * z);
  double const tail = z * z *
                      polynomial(z, 0x1.555555555554cp-5, -0x1.6c16c16c15185p-10, 0x1.a01a019cb281ep-16,
                                 -0x1.27e4f80a7f686p-22, 0x1.1ee9ec4b5383dp-29, -0x1.8faecffbd377bp-37);
  return {lead.high, lead.low + fma(-r.high, r.low, tail)};
}

TALLY_INLINE constexpr double sin_in_quarter(reduced_angle angle) {
  pair_sum<double> const value = (angle.quarter & 1u) != 0 ? cos_near_zero(angle.rest) : sin_near_zero(angle.rest);
  double const sum = value.high + value.low;
  return (angle.quarter & 2u) != 0 ? -sum : sum;
}

/// Below this x, sin and tan are x to half a unit, and a zero keeps its sign.
inline constexpr double tiny_angle = 0x1p-27;

} // namespace detail

/// The sine of x radians; NaN for an infinite x.
TALLY_INLINE constexpr double sin(double x) {
  if (!(abs(x) < detail::infinity<double>())) return detail::quiet_nan<double>();
  if (abs(x) < detail::tiny_angle) return x;
  return detail::sin_in_quarter(detail::reduce_angle(x));
}
TALLY_INLINE constexpr float sin(float x) { return detail::narrowed(sin(static_cast<double>(x))); }

/// The cosine of x radians; NaN for an infinite x.
TALLY_INLINE constexpr double cos(double x) {
  if (!(abs(x) < detail::infinity<double>())) return detail::quiet_nan<double>();
  detail::reduced_angle angle = detail::reduce_angle(x);
  angle.quarter += 1u;
  return detail::sin_in_quarter(angle);
}
TALLY_INLINE constexpr float cos(float x) { return detail::narrowed(cos(static_cast<double>(x))); }

/// The tangent of x radians; NaN for an infinite x.
TALLY_INLINE constexpr double tan(double x) {
  if (!(abs(x) < detail::infinity<double>())) return detail::quiet_nan<double>();
  if (abs(x) < detail::tiny_angle) return x;
  detail::reduced_angle const angle = detail::reduce_angle(x);
  detail::pair_sum<double> const s = detail::normalised(detail::sin_near_zero(angle.rest));
  detail::pair_sum<double> const c = detail::normalised(detail::cos_near_zero(angle.rest));
  bool const odd = (angle.quarter & 1u) != 0;
  detail::pair_sum<double> const ratio = odd ? detail::quotient(c, s) : detail::quotient(s, c);
  return odd ? -(ratio.high + ratio.low) : ratio.high + ratio.low;
}
TALLY_INLINE constexpr float tan(float x) { return detail::narrowed(tan(static_cast<double>(x))); }

} // namespace tally::v0::math
