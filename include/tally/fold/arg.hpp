// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// argmin, argmax, first, last: answers that name a position. Layer 1. Ties go to the first position, NaN wins as it does
// in min and max; free of order because the position settles everything.
#pragma once

#include <tally/fold/fold.hpp>
#include <tally/fold/min_max.hpp>

namespace tally::inline v0 {

/// A value and the position where it stands (-1: nowhere yet).
template <class T>
struct placed {
  T value;
  i64 position;
  friend constexpr bool operator==(placed const&, placed const&) = default;
};

/// The position of the least (greatest) element.
template <class T, bool Least>
struct arg_monoid {
  using state = placed<T>;
  static constexpr laws law = any_order;
  TALLY_INLINE constexpr state identity() const { return {T{}, -1}; }
  TALLY_INLINE constexpr state lift(i64 position, T v) const { return {v, position}; }
  TALLY_INLINE constexpr state combine(state const& a, state const& b) const {
    if (a.position < 0)
      return b;
    if (b.position < 0)
      return a;
    if (before(a.value, b.value))
      return a;
    if (before(b.value, a.value))
      return b;
    return a.position < b.position ? a : b;
  }
  constexpr i64 lower(state const& s, summary) const { return s.position; }
  constexpr bool empty(state const& s, summary) const { return s.position < 0; }

private:
  /// Whether a beats b: NaN beats numbers, and -0 is less than +0.
  TALLY_INLINE static constexpr bool before(T a, T b) {
    if constexpr (floating<T>) {
      auto const x = widen(a), y = widen(b);
      if (x != x || y != y)
        return x != x && y == y;
      if (x == y)
        return sign_of(x) == Least && sign_of(y) != Least;
      return (x < y) == Least;
    } else {
      return Least ? a < b : b < a;
    }
  }
};

/// The first (last) element that passes.
template <class T, bool First>
struct end_monoid {
  using state = placed<T>;
  static constexpr laws law = any_order;
  TALLY_INLINE constexpr state identity() const { return {T{}, -1}; }
  TALLY_INLINE constexpr state lift(i64 position, T v) const { return {v, position}; }
  TALLY_INLINE constexpr state combine(state const& a, state const& b) const {
    if (a.position < 0)
      return b;
    if (b.position < 0)
      return a;
    return (a.position < b.position) == First ? a : b;
  }
  constexpr T lower(state const& s, summary) const { return s.value; }
  constexpr bool empty(state const& s, summary) const { return s.position < 0; }
};

template <bool Least>
struct arg_operation : operation<arg_operation<Least>> {
  static constexpr char const* spelling = Least ? "argmin" : "argmax";
  template <class... Vs>
  static constexpr bool accepts = sizeof...(Vs) == 1 && (real<Vs> && ...);
  template <class V>
  static constexpr auto bind() {
    return arg_monoid<V, Least>{};
  }
};
template <bool First>
struct end_operation : operation<end_operation<First>> {
  static constexpr char const* spelling = First ? "first" : "last";
  template <class... Vs>
  static constexpr bool accepts = sizeof...(Vs) == 1;
  template <class V>
  static constexpr auto bind() {
    return end_monoid<V, First>{};
  }
};

/// The first position of the least element, an i64; of nothing, error empty_input.
inline constexpr fold_of_one<arg_operation<true>> argmin{};
/// The first position of the greatest element, an i64; of nothing, error empty_input.
inline constexpr fold_of_one<arg_operation<false>> argmax{};
/// The first element that passes; of nothing, error empty_input.
inline constexpr fold_of_one<end_operation<true>> first{};
/// The last element that passes; of nothing, error empty_input.
inline constexpr fold_of_one<end_operation<false>> last{};

} // namespace tally::inline v0
