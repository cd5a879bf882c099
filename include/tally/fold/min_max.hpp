// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// min, max, minmax: IEEE 754-2019 minimum and maximum (NaN wins, -0 < +0); ignoring_nan() makes them minimumNumber and
// maximumNumber. Layer 1. Free of order: the answer is one of the elements.
#pragma once

#include <tally/fold/algebra.hpp>
#include <tally/fold/fold.hpp>

namespace tally::v0 {

/// The value no element is beyond; one quiet NaN stands for all.
template <class T, bool Least>
TALLY_HD constexpr T farthest() {
  if constexpr (floating<T> && !small_float<T>)
    return Least ? stl::numeric_limits<T>::infinity() : -stl::numeric_limits<T>::infinity();
  else
    return Least ? stl::numeric_limits<T>::max() : stl::numeric_limits<T>::lowest();
}

/// The least (Least) or greatest of two numbers in S = T, or float for the small floats.
template <class T, bool Least>
struct extreme_monoid {
  using state = stl::conditional_t<small_float<T>, float, T>;
  static constexpr laws law = any_order;
  static constexpr bool empty_by_extent = true;
  TALLY_INLINE constexpr state identity() const { return farthest<state, Least>(); }
  TALLY_INLINE constexpr state lift(i64, T v) const { return static_cast<state>(v); }
  TALLY_INLINE constexpr state combine(state a, state b) const {
#if defined(__CUDA_ARCH__)
    if constexpr (stl::same_as<state, float>) {
      float r;
      if constexpr (Least)
        asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
      else
        asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
      return r;
    }
#endif
    return static_cast<state>(op::extreme<Least>::apply(a, b));
  }
  constexpr T lower(state s, summary) const {
    if constexpr (floating<T>)
      return s == s ? static_cast<T>(s) : static_cast<T>(stl::numeric_limits<float>::quiet_NaN());
    else
      return s;
  }
  constexpr bool empty(state, summary of) const { return of.extent == 0; }
};

/// minimumNumber and maximumNumber: NaN takes no part, and of NaN alone the answer is NaN. The state tells NaN alone from
/// nothing at all, which a mask could not.
template <floating T, bool Least>
struct extreme_number_monoid {
  using inner = extreme_monoid<T, Least>;
  static constexpr u32 nan_came = 1, number_came = 2;
  struct state {
    typename inner::state s;
    u32 came;
  };
  static constexpr laws law = any_order;
  TALLY_INLINE constexpr state identity() const { return {inner{}.identity(), 0}; }
  TALLY_INLINE constexpr state lift(i64 position, T v) const {
    auto const x = inner{}.lift(position, v);
    return {x == x ? x : inner{}.identity(), x == x ? number_came : nan_came};
  }
  TALLY_INLINE constexpr state combine(state const& a, state const& b) const {
    return {inner{}.combine(a.s, b.s), a.came | b.came};
  }
  constexpr bool empty(state const& s, summary) const { return s.came == 0; }
  constexpr T lower(state const& s, summary of) const {
    return (s.came & number_came) != 0 ? inner{}.lower(s.s, of)
                                       : static_cast<T>(stl::numeric_limits<float>::quiet_NaN());
  }
};

template <bool Least, bool Number = false>
struct extreme_operation : fold_operation<extreme_operation<Least, Number>> {
  static constexpr char const* spelling = Least ? "min" : "max";
  static constexpr bool looks_for_nan = Number;
  constexpr extreme_operation<Least, true> ignoring_nan() const { return {}; }
  template <class... Vs>
  static constexpr bool accepts = sizeof...(Vs) == 1 && (real<Vs> && ...);
  template <class V>
  static constexpr auto bind() {
    if constexpr (Number && floating<V>)
      return extreme_number_monoid<V, Least>{};
    else
      return extreme_monoid<V, Least>{};
  }
};

/// The least element (IEEE minimum); of nothing, error empty_input.
inline constexpr fold_of_one<extreme_operation<true>> min{};
/// The greatest element (IEEE maximum); of nothing, error empty_input.
inline constexpr fold_of_one<extreme_operation<false>> max{};

/// Both ends of a range of values.
template <class T>
struct extent_of_values {
  T min, max;
  friend constexpr bool operator==(extent_of_values const&, extent_of_values const&) = default;
};

namespace op {
struct make_minmax {
  static constexpr char const* spelling = "minmax";
  static constexpr bool of_elements = true;
  template <class T>
  static constexpr extent_of_values<T> apply(T a, T b) {
    return {a, b};
  }
};
} // namespace op

/// minmax and its call with an element expression.
struct minmax_fold : folded_call<op::make_minmax, decltype(min(_1)), decltype(max(_1))> {
  template <class E>
  constexpr auto operator()(E e) const {
    return call_of<op::make_minmax>(min(e), max(e));
  }
  template <class... Es>
    requires(sizeof...(Es) != 1)
  auto operator()(Es...) const
      -> because::the_fold_takes_another_number_of_elements<op::make_minmax, because::there_are<int(sizeof...(Es))>> {
    return {};
  }
};
/// The least and the greatest element, as .min and .max.
inline constexpr minmax_fold minmax{};

} // namespace tally::v0
