// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Answers of exact sums that three numbers are, in doubles whose error is bounded: where the bounds round alike, that is the answer. Layer 1. Elsewhere, which is
// seldom, integers decide. The test of the rounding is A. Ziv's, Fast evaluation of elementary mathematical functions with correctly rounded last bit, 1991.
#pragma once

#include <tally/base/numbers.hpp>
#include <tally/base/two_sum.hpp>
#include <tally/element/math_exact.hpp>

namespace tally::inline v0 {

/// An exact sum that three numbers are, the first of which is at most a quarter of what there is, of a fold whose numbers were finite.
template <class V>
struct sum_of_numbers {
  V high, middle, low;
};

namespace detail {

/// high + low, which are apart, off by at most `error`.
struct near_number {
  double high, low, error;
};
/// Such a sum as near as a To, or what is made of it, has to be known.
template <class To = double, class V>
TALLY_INLINE constexpr near_number as_near_number(sum_of_numbers<V> const& s) {
  if constexpr (sizeof(To) < sizeof(double)) {
    double const two = static_cast<double>(s.high) + static_cast<double>(s.middle), three = two + static_cast<double>(s.low);
    return {three, 0, (math::abs(two) + math::abs(three)) * 0x1p-53};
  }
  double high = s.high, low = 0, lost = 0;
  two_sum(high, static_cast<double>(s.middle), low);
  two_sum(low, static_cast<double>(s.low), lost);
  double left = 0;
  two_sum(high, low, left);
  return {high, left, math::abs(lost)};
}
TALLY_INLINE constexpr bool is_zero(near_number const& x) { return x.high == 0 && x.low == 0 && x.error == 0; }

/// The To that x rounds to, to nearest even; false: that is not beyond doubt.
template <class To>
TALLY_INLINE constexpr bool rounds_to(near_number const& x, To& out) {
  double const size = math::abs(x.high);
  double error = x.error + math::abs(x.low) * 0x1p-50;
  if constexpr (sizeof(To) < sizeof(double))
    error += size * 0x1p-51; // the bounds are doubles first
  out = static_cast<To>(x.high + (x.low - error));
  return size >= 0x1p-900 && size <= 0x1p900 && static_cast<To>(x.high + (x.low + error)) == out;
}

/// x / n where n is a double, 1 <= n, as near as a To has to be known.
template <class To>
TALLY_INLINE constexpr near_number quotient(near_number const& x, double n) {
  double high = x.high / n, low = 0;
  if constexpr (sizeof(To) < sizeof(double))
    if (x.error + math::abs(x.low) <= math::abs(x.high) * 0x1p-50)
      return {high, 0, math::abs(high) * 0x1p-49};
  double const rest = (math::detail::fma(-high, n, x.high) + x.low) / n;
  two_sum(high, rest, low);
  return {high, low, (x.error / n + math::abs(rest) * 0x1p-51) * (1 + 0x1p-20)};
}

/// Whether a product with this is far from both ends of doubles, also where it is cut in halves.
TALLY_INLINE constexpr bool is_middling(double x) { return x == 0 || (math::abs(x) >= 0x1p-400 && math::abs(x) <= 0x1p400); }

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
  return rounds_to(quotient<To>({high, rest, error}, n * (n - fewer)), answer);
}

} // namespace detail
} // namespace tally::inline v0
