// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The error function. Layer 1.
//
// Near zero x + x P(x^2); beyond 0.875, 1 - e^(-x^2) Q(t) with t = (x - 2) / (x + 2), where Q approximates e^(x^2)
// erfc(x).
#pragma once

#include <tally/base/config.hpp>
#include <tally/element/math_exact.hpp>
#include <tally/element/math_exp.hpp>

namespace tally::v0::math {

namespace detail {

TALLY_INLINE constexpr double erf_near_zero(double x) {
  double const beyond_x = polynomial(
      x * x, 0x1.06eba8214db69p-3, -0x1.812746b0379e5p-2, 0x1.ce2f21a0429c0p-4, -0x1.b82ce3127ba3bp-6,
      0x1.565bcd0bd451fp-8, -0x1.c02db3658b1c2p-11, 0x1.f9a31006ba531p-14, -0x1.f4d01d5f4caf0p-17, 0x1.b9c122143808ap-20,
      -0x1.5dd082ff7ded9p-23, 0x1.e54e0bd129b0cp-27, -0x1.dc9f879eb3da6p-31);
  return fma(x, beyond_x, x);
}
TALLY_INLINE constexpr double erf_far(double x) {
  double const t = (x - 2.0) / (x + 2.0);
  double const scaled_rest = polynomial(
      t, 0x1.058671b52c779p-2, -0x1.b57034efd3fbap-2, 0x1.eeea7dc8a5426p-3, -0x1.437f0b68db448p-4, 0x1.e94715e3ace0cp-9,
      0x1.ca95ef0c2ffb2p-8, -0x1.bc259ec32fa1ep-11, -0x1.016c6b74a54e7p-10, 0x1.6cc0c246f9a02p-15,
      0x1.6db04458a4dbap-13, 0x1.de5afb63c0f62p-16, -0x1.9dc0bca1362a1p-16, -0x1.776eca0b96ee8p-17);
  return fma(-scaled_exp(-(x * x), 0), scaled_rest, 1.0);
}

} // namespace detail

/// 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x.
TALLY_INLINE constexpr double erf(double x) {
  using namespace detail;
  double const size = magnitude_of(x);
  double const far = erf_far(clamped(size, 0.0, 6.0));
  return unless_nan(x, with_sign_of(either(size < 0.875, erf_near_zero(size), far), x));
}
TALLY_INLINE constexpr float erf(float x) { return detail::narrowed(erf(static_cast<double>(x))); }

} // namespace tally::v0::math
