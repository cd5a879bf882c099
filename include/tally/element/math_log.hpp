// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The logarithms: log, log2, log10, log1p. Layer 1.
//
// x = 2^k m with m in [sqrt 1/2, sqrt 2), f = m - 1. Double: log m = f - f^2/2 + s (f^2/2 + R) with s = f / (2 +
// f), where R is what 2 atanh(s) has beyond 2 s, minimax in s^2. Float has a polynomial in f instead, without a
// division. No branches.
#pragma once

#include <tally/base/config.hpp>
#include <tally/base/stl.hpp>
#include <tally/element/math_exact.hpp>

namespace tally::v0::math {

namespace detail {

template <class T>
struct binary_form {
  T exponent;
  T fraction; // the significand less one
};

/// Takes a positive finite x apart; denormals too.
template <class T>
TALLY_INLINE constexpr binary_form<T> binary_form_of(T x) {
  using form = layout<T>;
  word_of<T> const one = form::bias << form::fraction_bits;
  word_of<T> const root_half = bits_of(static_cast<T>(0x1.6a09e667f3bcdp-1));
  T const smallest_normal = from_bits(static_cast<word_of<T>>(word_of<T>{1} << form::fraction_bits));
  T const up = from_bits(static_cast<word_of<T>>((form::bias + form::fraction_bits + 1) << form::fraction_bits));
  T const whole_field = from_bits(static_cast<word_of<T>>((form::bias + form::fraction_bits) << form::fraction_bits));
  bool const denormal = x < smallest_normal;
  word_of<T> const shifted = bits_of(either(denormal, x * up, x)) + (one - root_half);
  // The biased exponent as a number: put where its unit is one, then the bias is taken away.
  T const biased = from_bits(static_cast<word_of<T>>((shifted >> form::fraction_bits) | bits_of(whole_field)));
  T const bias = whole_field + T(form::bias);
  T const exponent = biased - either(denormal, bias + T(form::fraction_bits + 1), bias);
  T const m = from_bits(static_cast<word_of<T>>((shifted & ((word_of<T>{1} << form::fraction_bits) - 1)) + root_half));
  return {exponent, m - T(1)};
}

/// `result` for positive finite x, and what every logarithm is elsewhere.
template <class T>
TALLY_INLINE constexpr T log_or_special(T x, T result) {
  T const at_edge = either(x == T(0), -infinity<T>(), either(x > T(0), x, quiet_nan<T>()));
  bool const ordinary = bits_of(x) - 1 < layout<T>::infinity - 1; // also false for every negative x
  return either(ordinary, result, at_edge);
}

/// s (f^2/2 + R): what log(1 + f) has beyond f - f^2/2; error 2^-59 of the logarithm.
TALLY_INLINE constexpr double log1p_tail(double f, double half_square) {
  double const s = f / (2.0 + f);
  double const z = s * s;
  double const rest = fma(z,
                          polynomial(z, 0x1.5555555555592p-1, 0x1.999999997fda7p-2, 0x1.24924941f2267p-2,
                                     0x1.c71c52087ab96p-3, 0x1.74663f19ca1cfp-3, 0x1.39a1b578af504p-3,
                                     0x1.2f059af60d3e7p-3),
                          half_square);
  return s * rest;
}

/// k ln 2 + log(1 + f) + correction.
TALLY_INLINE constexpr double joined_log(double k, double f, double correction) {
  double const half_square = 0.5 * f * f;
  pair_sum<double> const lead = ordered_sum(k * 0x1.62e42fefa38p-1, f);
  double const tail = log1p_tail(f, half_square) + fma(k, 0x1.ef35793c7673p-45, correction);
  return lead.high + (lead.low - (half_square - tail));
}
TALLY_INLINE constexpr float joined_log(float k, float f) {
  float const square_on = polynomial(f, -0.5f, 0x1.55554ap-2f, -0x1.00022p-2f, 0x1.99a598p-3f, -0x1.547892p-3f,
                                     0x1.226e32p-3f, -0x1.0ce032p-3f, 0x1.07d182p-3f, -0x1.41f0b2p-4f);
  return fma(k, 0x1.62e43p-1f, fma(f * f, square_on, f));
}

/// A logarithm to another base: its value of 2 and of e, each as a leading part whose products are exact, and a
/// rest.
struct log_base {
  pair_sum<double> of_two;
  pair_sum<double> of_e;
};
TALLY_INLINE constexpr double log_in(double x, log_base base) {
  binary_form<double> const b = binary_form_of(x);
  double const f = b.fraction;
  double const half_square = 0.5 * f * f;
  double const high = leading(f - half_square);
  double const low = ((f - high) - half_square) + log1p_tail(f, half_square);
  pair_sum<double> const lead = ordered_sum(b.exponent * base.of_two.high, high * base.of_e.high);
  double const rest = fma(low + high, base.of_e.low, fma(low, base.of_e.high, b.exponent * base.of_two.low));
  return log_or_special(x, lead.high + (lead.low + rest));
}

} // namespace detail

/// The natural logarithm.
TALLY_INLINE constexpr float log(float x) {
  detail::binary_form<float> const b = detail::binary_form_of(x);
  return detail::log_or_special(x, detail::joined_log(b.exponent, b.fraction));
}
TALLY_INLINE constexpr double log(double x) {
  detail::binary_form<double> const b = detail::binary_form_of(x);
  return detail::log_or_special(x, detail::joined_log(b.exponent, b.fraction, 0.0));
}

/// The logarithm to base 2; exact for powers of two.
TALLY_INLINE constexpr double log2(double x) {
  return detail::log_in(x, {{1.0, 0.0}, {0x1.7154768p+0, -0x1.6a3e80f444178p-27}});
}
TALLY_INLINE constexpr float log2(float x) { return detail::narrowed(log2(static_cast<double>(x))); }

/// The logarithm to base 10.
TALLY_INLINE constexpr double log10(double x) {
  return detail::log_in(x, {{0x1.34413509f78p-2, 0x1.fef311f12b358p-46}, {0x1.bcb7b18p-2, -0x1.6c8d78e6acaa4p-29}});
}
TALLY_INLINE constexpr float log10(float x) { return detail::narrowed(log10(static_cast<double>(x))); }

/// log(1 + x), accurate near zero; what 1 + x loses by rounding comes back as a correction.
TALLY_INLINE constexpr double log1p(double x) {
  detail::pair_sum<double> const u = detail::exact_sum(1.0, x);
  detail::binary_form<double> const b = detail::binary_form_of(u.high);
  double const result = detail::joined_log(b.exponent, b.fraction, u.low / u.high);
  return detail::either(x == 0, x, detail::log_or_special(u.high, result));
}
TALLY_INLINE constexpr float log1p(float x) { return detail::narrowed(log1p(static_cast<double>(x))); }

} // namespace tally::v0::math
