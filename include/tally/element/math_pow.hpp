// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// pow, cbrt, hypot. Layer 1.
//
// pow is e^(y log x) with the logarithm as a pair of doubles good to 2^-65, so that the largest product still
// leaves less than a unit of error. Float goes through double, where a plain logarithm is enough.
#pragma once

#include <tally/base/config.hpp>
#include <tally/base/stl.hpp>
#include <tally/element/math_exact.hpp>
#include <tally/element/math_exp.hpp>
#include <tally/element/math_log.hpp>
#include <tally/element/math_round.hpp>

namespace tally::v0::math {

namespace detail {

/// log x for positive finite x, as a pair.
TALLY_INLINE constexpr pair_sum<double> log_pair(double x) {
  binary_form<double> const b = binary_form_of(x);
  pair_sum<double> const s = quotient({b.fraction, 0.0}, exact_sum(2.0, b.fraction));
  pair_sum<double> const z = product(s, s);
  // 2 atanh(s) = 2 s + s^3 (2/3 + z P(z)); only the first terms need both halves.
  double const on =
      z.high * polynomial(z.high, 0x1.9999999999b2fp-2, 0x1.2492492457eaap-2, 0x1.c71c722d4d49bp-3,
                          0x1.745ce9eac0825p-3, 0x1.3b1eeae32d7d3p-3, 0x1.0f800135044f0p-3, 0x1.0e41ea2aa27e0p-3);
  pair_sum<double> const factor = ordered_sum(0x1.5555555555555p-1, on);
  pair_sum<double> const cubic = product(product(s, z), {factor.high, factor.low + 0x1.5555555555555p-55});
  pair_sum<double> const log_m = ordered_sum(2.0 * s.high, cubic.high);
  pair_sum<double> const lead = ordered_sum(b.exponent * 0x1.62e42fefa38p-1, log_m.high);
  double const low = log_m.low + (2.0 * s.low + cubic.low);
  return ordered_sum(lead.high, lead.low + fma(b.exponent, 0x1.ef35793c7673p-45, low));
}

/// |x|^y for positive finite |x|.
TALLY_INLINE constexpr double power_of_size(double size, double y) {
  pair_sum<double> const log_size = log_pair(size);
  double const exponent = clamped(y, -0x1p65, 0x1p65); // enough for any x but 1 to overflow or vanish
  pair_sum<double> const p = product({exponent, 0.0}, log_size);
  bool const inside = p.high > -747.0 && p.high < 712.0;
  reduced_exponent<double> const r = reduce_exponent(clamped(p.high, -747.0, 712.0));
  return scaled_by_field(exp_of_small(r.high, r.low() + either(inside, p.low, 0.0)), r.doubled_field);
}

/// What pow is at zeros, infinities, ones, NaNs and for negative x; `size_to_y` is |x|^y where both are ordinary.
TALLY_INLINE constexpr double power_with_cases(double x, double y, double size_to_y) {
  constexpr double unbounded = infinity<double>();
  double const size = magnitude_of(x);
  bool const whole = trunc(y) == y, half_whole = trunc(y * 0.5) == y * 0.5;
  double const at_zero = either(y > 0, 0.0, unbounded), at_infinity = either(y > 0, unbounded, 0.0);
  double const result = either(size == 0, at_zero, either(size == unbounded, at_infinity, size_to_y));
  double const signed_result = either(whole & !half_whole, with_sign_of(result, x), result);
  bool const undefined = ((x < 0) & (size < unbounded) & !whole) | (x != x) | (y != y);
  return either((y == 0) | (x == 1), 1.0, either(undefined, quiet_nan<double>(), signed_result));
}

} // namespace detail

/// x^y with the special cases of IEEE 754: pow(x, 0) and pow(1, y) are 1 even for a NaN; a negative x needs a whole
/// y.
TALLY_INLINE constexpr double pow(double x, double y) {
  return detail::power_with_cases(x, y, detail::power_of_size(detail::magnitude_of(x), y));
}
TALLY_INLINE constexpr float pow(float x, float y) {
  double const size = static_cast<double>(detail::magnitude_of(x));
  double const exponent = detail::clamped(static_cast<double>(y), -0x1p40, 0x1p40);
  double const result = detail::scaled_exp(exponent * log(size), 0);
  return detail::narrowed(detail::power_with_cases(static_cast<double>(x), static_cast<double>(y), result));
}

/// The cube root, also of negative numbers.
TALLY_INLINE constexpr double cbrt(double x) {
  using namespace detail;
  double const size = magnitude_of(x);
  if (size == 0 || !(size < infinity<double>())) return unless_nan(x, x);
  bool const denormal = size < 0x1p-1022;
  double const a = denormal ? size * 0x1p54 : size;
  // A third of the exponent to within 10 %, a polynomial in the cube's error to 2^-22, then one step of third order
  // from a value of 26 bits, whose square is exact.
  double const rough = from_bits(bits_of(a) / 3 + stl::uint64_t{0x2a9f70a3d70a3dc8});
  double const near =
      leading(rough * polynomial(rough * rough * (rough / a), 0x1.e05e935db4bbap+0, -0x1.e2f96e8cf3e23p+0,
                                 0x1.9f9695c642c36p+0, -0x1.84cc716a8eab2p-1, 0x1.2b53f1fe70bcbp-3));
  double const other = a / (near * near);
  double const root = fma(near, (other - near) / (near + near + other), near);
  return with_sign_of(denormal ? root * 0x1p-18 : root, x);
}
TALLY_INLINE constexpr float cbrt(float x) { return detail::narrowed(cbrt(static_cast<double>(x))); }

/// sqrt(x^2 + y^2) without overflow on the way; infinite when either is, even beside a NaN.
TALLY_INLINE constexpr double hypot(double x, double y) {
  using namespace detail;
  double const a = magnitude_of(x), b = magnitude_of(y);
  if (a == infinity<double>() || b == infinity<double>()) return infinity<double>();
  if (a != a || b != b) return quiet_nan<double>();
  double const most = a > b ? a : b, least = a > b ? b : a;
  if (most == 0) return 0.0;
  double const down = most > 0x1p500 ? 0x1p-600 : most < 0x1p-400 ? 0x1p600 : 1.0;
  double const up = most > 0x1p500 ? 0x1p600 : most < 0x1p-400 ? 0x1p-600 : 1.0;
  pair_sum<double> const p = exact_product(most * down, most * down), q = exact_product(least * down, least * down);
  pair_sum<double> const sum = ordered_sum(p.high, q.high);
  double const root = sqrt(sum.high);
  pair_sum<double> const square = exact_product(root, root);
  double const rest = ((sum.high - square.high) - square.low) + (sum.low + (p.low + q.low));
  return (root + rest / (root + root)) * up;
}
TALLY_INLINE constexpr float hypot(float x, float y) {
  float const a = detail::magnitude_of(x), b = detail::magnitude_of(y);
  if (a == detail::infinity<float>() || b == detail::infinity<float>()) return detail::infinity<float>();
  double const p = static_cast<double>(a), q = static_cast<double>(b);
  return detail::narrowed(sqrt(p * p + q * q));
}

} // namespace tally::v0::math
