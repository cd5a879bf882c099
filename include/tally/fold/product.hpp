// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// product: multiplication in the accumulator of the element's type; of nothing, one. Layer 1.
#pragma once

#include <tally/fold/fold.hpp>

namespace tally::v0 {

/// Multiplication in Acc; in order for a user's type, whose product need not commute (a matrix).
template <class Acc>
struct product_monoid {
  using state = Acc;
  static constexpr laws law = integer<Acc> ? any_order : (floating<Acc> ? any_grouping : in_order);
  TALLY_INLINE constexpr Acc identity() const { return Acc(1); }
  template <class V>
  TALLY_INLINE constexpr Acc lift(i64, V v) const {
    return static_cast<Acc>(v);
  }
  TALLY_INLINE constexpr Acc combine(Acc a, Acc b) const { return op::times::apply(a, b); }
  constexpr Acc lower(Acc s, summary) const { return s; }
};

/// The operation of product; In = void leaves the accumulator to the type.
template <class In = void>
struct product_operation : fold_operation<product_operation<In>> {
  static constexpr char const* spelling = "product";
  using accumulates_in = In;
  template <class T>
  constexpr product_operation<T> in() const {
    return {};
  }
  template <class V>
  using accumulator = stl::conditional_t<stl::is_void_v<In>, accumulator_t<V>, In>;
  template <class V>
  static constexpr bool multiplies = requires(V v, accumulator<V> a) {
    static_cast<accumulator<V>>(v);
    a * a;
    accumulator<V>(1);
    requires __is_trivially_copyable(accumulator<V>);
  };
  template <class... Vs>
  static constexpr bool accepts = sizeof...(Vs) == 1 && (multiplies<Vs> && ...);
  template <class V>
  static constexpr auto bind() {
    return product_monoid<accumulator<V>>{};
  }
};

/// The product of the elements; of nothing, one.
inline constexpr fold_of_one<product_operation<>> product{};

} // namespace tally::v0
