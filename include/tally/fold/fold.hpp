// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a user writes: an operation, the element expressions it folds, and a mask; folds are values that are called to
// get another fold. Layer 1. Binding to the types of a source turns the description into a monoid.
#pragma once

#include <tally/base/because.hpp>
#include <tally/element/functions.hpp>
#include <tally/element/user_function.hpp>
#include <tally/fold/monoid.hpp>

namespace tally::v0 {

template <class Fold, class Value>
struct or_else_fold;
template <class Fold>
struct maybe_fold;

/// Both conditions; always disappears.
template <class A, class B>
TALLY_HD constexpr auto both_masks(A a, B b) {
  if constexpr (stl::same_as<A, always>)
    return b;
  else if constexpr (stl::same_as<B, always>)
    return a;
  else
    return a && b;
}

/// One fold of one read: Op applied to the values of the elements that pass the mask.
template <class Op, class Values, class Mask = always>
struct folding {
  using tally_fold = folding;
  using operation = Op;
  Op op;
  Values values;
  Mask mask;

  /// The same fold of other element expressions: sum(_1 * _2).
  template <class... Es>
  constexpr auto operator()(Es... es) const {
    auto given = make_pack(as_element<1>(es)...);
    return folding<Op, decltype(given), Mask>{op, given, mask};
  }
  /// Only the elements for which the condition holds: sum(_1).where(_1 > 0).
  template <class P>
  constexpr auto where(P condition) const {
    auto p = both_masks(mask, as_element<1>(condition));
    return folding<Op, Values, decltype(p)>{op, values, p};
  }
  /// The same fold kept in accumulators of type T: sum.in<double>().
  template <class T, class O = Op>
    requires requires(O o) { o.template in<T>(); }
  constexpr auto in() const {
    auto o = op.template in<T>();
    return folding<decltype(o), Values, Mask>{o, values, mask};
  }
  template <class T, class O = Op>
    requires(!requires(O o) { o.template in<T>(); })
  auto in() const -> because::the_fold_has_no_such_form<O> {
    return {};
  }
  /// Elements that are NaN do not take part; min and max become minimumNumber and maximumNumber of IEEE 754-2019.
  template <class O = Op>
    requires(Values::size > 0)
  constexpr auto ignoring_nan() const {
    auto o = op.ignoring_nan();
    if constexpr (requires { requires decltype(o)::looks_for_nan; }) {
      return folding<decltype(o), Values, Mask>{o, values, mask};
    } else {
      auto p = both_masks(mask, unpack([](auto... v) { return (!is_nan(v) && ...); }, values));
      return folding<decltype(o), Values, decltype(p)>{o, values, p};
    }
  }
  template <class O = Op>
    requires(Values::size == 0)
  auto ignoring_nan() const -> because::the_fold_has_no_such_form<O> {
    return {};
  }
  /// A sum that reports 64-bit overflow as an error instead of wrapping.
  template <class O = Op>
    requires requires(O o) { o.checked(); }
  constexpr auto checked() const {
    auto o = op.checked();
    return folding<decltype(o), Values, Mask>{o, values, mask};
  }
  template <class O = Op>
    requires(!requires(O o) { o.checked(); })
  auto checked() const -> because::the_fold_has_no_such_form<O> {
    return {};
  }
  /// A sum that carries its rounding errors along.
  template <class O = Op>
    requires requires(O o) { o.compensated(); }
  constexpr auto compensated() const {
    auto o = op.compensated();
    return folding<decltype(o), Values, Mask>{o, values, mask};
  }
  template <class O = Op>
    requires(!requires(O o) { o.compensated(); })
  auto compensated() const -> because::the_fold_has_no_such_form<O> {
    return {};
  }
  /// The answer where there is no element to answer from.
  template <class T>
  constexpr auto or_else(T value) const {
    return or_else_fold<folding, T>{*this, value};
  }
  /// The answer as std::optional, empty where there is no element to answer from.
  constexpr auto maybe() const { return maybe_fold<folding>{*this}; }
};

/// A fold of one element expression, by default _1.
template <class Op>
using fold_of_one = folding<Op, pack<placeholder<0>>>;
/// A fold that only looks at whether elements pass.
template <class Op>
using fold_of_none = folding<Op, pack<>>;

/// What operations share: one element, nothing to ignore.
template <class Self>
struct fold_operation {
  static constexpr int takes = 1;
  constexpr Self ignoring_nan() const { return static_cast<Self const&>(*this); }
};

} // namespace tally::v0
