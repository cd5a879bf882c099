// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Answers of exact sums that three numbers are, in doubles whose error is bounded: where the bounds round alike, that is the answer. Layer 1. Elsewhere
// what is exact is compared with the middle of two neighbours, and of the rest, which is seldom, integers decide. The test of the rounding is A. Ziv's, Fast evaluation of
// elementary mathematical functions with correctly rounded last bit, 1991.
#pragma once

#include <tally/base/numbers.hpp>
#include <tally/base/two_sum.hpp>
#include <tally/element/math_exact.hpp>

namespace tally::v0 {

/// An exact sum that three numbers are, the first of which is at most a quarter of what there is, of a fold whose numbers were finite.
template <class V>
struct sum_of_numbers {
  V high, middle, low;
};

namespace detail {

/// high + low, high being their sum rounded, off by at most `error`.
struct near_number {
  double high, low, error;
};
template <class V>
TALLY_INLINE constexpr near_number as_near_number(sum_of_numbers<V> const& s) {
  double high = s.high, low = 0, lost = 0;
  two_sum(high, static_cast<double>(s.middle), low);
  two_sum(low, static_cast<double>(s.low), lost);
  double left = 0;
  two_sum(high, low, left);
  return {high, left, math::abs(lost)};
}
TALLY_INLINE constexpr bool is_exact(near_number const& x) { return x.error == 0; }
TALLY_INLINE constexpr bool is_zero(near_number const& x) { return is_exact(x) && x.high == 0; }
/// Whether this is far from both ends of doubles.
TALLY_INLINE constexpr bool is_inside(double x) { return math::abs(x) >= 0x1p-900 && math::abs(x) <= 0x1p900; }

/// The To that x rounds to, to nearest even; false: that is not beyond doubt.
template <class To>
TALLY_INLINE constexpr bool rounds_to(near_number const& x, To& out) {
  double error = x.error + math::abs(x.low) * 0x1p-50;
  if constexpr (sizeof(To) < sizeof(double))
    error += math::abs(x.high) * 0x1p-51; // the bounds are doubles first
  out = static_cast<To>(x.high + (x.low - error));
  return is_inside(x.high) && static_cast<To>(x.high + (x.low + error)) == out;
}
/// The same where x is exact also: a float is the one next to an odd double.
template <class To>
TALLY_INLINE constexpr bool to_nearest(near_number const& x, To& out) {
  if (!is_exact(x))
    return rounds_to(x, out);
  out = static_cast<To>(sizeof(To) == sizeof(double) ? x.high : math::detail::rounded_to_odd(x.high, x.low));
  return true;
}

/// x / n, 1 <= n <= 2^52, an integer.
TALLY_INLINE constexpr near_number quotient(near_number const& x, double n) {
  double const inverse = 1 / n;
  double high = x.high * inverse, low = 0;
  double const rest = (math::detail::fma(-high, n, x.high) + x.low) * inverse;
  two_sum(high, rest, low);
  return {high, low, (x.error * inverse + math::abs(rest) * 0x1p-51) * (1 + 0x1p-20)};
}
/// x / n, to which q is the nearest double or the next to it, rounded to nearest even; x is exact, n <= 2^50.
template <class To>
TALLY_HD constexpr To exact_quotient(near_number const& x, double n, double q) {
  double const left = math::detail::fma(-q, n, x.high), taken = -x.low; // x - q * n = left - taken, each of them exact
  if (left == taken)
    return static_cast<To>(q);
  double const next = math::detail::next_double(q, left > taken);
  if constexpr (sizeof(To) < sizeof(double)) {
    return static_cast<To>(math::detail::is_odd(q) ? q : next);
  } else {
    double const behind = left - (next - q) / 2 * n; // the middle of both times n
    return behind == taken ? (math::detail::is_odd(q) ? next : q) : (behind > taken) == (next > q) ? next : q;
  }
}
/// x / n rounded to nearest even, n as above; false: that is not beyond doubt. Of numbers of few bits, quotients often lie in the middle of two neighbours.
template <class To>
TALLY_INLINE constexpr bool quotient_to_nearest(near_number const& x, double n, To& out) {
  if (is_zero(x)) {
    out = To(0);
    return true;
  }
  near_number const q = quotient(x, n);
  if ((sizeof(To) == sizeof(double) || !is_exact(x)) && rounds_to(q, out))
    return true;
  if (!is_exact(x) || !is_inside(x.high) || n > 0x1p50)
    return false;
  out = exact_quotient<To>(x, n, q.high);
  return true;
}

/// Whether a product with this is far from both ends of doubles, also where it is cut in halves.
TALLY_INLINE constexpr bool is_middling(double x) { return x == 0 || (math::abs(x) >= 0x1p-400 && math::abs(x) <= 0x1p400); }

/// n * products - x * y where it is two doubles; its error is not zero elsewhere.
TALLY_INLINE constexpr near_number exact_difference(near_number const& x, near_number const& y, near_number const& products, double n) {
  auto const above = math::detail::exact_product(n, products.high), above_low = math::detail::exact_product(n, products.low), less = math::detail::exact_product(x.high, y.high);
  double high = above.high, low = 0, lost[3] = {}, rest = 0;
  two_sum(high, -less.high, low);
  two_sum(low, above.low, lost[0]);
  two_sum(low, above_low.high, lost[1]);
  two_sum(low, -less.low, lost[2]);
  two_sum(high, low, rest);
  bool const whole = x.low == 0 && y.low == 0 && above_low.low == 0 && lost[0] == 0 && lost[1] == 0 && lost[2] == 0 && is_exact(x) && is_exact(y) && is_exact(products);
  return {high, rest, whole ? 0.0 : 1.0};
}
/// The covariance of n pairs from their sums and that of their products, (n * products - x * y) / (n * (n - fewer)); fewer < n <= 2^26. False: not beyond doubt.
template <class To, class V, class P>
TALLY_HD constexpr bool covariance_of_numbers(sum_of_numbers<V> const& sum_x, sum_of_numbers<V> const& sum_y, sum_of_numbers<P> const& sum_of_products, double n, double fewer,
                                              To& answer) {
  near_number const x = as_near_number(sum_x), y = as_near_number(sum_y), products = as_near_number(sum_of_products);
  if (is_zero(products) && (is_zero(x) || is_zero(y))) {
    answer = To(0);
    return true;
  }
  if (!is_middling(x.high) || !is_middling(y.high) || !is_middling(products.high))
    return false;
  auto const above = math::detail::exact_product(n, products.high), less = math::detail::exact_product(x.high, y.high);
  double const above_low = n * products.low, one = x.high * y.low, other = x.low * y.high;
  double high = above.high, left = 0;
  two_sum(high, -less.high, left);
  double const low = left + ((above.low + above_low) - (less.low + (one + other)));
  double const of_lows = math::abs(above.low) + math::abs(above_low) + math::abs(less.low) + math::abs(one) + math::abs(other) + math::abs(left);
  double const error = of_lows * 0x1p-50 + n * products.error + math::abs(x.high) * y.error * 2 + math::abs(y.high) * x.error * 2 + math::abs(x.low * y.low) * 2 + 0x1p-1000;
  double rest = 0;
  two_sum(high, low, rest);
  double const number = n * (n - fewer);
  if (quotient_to_nearest({high, rest, error}, number, answer))
    return true;
  near_number const difference = exact_difference(x, y, products, n);
  return is_exact(difference) && quotient_to_nearest(difference, number, answer);
}

} // namespace detail
} // namespace tally::v0
