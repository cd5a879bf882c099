// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums under the contract exact: every bit of every element is kept in one wide integer, so no order can be told from
// another, and the answer is rounded once. Layer 1. Which fold has such a counterpart is asked of exact_counterpart; the
// quick ways in (windows of a few words) belong to the back ends, kernel/exact.cuh and run/cpu_exact.hpp, and any of them
// must leave the integer that add() leaves.
#pragma once

#include <tally/base/two_sum.hpp>
#include <tally/base/wide_integer.hpp>
#include <tally/base/word_quotient.hpp>
#include <tally/fold/near_quotient.hpp>
#include <tally/fold/sum.hpp>

namespace tally::v0 {

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

template <class... Vs>
TALLY_INLINE constexpr bool are_finite(Vs... values) {
  return (true && ... && is_finite(values));
}
/// Of a product that is not finite because a factor is not; what is finite only lends its sign, so nothing can overflow.
template <class... Vs>
TALLY_INLINE constexpr u64 special_of_product(Vs... values) {
  return special_of((... * (is_finite(values) && values != Vs(0) ? Vs(values < Vs(0) ? -1 : 1) : values)));
}

/// The exact sum so far.
template <int Words>
struct exact_sum_state {
  wide_integer<Words> sum;
  u64 special;
};

/// An exact sum whose bits lie near each other: `sum` times 2^(lowest + base), of a fold whose numbers were finite.
template <int Words>
struct near_sum_state {
  wide_integer<Words> sum;
  int base;
};

/// Addition of numbers of V (float or double), or of products of up to four of them, without rounding; the answer is a To.
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
  template <class State, class... More>
  TALLY_HD constexpr void add(State& s, V x, V y, More... more) const {
    if (!are_finite(x, y, more...)) {
      s.special |= special_of_product(x, y, more...);
    } else {
      auto const a = take_apart(x), b = take_apart(y);
      if constexpr (sizeof...(More) == 0)
        add_halves(s, a.fraction, b.fraction, a.bit + b.bit, a.negative != b.negative);
      else if constexpr (sizeof(V) == 4)
        add_pairs(s, a, b, take_apart(more)...);
      else
        add_words(s, a, b, take_apart(more)...);
    }
  }
  /// The same into a state that is too wide to be made for every element, and never a copy in a loop.
  template <class... Vs>
    requires(Factors > 2 && sizeof...(Vs) == Factors)
  TALLY_HD __attribute__((noinline)) constexpr void add_to(state& s, Vs... values) const {
    add(s, static_cast<V>(values)...);
  }
  constexpr To lower(state const& s, summary) const {
    return s.special != 0 ? special(s) : rounded<To>(s.sum, range::lowest);
  }
  template <int Words>
  constexpr To lower(near_sum_state<Words> const& s, summary) const {
    if (words_and_place near{}; are_two_words(s.sum, near) && near.size.high >> 63 == 0) {
      To const x = rounded<To>(wide_integer<2>{{near.size.low, near.size.high}}, range::lowest + s.base + near.at);
      return near.negative ? -x : x;
    }
    return rounded<To>(s.sum, range::lowest + s.base);
  }
  template <int Words>
  constexpr To mean(near_sum_state<Words> const& s, i64 n) const {
    if (words_and_place near{}; n > 0 && are_two_words(s.sum, near)) {
      To const q = rounded_quotient<To>(near.size, range::lowest + s.base + near.at, static_cast<u64>(n));
      return near.negative ? -q : q;
    }
    return n == 0 ? stl::numeric_limits<To>::quiet_NaN() : rounded_quotient<To>(s.sum, range::lowest + s.base, wide_integer<2>{{static_cast<u64>(n), 0}});
  }
  /// The same as a state; of a near one whose base is at a whole word.
  template <int Words>
  constexpr state whole(near_sum_state<Words> const& s) const {
    state w{};
    auto size = s.sum;
    if (s.sum.negative())
      size.negate();
    for (int i = 0; i < Words; ++i)
      if (size.word[i] != 0)
        w.sum.add_at(s.base + 64 * i, size.word[i], s.sum.negative());
    return w;
  }
  template <class N>
  TALLY_HD __attribute__((noinline)) constexpr state whole(sum_of_numbers<N> const& s) const {
    state w{};
    for (N const x : {s.high, s.middle, s.low}) {
      auto const a = in_state(x);
      w.sum.add_at(a.bit, a.fraction, a.negative);
    }
    return w;
  }
  /// The same in a few words, the lowest of which is one of a state; false: its numbers lie further apart.
  template <int Words, class N>
  constexpr bool near(sum_of_numbers<N> const& s, near_sum_state<Words>& to) const {
    taken_apart const of[3] = {in_state(s.high), in_state(s.middle), in_state(s.low)};
    int least = 64 * range::words;
    for (auto const& a : of)
      least = a.fraction != 0 && a.bit < least ? a.bit : least;
    to = {{}, least / 64 * 64};
    for (auto const& a : of)
      if (a.fraction != 0) {
        if (a.bit - to.base > 64 * (Words - 2))
          return false;
        to.sum.add_at(a.bit - to.base, a.fraction, a.negative);
      }
    return true;
  }
  template <class N>
  constexpr To lower(sum_of_numbers<N> const& s, summary of) const {
    if constexpr (stl::same_as<To, N>) {
      return rounded_sum(s);
    } else {
      To nearest{};
      return detail::to_nearest(detail::as_near_number(s), nearest) ? nearest : lower(whole(s), of);
    }
  }
  template <class N>
  constexpr To mean(sum_of_numbers<N> const& s, i64 n) const {
    if (To q{}; n > 0 && n <= i64(1) << 50 && detail::quotient_to_nearest(detail::as_near_number(s), static_cast<double>(n), q))
      return q;
    return mean_of_integer(s, n);
  }
  /// The sum over n, rounded once; of nothing, NaN.
  constexpr To mean(state const& s, i64 n) const {
    if (n == 0)
      return stl::numeric_limits<To>::quiet_NaN();
    return s.special != 0 ? special(s) : rounded_quotient<To>(s.sum, range::lowest, wide_integer<2>{{static_cast<u64>(n), 0}});
  }

private:
  template <class N>
  TALLY_HD __attribute__((noinline)) constexpr To mean_of_integer(sum_of_numbers<N> const& s, i64 n) const {
    near_sum_state<4> few{};
    return near(s, few) ? mean(few, n) : mean(whole(s), n);
  }
  /// A number taken apart whose bits are counted as those of a state are, none of which it is below.
  template <class N>
  static constexpr taken_apart in_state(N x) {
    auto a = take_apart(x);
    a.bit += float_shape<N>::lowest - range::lowest;
    if (a.bit < 0)
      a.fraction = a.fraction != 0 ? a.fraction >> -a.bit : 0, a.bit = 0;
    return a;
  }
  /// Rounded once: the rounded sum of two numbers is wrong only where they lie in the middle of two neighbours, and what is left decides.
  template <class N>
  static constexpr N rounded_sum(sum_of_numbers<N> s) {
    N rest, left;
    two_sum(s.high, s.middle, rest);
    two_sum(rest, s.low, left);
    two_sum(s.high, rest, rest);
    two_sum(rest, left, left);
    two_sum(s.high, rest, rest);
    N const other = s.high + 2 * rest;
    bool const in_the_middle = rest != N(0) && other - s.high == 2 * rest;
    return in_the_middle && (rest < N(0) ? left < N(0) : left > N(0)) ? other : s.high;
  }
  /// Adds a * b * 2^at by partial products of halves, of at most 64 bits; a and b are below 2^53.
  template <class State>
  TALLY_HD constexpr void add_halves(State& s, u64 a, u64 b, int at, bool negative) const {
    u64 const upper = a >> 32, lower = a & 0xffffffffu, b_upper = b >> 32, b_lower = b & 0xffffffffu;
    s.sum.add_at(at, lower * b_lower, negative);
    s.sum.add_at(at + 32, upper * b_lower, negative);
    s.sum.add_at(at + 32, lower * b_upper, negative);
    s.sum.add_at(at + 64, upper * b_upper, negative);
  }
  /// Of three or four floats, whose fractions are multiplied two by two.
  template <class State, class... More>
  TALLY_HD constexpr void add_pairs(State& s, taken_apart const& a, taken_apart const& b, More const&... more) const {
    int const at = ((a.bit + b.bit) + ... + more.bit);
    bool const negative = ((a.negative != b.negative) != ... != more.negative);
    add_halves(s, a.fraction * b.fraction, (u64(1) * ... * more.fraction), at, negative);
  }
  /// Of doubles, by whole words.
  template <class State, class... More>
  TALLY_HD constexpr void add_words(State& s, taken_apart const& a, taken_apart const& b, More const&... more) const {
    int const at = ((a.bit + b.bit) + ... + more.bit);
    bool const negative = ((a.negative != b.negative) != ... != more.negative);
    auto const product = multiplied(product_of_fractions(a, b), product_of_fractions(more...));
    for (int w = 0; w < product.words; ++w)
      s.sum.add_at(at + 64 * w, product.word[w], negative);
  }
  static constexpr wide_integer<1> product_of_fractions(taken_apart const& a) { return {{a.fraction}}; }
  static constexpr wide_integer<2> product_of_fractions(taken_apart const& a, taken_apart const& b) {
    return multiplied(wide_integer<1>{{a.fraction}}, wide_integer<1>{{b.fraction}});
  }
  static constexpr To special(state const& s) {
    To const infinity = stl::numeric_limits<To>::infinity();
    return s.special == infinity_came         ? infinity
           : s.special == minus_infinity_came ? -infinity
                                              : stl::numeric_limits<To>::quiet_NaN();
  }
};

/// The exact sum of the products of Factors values, which are not looked into: one that is itself a product has been rounded.
template <int Factors>
struct exact_sum_operation : fold_operation<exact_sum_operation<Factors>> {
  static constexpr int takes = Factors;
  static constexpr char const* spelling = Factors == 1 ? "sum" : "sum_of_products";
  template <class V, class... Vs>
    requires(sizeof...(Vs) + 1 == Factors)
  static constexpr auto bind() {
    return exact_sum_monoid<accumulator_t<V>, accumulator_t<V>, Factors>{};
  }
};

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

namespace detail {
template <class... Leaves>
constexpr bool any_exact_leaf(pack<Leaves...> const*) {
  return (false || ... || exact_monoid<typename Leaves::monoid_type>);
}
} // namespace detail

} // namespace tally::v0
