// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums under the contract exact: every bit of every element is kept in one wide integer, so no order can be told from
// another, and the answer is rounded once. Layer 1. Which fold has such a counterpart is asked of exact_counterpart; the
// quick ways in (windows of a few words) belong to the back ends, kernel/exact.cuh and run/cpu_exact.hpp, and any of them
// must leave the integer that add() leaves.
#pragma once

#include <tally/base/wide_integer.hpp>
#include <tally/fold/sum.hpp>

namespace tally::inline v0 {

/// Where the bits of products of Factors numbers of V lie, with room for 2^63 of them and a sign.
template <class V, int Factors>
struct exact_range {
  static constexpr int lowest = Factors * float_shape<V>::lowest; ///< bit 0 weighs 2^lowest
  static constexpr int words = (Factors * float_shape<V>::highest - lowest + 64 + 63) / 64;
};

/// What came that has no bits to add.
inline constexpr u64 nan_came = 1, infinity_came = 2, minus_infinity_came = 4;
/// Of a number that is not finite.
template <class V>
TALLY_INLINE constexpr u64 special_of(V x) {
  return x != x ? nan_came : x > V(0) ? infinity_came : minus_infinity_came;
}
template <class V>
TALLY_INLINE constexpr bool is_finite(V x) {
  return x - x == V(0);
}

/// The exact sum so far.
template <int Words>
struct exact_sum_state {
  wide_integer<Words> sum;
  u64 special;
};

/// Addition of numbers of V (float or double), or of products of two of them, without rounding; the answer is a To.
template <class V, class To, int Factors>
struct exact_sum_monoid {
  using number = V;
  using range = exact_range<V, Factors>;
  using state = exact_sum_state<range::words>;
  static constexpr int factors = Factors;
  static constexpr laws law = any_order;
  TALLY_INLINE constexpr state identity() const { return {}; }
  TALLY_INLINE constexpr state combine(state const& a, state const& b) const {
    state s = a;
    s.sum += b.sum;
    s.special |= b.special;
    return s;
  }
  template <class... Vs>
    requires(sizeof...(Vs) == Factors)
  constexpr state lift(i64, Vs... values) const {
    state s{};
    add(s, static_cast<V>(values)...);
    return s;
  }
  /// Adds one number to a state, or to what takes bits as one does.
  template <class State>
  TALLY_HD constexpr void add(State& s, V x) const {
    if (!is_finite(x)) {
      s.special |= special_of(x);
    } else {
      auto const a = take_apart(x);
      s.sum.add_at(a.bit, a.fraction, a.negative);
    }
  }
  /// Adds one product.
  template <class State>
  TALLY_HD constexpr void add(State& s, V x, V y) const {
    if (!is_finite(x) || !is_finite(y)) {
      s.special |= special_of(x * y);
    } else {
      auto const a = take_apart(x), b = take_apart(y);
      bool const negative = a.negative != b.negative;
      u64 const upper = a.fraction >> 32, lower = a.fraction & 0xffffffffu; // partial products of at most 53 + 32 bits
      u64 const b_upper = b.fraction >> 32, b_lower = b.fraction & 0xffffffffu;
      int const at = a.bit + b.bit;
      s.sum.add_at(at, lower * b_lower, negative);
      s.sum.add_at(at + 32, upper * b_lower, negative);
      s.sum.add_at(at + 32, lower * b_upper, negative);
      s.sum.add_at(at + 64, upper * b_upper, negative);
    }
  }
  constexpr To lower(state const& s, summary) const {
    return s.special != 0 ? special(s) : rounded<To>(s.sum, range::lowest);
  }
  /// The sum over n, rounded once; of nothing, NaN.
  constexpr To mean(state const& s, i64 n) const {
    if (n == 0)
      return stl::numeric_limits<To>::quiet_NaN();
    return s.special != 0 ? special(s) : rounded_quotient<To>(s.sum, range::lowest, {static_cast<u64>(n), 0});
  }

private:
  static constexpr To special(state const& s) {
    To const infinity = stl::numeric_limits<To>::infinity();
    return s.special == infinity_came         ? infinity
           : s.special == minus_infinity_came ? -infinity
                                              : stl::numeric_limits<To>::quiet_NaN();
  }
};

/// (n * squares - sum^2) / (n * (n - fewer)), the variance of n > fewer numbers from the exact sums of them and of their
/// squares, rounded once; NaN where one of them was not finite.
template <class V, class To, class OtherTo>
constexpr To exact_variance(typename exact_sum_monoid<V, OtherTo, 1>::state const& total,
                            typename exact_sum_monoid<V, OtherTo, 2>::state const& squares, i64 n, i64 fewer) {
  if (n <= fewer || (total.special | squares.special) != 0)
    return stl::numeric_limits<To>::quiet_NaN();
  auto size = total.sum;
  if (size.negative())
    size.negate();
  auto const square = multiplied(size, size);
  auto const wide = multiplied(squares.sum, wide_integer<1>{{static_cast<u64>(n)}});
  constexpr int words = square.words > wide.words ? square.words : wide.words;
  wide_integer<words + 1> above{}, below{};
  for (int w = 0; w < square.words; ++w)
    below.word[w] = square.word[w];
  for (int w = 0; w < wide.words; ++w)
    above.word[w] = wide.word[w];
  below.negate();
  above += below;
  return rounded_quotient<To>(above, exact_range<V, 2>::lowest,
                              multiplied(wide_integer<1>{{static_cast<u64>(n)}}, wide_integer<1>{{static_cast<u64>(n - fewer)}}));
}

/// The monoid that takes the place of M under exact when it folds values of the given types; two values stand for their
/// product. No `type`: there is none, and M is refused unless it is free of order as it is.
template <class M, class... Vs>
struct exact_counterpart {};
template <class A, floating... Vs>
  requires(stl::same_as<A, float> || stl::same_as<A, double>)
struct exact_counterpart<sum_monoid<A>, Vs...> {
  using type = exact_sum_monoid<decltype((accumulator_t<Vs>{} + ...)), A, int(sizeof...(Vs))>;
};
template <class A, floating... Vs>
struct exact_counterpart<compensated_sum_monoid<A>, Vs...> : exact_counterpart<sum_monoid<A>, Vs...> {};

template <class M, class... Vs>
concept has_exact_counterpart = requires { typename exact_counterpart<M, Vs...>::type; };

/// A monoid whose states are exact sums.
template <class M>
concept exact_monoid = requires { M::factors; typename M::range; };

} // namespace tally::inline v0
