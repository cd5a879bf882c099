// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a fold is to the planner and the kernels: a monoid with a way in (lift) and a way out (lower), and the laws it
// keeps. Layer 1. Elements first meet in *lanes*: N running states side by side, each fed one element at a time; a lane
// is closed into one state, and states are combined along the tree.
#pragma once

#include <tally/element/placeholder.hpp>

namespace tally::v0 {

/// What may be done to the order of combination.
struct laws {
  bool commutative; ///< combine(a, b) and combine(b, a) are the same answer (their bits may differ in the last place)
  bool order_free;  ///< any order and any grouping give the same bits
  friend constexpr bool operator==(laws const&, laws const&) = default;
};

inline constexpr laws any_order{true, true};
inline constexpr laws any_grouping{true, false};
inline constexpr laws in_order{false, false};

/// What is known beside the state when a fold is lowered.
struct summary {
  i64 extent; ///< elements read, before any mask
};

template <class M>
concept monoid = requires(M const& m, typename M::state s) {
  { M::law } -> stl::convertible_to<laws>;
  { m.identity() } -> stl::same_as<typename M::state>;
  { m.combine(s, s) } -> stl::same_as<typename M::state>;
  m.lower(s, summary{});
};

/// A monoid whose answer needs at least one element: it says whether a state has seen any.
template <class M>
concept partial_monoid = monoid<M> && requires(M const& m, typename M::state s) {
  { m.empty(s, summary{}) } -> stl::same_as<bool>;
};

/// A monoid whose states carry how many elements they hold, and need not where all hold equally many: then even_part(s) is all
/// that moves, and combine_even(a, b, n) combines the states of n elements each to the bits of combine.
template <class M>
concept even_monoid = monoid<M> && requires(M const& m, typename M::state s, typename M::even e, u64 n) {
  { m.even_part(s) } -> stl::same_as<typename M::even>;
  { m.combine_even(e, e, n) } -> stl::same_as<typename M::even>;
  { m.of_even(e, n) } -> stl::same_as<typename M::state>;
};

/// N lanes that hold whole states. A monoid with wide states may add to one where it is: add_to(state, values...).
template <class M, int N>
struct state_lanes {
  typename M::state s[N];
  TALLY_INLINE constexpr explicit state_lanes(M const& m) {
    for (int j = 0; j < N; ++j)
      s[j] = m.identity();
  }
  template <class... Vs>
  TALLY_INLINE constexpr void step(M const& m, int j, bool on, i64 position, Vs... values) {
    if constexpr (requires { m.add_to(s[j], values...); }) {
      if (on)
        m.add_to(s[j], values...);
    } else {
      auto const next = m.combine(s[j], m.lift(position, values...));
      s[j] = on ? next : s[j];
    }
  }
  TALLY_INLINE constexpr typename M::state close(M const&, int j) const { return s[j]; }
};

namespace detail {
template <class M, int N>
struct lanes {
  using type = state_lanes<M, N>;
};
template <class M, int N>
  requires requires { typename M::template lanes<N>; }
struct lanes<M, N> {
  using type = typename M::template lanes<N>;
};
} // namespace detail

/// The lanes of M: its own where it has a cheaper running form, else whole states.
template <class M, int N>
using lanes_t = typename detail::lanes<M, N>::type;

/// M with a flag that says whether any element came through a mask.
template <class M>
struct seen {
  M inner;
  struct state {
    typename M::state s;
    u32 any;
  };
  static constexpr laws law = M::law;
  TALLY_INLINE constexpr state identity() const { return {inner.identity(), 0}; }
  template <class... Vs>
  TALLY_INLINE constexpr state lift(i64 position, Vs... values) const {
    return {inner.lift(position, values...), 1};
  }
  TALLY_INLINE constexpr state combine(state const& a, state const& b) const {
    return {inner.combine(a.s, b.s), a.any | b.any};
  }
  constexpr bool empty(state const& s, summary) const { return s.any == 0; }
  constexpr auto lower(state const& s, summary of) const { return inner.lower(s.s, of); }
};

} // namespace tally::v0
