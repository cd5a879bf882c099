// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The inverse circular functions: asin, acos, atan, atan2. Layer 1.
//
// Each ends in an odd polynomial on a short interval, added to a multiple of pi/4 that is kept as a pair of
// doubles; what the square root and the quotient lose by rounding is recovered. Float goes through double.
#pragma once

#include <tally/base/config.hpp>
#include <tally/base/stl.hpp>
#include <tally/element/math_exact.hpp>

namespace tally::v0::math {

namespace detail {

inline constexpr double quarter_pi = 0x1.921fb54442d18p-1;
inline constexpr double quarter_pi_rest = 0x1.1a62633145c07p-55;

/// (asin(s) / s - 1) for s^2 = z <= 1/4.
TALLY_INLINE constexpr double asin_tail(double z) {
  return z * polynomial(z, 0x1.5555555555578p-3, 0x1.333333332df7ep-4, 0x1.6db6db72260cap-5, 0x1.f1c71a8dc38d3p-6,
                        0x1.6e8bdfa65dbd7p-6, 0x1.1c49e2bcdb1f3p-6, 0x1.ca20cdec17200p-7, 0x1.757b7b22ff568p-7,
                        0x1.6173edeedb082p-7, 0x1.e2bee01e6ba3dp-9, 0x1.649298084aac8p-6, -0x1.59546588baf22p-6,
                        0x1.0bb05b504fa2fp-5);
}
/// (atan(q) / q - 1) for q^2 = z <= 0.1716.
TALLY_INLINE constexpr double atan_tail(double z) {
  return z * polynomial(z, -0x1.555555555553dp-2, 0x1.99999999958f4p-3, -0x1.24924922b1593p-3, 0x1.c71c70e7b92c7p-4,
                        -0x1.745cf90dc37cdp-4, 0x1.3b111c9558fc3p-4, -0x1.10ebdfd91b3a4p-4, 0x1.df1188c908671p-5,
                        -0x1.9cdcc068322f8p-5, 0x1.37eecedceccf2p-5, -0x1.25a0c3ced3a54p-6);
}

/// asin |x| is short + long_part or pi/2 - 2 (short + long_part): the first below a half, the second from there.
TALLY_INLINE constexpr pair_sum<double> asin_reduced(double size) {
  double const z = either(size < 0.5, size * size, 0.5 * (1.0 - size));
  double const root = either(size < 0.5, size, sqrt(z));
  pair_sum<double> const square = exact_product(root, root);
  double const divisor = either(root == 0, 1.0, root + root);
  double const lost = either(size < 0.5, 0.0, ((z - square.high) - square.low) / divisor);
  return {root, fma(root, asin_tail(z), lost)};
}

/// atan(n / d) for n >= 0, d > 0, both far from overflow and underflow.
TALLY_INLINE constexpr pair_sum<double> atan_of_ratio(double n, double d) {
  bool const small = n < 0x1.a827999fcef32p-2 * d; // below tan(pi/8)
  bool const large = n > 0x1.3504f333f9de6p+1 * d;
  double const turns = either(small, 0.0, either(large, 2.0, 1.0));
  pair_sum<double> const difference = exact_sum(n, -d), sum = exact_sum(n, d);
  pair_sum<double> const above{either(small, n, either(large, -d, difference.high)),
                               either(turns == 1, difference.low, 0.0)};
  pair_sum<double> const below{either(small, d, either(large, n, sum.high)), either(turns == 1, sum.low, 0.0)};
  pair_sum<double> const q = quotient(above, below);
  pair_sum<double> const lead = ordered_sum(turns * quarter_pi, q.high);
  double const tail = q.high * atan_tail(q.high * q.high);
  return normalised(pair_sum<double>{lead.high, lead.low + fma(turns, quarter_pi_rest, q.low + tail)});
}

/// A non-negative x as a number in [1, 2) and a power of two; zero and infinity get powers beyond all others.
struct normal_form {
  double significand;
  int exponent;
};
TALLY_INLINE constexpr normal_form normal_form_of(double x) {
  if (x == 0) return {1.0, -9000};
  if (!(x < infinity<double>())) return {1.0, 9000};
  bool const denormal = x < 0x1p-1022;
  stl::uint64_t const bits = bits_of(denormal ? x * 0x1p54 : x);
  int const exponent = static_cast<int>(bits >> 52) - 1023 - (denormal ? 54 : 0);
  return {from_bits((bits & stl::uint64_t{0xfffffffffffff}) | stl::uint64_t{0x3ff0000000000000}), exponent};
}

} // namespace detail

/// The angle in [-pi/2, pi/2] whose sine is x; NaN for |x| > 1.
TALLY_INLINE constexpr double asin(double x) {
  using namespace detail;
  double const size = magnitude_of(x);
  pair_sum<double> const r = asin_reduced(size);
  pair_sum<double> const lead = ordered_sum(2.0 * quarter_pi, -2.0 * r.high);
  double const far = lead.high + fma(2.0, quarter_pi_rest - r.low, lead.low);
  double const result = with_sign_of(either(size < 0.5, r.high + r.low, far), x);
  return either(size <= 1, result, quiet_nan<double>());
}
TALLY_INLINE constexpr float asin(float x) { return detail::narrowed(asin(static_cast<double>(x))); }

/// The angle in [0, pi] whose cosine is x; NaN for |x| > 1.
TALLY_INLINE constexpr double acos(double x) {
  using namespace detail;
  double const size = magnitude_of(x);
  pair_sum<double> const r = asin_reduced(size);
  // acos x = turns pi/4 + factor asin-part, with the signs of the four quarters.
  double const turns = either(size < 0.5, 2.0, either(x < 0, 4.0, 0.0));
  double const factor = either(size < 0.5, -1.0, 2.0) * either(x < 0, -1.0, 1.0);
  pair_sum<double> const lead = ordered_sum(turns * quarter_pi, factor * r.high);
  double const result = lead.high + (lead.low + fma(turns, quarter_pi_rest, factor * r.low));
  return either(size <= 1, result, quiet_nan<double>());
}
TALLY_INLINE constexpr float acos(float x) { return detail::narrowed(acos(static_cast<double>(x))); }

/// The angle in [-pi/2, pi/2] whose tangent is x.
TALLY_INLINE constexpr double atan(double x) {
  using namespace detail;
  double const size = magnitude_of(x);
  pair_sum<double> const angle = atan_of_ratio(either(size > 0x1p64, 0x1p64, size), 1.0);
  double const result = either(size < 0x1p-27, size, angle.high + angle.low);
  return unless_nan(x, with_sign_of(result, x));
}
TALLY_INLINE constexpr float atan(float x) { return detail::narrowed(atan(static_cast<double>(x))); }

/// The angle in [-pi, pi] of the point (x, y), zeros and infinities as IEEE 754 has them.
TALLY_INLINE constexpr double atan2(double y, double x) {
  using namespace detail;
  if (x != x || y != y) return quiet_nan<double>();
  normal_form const n = normal_form_of(magnitude_of(y)), d = normal_form_of(magnitude_of(x));
  int const power = n.significand == 1 && n.exponent == -9000 ? -9000 : n.exponent - d.exponent;
  int const kept = power > 70 ? 70 : power < -70 ? -70 : power;
  pair_sum<double> const near =
      atan_of_ratio(scaled(n.significand, static_cast<stl::uint64_t>(kept)), d.significand);
  bool const left = (bits_of(x) >> 63) != 0;
  if (left) {
    pair_sum<double> const lead = ordered_sum(4.0 * quarter_pi, -near.high);
    return with_sign_of(lead.high + (lead.low + fma(4.0, quarter_pi_rest, -near.low)), y);
  }
  int const rest = power > 70 ? 0 : power - kept < -1500 ? -1500 : power - kept;
  return with_sign_of(scaled(near.high + near.low, static_cast<stl::uint64_t>(rest)), y);
}
TALLY_INLINE constexpr float atan2(float y, float x) {
  return detail::narrowed(atan2(static_cast<double>(y), static_cast<double>(x)));
}

} // namespace tally::v0::math
