// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sum: addition in the accumulator of the element's type. Layer 1. Integer sums are free of order; float sums follow the
// tree. checked() keeps 128 bits and refuses an answer that its accumulator does not hold; compensated() carries the rounding errors (Neumaier's
// two-sum through lanes, warps and blocks).
#pragma once

#include <tally/base/two_sum.hpp>
#include <tally/fold/fold.hpp>

namespace tally::v0 {

/// Addition in Acc.
template <class Acc>
struct sum_monoid {
  using state = Acc;
  static constexpr laws law = integer<Acc> ? any_order : any_grouping;
  TALLY_INLINE constexpr Acc identity() const { return Acc{}; }
  template <class V>
  TALLY_INLINE constexpr Acc lift(i64, V v) const {
    return static_cast<Acc>(v);
  }
  TALLY_INLINE constexpr Acc combine(Acc a, Acc b) const { return static_cast<Acc>(op::plus::apply(a, b)); }
  constexpr Acc lower(Acc s, summary) const { return s; }
};

/// Addition with the sum of all rounding errors beside it.
template <class Acc>
struct compensated_sum_monoid {
  struct state {
    Acc high, low;
  };
  static constexpr laws law = any_grouping;
  TALLY_INLINE constexpr state identity() const { return {Acc(0), Acc(0)}; }
  template <class V>
  TALLY_INLINE constexpr state lift(i64, V v) const {
    return {static_cast<Acc>(v), Acc(0)};
  }
  TALLY_INLINE constexpr state combine(state const& a, state const& b) const {
    Acc s = a.high, error;
    two_sum(s, b.high, error);
    return {s, (a.low + b.low) + (error == error ? error : Acc(0))};
  }
  constexpr Acc lower(state const& s, summary) const { return s.high + s.low; }
};

/// Addition in 128 bits; empty() is never asked, overflow is: run reports it as error overflow.
template <class Acc>
struct checked_sum_monoid {
  struct state {
    u64 low;
    i64 high;
  };
  static constexpr laws law = any_order;
  TALLY_INLINE constexpr state identity() const { return {0, 0}; }
  template <class V>
  TALLY_INLINE constexpr state lift(i64, V v) const {
    if constexpr (V(-1) < V(0))
      return {static_cast<u64>(static_cast<i64>(v)), v < V(0) ? i64(-1) : i64(0)};
    else
      return {static_cast<u64>(v), 0};
  }
  TALLY_INLINE constexpr state combine(state const& a, state const& b) const {
    u64 const low = a.low + b.low;
    return {low, a.high + b.high + (low < a.low ? 1 : 0)};
  }
  TALLY_INLINE constexpr bool overflowed(state const& s) const {
    if constexpr (floating<Acc>) {
      return false;
    } else if constexpr (Acc(-1) < Acc(0)) {
      i64 const in_64 = static_cast<i64>(s.low);
      return s.high != (in_64 < 0 ? -1 : 0) || in_64 != static_cast<i64>(static_cast<Acc>(in_64));
    } else {
      return s.high != 0 || s.low != static_cast<u64>(static_cast<Acc>(s.low));
    }
  }
  TALLY_INLINE constexpr Acc lower(state const& s, summary) const {
    if constexpr (!floating<Acc>)
      return static_cast<Acc>(s.low);
    else if (s.high == (static_cast<i64>(s.low) < 0 ? -1 : 0))
      return static_cast<Acc>(static_cast<i64>(s.low));
    else
      return static_cast<Acc>(static_cast<double>(s.high) * 0x1p64 + static_cast<double>(s.low));
  }
};

enum class sum_form { plain, compensated, checked };

/// The operation of sum; In = void leaves the accumulator to the type.
template <class In = void, sum_form Form = sum_form::plain>
struct sum_operation : fold_operation<sum_operation<In, Form>> {
  static constexpr char const* spelling = "sum";
  static constexpr char const* form = Form == sum_form::compensated ? ".compensated()" : Form == sum_form::checked ? ".checked()" : "";
  using accumulates_in = In;
  template <class T>
  constexpr sum_operation<T, Form> in() const {
    return {};
  }
  constexpr sum_operation<In, sum_form::compensated> compensated() const { return {}; }
  constexpr sum_operation<In, sum_form::checked> checked() const { return {}; }

  template <class V>
  using accumulator = stl::conditional_t<stl::is_void_v<In>, accumulator_t<V>, In>;
  template <class V>
  static constexpr bool adds = requires(V v, accumulator<V> a) {
    static_cast<accumulator<V>>(v);
    a + a;
    requires __is_trivially_copyable(accumulator<V>);
    requires Form != sum_form::checked || integer<V>;
    requires Form != sum_form::compensated || floating<accumulator<V>>;
  };
  template <class... Vs>
  static constexpr bool accepts = sizeof...(Vs) == 1 && (adds<Vs> && ...);
  template <class V>
  static constexpr auto bind() {
    using A = accumulator<V>;
    if constexpr (Form == sum_form::compensated)
      return compensated_sum_monoid<A>{};
    else if constexpr (Form == sum_form::checked)
      return checked_sum_monoid<A>{};
    else
      return sum_monoid<A>{};
  }
};

/// The sum of the elements; of nothing, zero.
inline constexpr fold_of_one<sum_operation<>> sum{};

} // namespace tally::v0
