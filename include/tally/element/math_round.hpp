// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Roundings to whole numbers, copysign and fmod: exact by definition, the same source on host and device. Layer 1.
#pragma once

#include <tally/base/config.hpp>
#include <tally/base/stl.hpp>
#include <tally/element/math_exact.hpp>

namespace tally::v0::math {

namespace detail {

/// From here on every T is whole: 2^23 for float, 2^52 for double.
template <class T>
TALLY_INLINE constexpr T first_whole() {
  return from_bits(static_cast<word_of<T>>((layout<T>::bias + layout<T>::fraction_bits) << layout<T>::fraction_bits));
}

/// |x| rounded to a whole number, ties to even, for |x| below first_whole.
template <class T>
TALLY_INLINE constexpr T whole(T magnitude) {
  return (magnitude + first_whole<T>()) - first_whole<T>();
}

template <class T>
TALLY_INLINE constexpr T nearest(T x) {
  T const size = magnitude_of(x);
  return either(size < first_whole<T>(), with_sign_of(whole(size), x), x);
}
template <class T>
TALLY_INLINE constexpr T trunc(T x) {
  T const size = magnitude_of(x);
  T const near = whole(size);
  return either(size < first_whole<T>(), with_sign_of(either(near > size, near - T(1), near), x), x);
}
template <class T>
TALLY_INLINE constexpr T floor(T x) {
  T const near = nearest(x);
  return either(near > x, near - T(1), near);
}
template <class T>
TALLY_INLINE constexpr T ceil(T x) {
  T const near = nearest(x);
  return either(near < x, with_sign_of(magnitude_of(near + T(1)), x), near);
}
template <class T>
TALLY_INLINE constexpr T round(T x) {
  T const size = magnitude_of(x);
  T const near = whole(size);
  return either(size < first_whole<T>(), with_sign_of(either(size - near == T(0.5), near + T(1), near), x), x);
}

/// The exponent field of a finite non-negative x, one for denormals, and its significand as a whole number.
template <class T>
struct parts {
  word_of<T> exponent;
  stl::uint64_t significand;
};
template <class T>
TALLY_HD constexpr parts<T> parts_of(T x) {
  word_of<T> const field = static_cast<word_of<T>>(bits_of(x) >> layout<T>::fraction_bits);
  word_of<T> const hidden = static_cast<word_of<T>>(word_of<T>{1} << layout<T>::fraction_bits);
  word_of<T> const fraction = static_cast<word_of<T>>(bits_of(x) & (hidden - 1));
  return {field == 0 ? word_of<T>{1} : field, field == 0 ? fraction : fraction | hidden};
}

/// Long division of significands, as many bits at a time as fit 64.
template <class T>
TALLY_HD constexpr T fmod(T x, T y) {
  using form = layout<T>;
  T const left = magnitude_of(x), right = magnitude_of(y);
  if (!(left < infinity<T>()) || !(right > T(0))) return quiet_nan<T>();
  if (left < right) return x;
  parts<T> const n = parts_of(left);
  parts<T> const d = parts_of(right);
  stl::uint64_t rest = n.significand % d.significand;
  for (word_of<T> shift = n.exponent - d.exponent; shift != 0 && rest != 0;) {
    word_of<T> const step = shift < 63 - form::fraction_bits ? shift : 63 - form::fraction_bits;
    rest = (rest << step) % d.significand;
    shift -= step;
  }
  T const unit = scaled(static_cast<T>(rest), static_cast<word_of<T>>(d.exponent - form::bias - form::fraction_bits));
  return with_sign_of(unit, x);
}

/// A sign that differs between processors may not decide: a NaN counts as positive.
template <class T>
TALLY_INLINE constexpr T copysign(T magnitude, T sign) {
  T const size = magnitude_of(magnitude);
  return either(sign == sign, with_sign_of(size, sign), size);
}

} // namespace detail

/// The largest whole number not above x.
TALLY_INLINE constexpr float floor(float x) { return detail::floor(x); }
TALLY_INLINE constexpr double floor(double x) { return detail::floor(x); }
/// The smallest whole number not below x.
TALLY_INLINE constexpr float ceil(float x) { return detail::ceil(x); }
TALLY_INLINE constexpr double ceil(double x) { return detail::ceil(x); }
/// x without its fraction.
TALLY_INLINE constexpr float trunc(float x) { return detail::trunc(x); }
TALLY_INLINE constexpr double trunc(double x) { return detail::trunc(x); }
/// The nearest whole number, halves away from zero.
TALLY_INLINE constexpr float round(float x) { return detail::round(x); }
TALLY_INLINE constexpr double round(double x) { return detail::round(x); }
/// The nearest whole number, halves to even.
TALLY_INLINE constexpr float nearest(float x) { return detail::nearest(x); }
TALLY_INLINE constexpr double nearest(double x) { return detail::nearest(x); }

/// |magnitude| with the sign of `sign`; a NaN counts as positive, since the sign of a NaN differs between
/// processors.
TALLY_INLINE constexpr float copysign(float magnitude, float sign) { return detail::copysign(magnitude, sign); }
TALLY_INLINE constexpr double copysign(double magnitude, double sign) { return detail::copysign(magnitude, sign); }

/// The exact remainder of x / y with the sign of x; NaN when x is infinite or y is zero.
TALLY_HD constexpr float fmod(float x, float y) { return detail::fmod(x, y); }
TALLY_HD constexpr double fmod(double x, double y) { return detail::fmod(x, y); }

} // namespace tally::v0::math
