// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// argmin, argmax, first, last: answers that name a position. Layer 1. Ties go to the first position, NaN wins as it does
// in min and max; free of order because the position settles everything.
#pragma once

#include <tally/base/ordered_key.hpp>
#include <tally/fold/fold.hpp>
#include <tally/fold/min_max.hpp>

namespace tally::v0 {

/// A value and the position where it stands (-1: nowhere yet).
template <class T>
struct placed {
  T value;
  i64 position;
  friend constexpr bool operator==(placed const&, placed const&) = default;
};

/// The position of the least (greatest) element. States compare as pairs (key, position), in which "nowhere" is the
/// greatest position, so no case is special.
template <class T, bool Least>
struct arg_monoid {
  using key = ordered_key_t<T>;
  using state = placed<key>;
  static constexpr laws law = any_order;
  TALLY_INLINE static constexpr key farthest_key() {
    return Least ? stl::numeric_limits<key>::max() : stl::numeric_limits<key>::min();
  }
  TALLY_INLINE static constexpr bool beats(key a, i64 at_a, key b, i64 at_b) {
    return (Least ? a < b : b < a) || (a == b && static_cast<u64>(at_a) < static_cast<u64>(at_b));
  }
  TALLY_INLINE constexpr state identity() const { return {farthest_key(), -1}; }
  TALLY_INLINE constexpr state lift(i64 position, T v) const { return {ordered_key<Least>(v), position}; }
  TALLY_INLINE constexpr state combine(state const& a, state const& b) const {
    bool const keep = beats(a.value, a.position, b.value, b.position);
    return {keep ? a.value : b.value, keep ? a.position : b.position};
  }
  constexpr i64 lower(state const& s, summary) const { return s.position; }
  constexpr bool empty(state const& s, summary) const { return s.position < 0; }

  /// Lanes meet elements in the order of their positions, so only a better key counts; of floats, every key is better than
  /// the farthest.
  template <int N>
  struct keyed_lanes {
    key best[N];
    i64 at[N];
    TALLY_INLINE constexpr explicit keyed_lanes(arg_monoid) {
      for (int j = 0; j < N; ++j)
        best[j] = farthest_key(), at[j] = -1;
    }
    TALLY_INLINE constexpr void step(arg_monoid, int j, bool on, i64 position, T v) {
      key const k = ordered_key<Least>(v);
      bool const better = floating<T> ? (Least ? k < best[j] : best[j] < k) : beats(k, position, best[j], at[j]);
      best[j] = on && better ? k : best[j];
      at[j] = on && better ? position : at[j];
    }
    TALLY_INLINE constexpr state close(arg_monoid, int j) const { return {best[j], at[j]}; }
  };
  /// The same of a running extreme, which is that of min or max beside this fold: where it changes, its place does, of which only the
  /// distance from the lane's first element is kept, a constant where a lane is unrolled. For GPUs, whose max of floats gives one NaN.
  template <int N>
  struct lanes_of_extremes {
    using extreme = extreme_monoid<T, Least>;
    typename extreme::state best[N];
    i64 first[N], beyond[N];
    bool any[N];
    TALLY_INLINE constexpr explicit lanes_of_extremes(arg_monoid) {
      for (int j = 0; j < N; ++j)
        best[j] = extreme{}.identity(), first[j] = beyond[j] = 0, any[j] = false;
    }
    TALLY_INLINE constexpr void step(arg_monoid, int j, bool on, i64 position, T v) {
      auto const next = extreme{}.combine(best[j], extreme{}.lift(position, v));
      first[j] = any[j] ? first[j] : position;
      beyond[j] = on && any[j] && differs(next, best[j]) ? position - first[j] : beyond[j];
      best[j] = on ? next : best[j];
      any[j] = any[j] || on;
    }
    TALLY_INLINE constexpr state close(arg_monoid m, int j) const {
      return any[j] ? state{ordered_key<Least>(best[j]), first[j] + beyond[j]} : m.identity();
    }

  private:
    template <class S>
    TALLY_INLINE static constexpr bool differs(S a, S b) { // zeros of either sign do
      if constexpr (floating<S>)
        return bits_as<u32>(a) != bits_as<u32>(b);
      else
        return a != b;
    }
  };
#if defined(__CUDA_ARCH__)
  template <int N> // of doubles the extreme is no instruction
  using lanes = stl::conditional_t<stl::same_as<T, double>, keyed_lanes<N>, lanes_of_extremes<N>>;
#else
  template <int N>
  using lanes = keyed_lanes<N>;
#endif
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
struct arg_operation : fold_operation<arg_operation<Least>> {
  static constexpr char const* spelling = Least ? "argmin" : "argmax";
  template <class... Vs>
  static constexpr bool accepts = sizeof...(Vs) == 1 && (real<Vs> && ...);
  template <class V>
  static constexpr auto bind() {
    return arg_monoid<V, Least>{};
  }
};
template <bool First>
struct end_operation : fold_operation<end_operation<First>> {
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

} // namespace tally::v0
