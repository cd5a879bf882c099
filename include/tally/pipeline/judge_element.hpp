// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether an expression can be computed from the current elements, and if not the reason. Layer 2. Every part is judged
// before it is evaluated, so a wrong type is met here and nowhere deeper.
#pragma once

#include <tally/base/because.hpp>
#include <tally/element/user_function.hpp>

namespace tally::v0 {

/// The type an expression has over elements of the given types.
template <class Expr, class Row>
using value_of = decltype(stl::declval<Expr const&>().eval(stl::declval<Row const&>()));

template <class Expr, class Row>
constexpr auto judge_element();

/// A callable that takes these, and gives a trivially copyable value.
template <class F, class... Ts>
concept gives_a_value = requires(F const& f, Ts... xs) {
  f(xs...);
  requires !stl::is_void_v<decltype(f(xs...))>;
  requires __is_trivially_copyable(stl::remove_cvref_t<decltype(f(xs...))>);
};
template <class R>
concept looks_like_a_range = requires(R& r) {
  r.begin();
  r.end();
};

namespace detail {
template <class Expr, class Row>
struct element_verdict { // placeholders, positions, numbers: nothing can be wrong
  static constexpr auto of() { return allowed{}; }
};
template <class Op, class... Args, class Row>
struct element_verdict<call<Op, Args...>, Row> {
  static constexpr auto of_operation() {
    if constexpr (requires { Op::apply(stl::declval<value_of<Args, Row>>()...); })
      return allowed{};
    else if constexpr (requires { Op::takes_a_condition; })
      return reason<because::filter_needs_a_condition<because::type_of<value_of<Args, Row>...>>>{};
    else
      return reason<because::the_operation_needs_other_elements<Op, because::type_of<value_of<Args, Row>...>>>{};
  }
  static constexpr auto of() {
    using Verdict = decltype(first_reason<decltype(judge_element<Args, Row>())...>());
    if constexpr (stl::same_as<Verdict, allowed>)
      return of_operation();
    else
      return Verdict{};
  }
};
template <class F, class... Args, class Row>
struct element_verdict<host_call<F, Args...>, Row> {
  static constexpr auto of() {
    if constexpr (fold_like<F>)
      return reason<because::an_element_is_no_fold<F>>{};
    else if constexpr (refused<F>)
      return reason<absorbed<>>{};
    else if constexpr (gives_a_value<F, value_of<Args, Row>...>)
      return allowed{};
    else if constexpr (looks_like_a_range<F>)
      return reason<because::a_range_is_no_element<F>>{};
    else
      return reason<because::the_operation_needs_other_elements<F, because::type_of<value_of<Args, Row>...>>>{};
  }
};
} // namespace detail

/// `allowed`, or the reason why an expression cannot be computed from elements of the types of Row.
template <class Expr, class Row>
constexpr auto judge_element() {
  return detail::element_verdict<Expr, Row>::of();
}

/// The same for an expression that must be a condition.
template <class Expr, class Row>
constexpr auto judge_condition() {
  using Verdict = decltype(judge_element<Expr, Row>());
  if constexpr (!stl::same_as<Verdict, allowed>)
    return Verdict{};
  else if constexpr (!stl::same_as<value_of<Expr, Row>, bool>)
    return reason<because::filter_needs_a_condition<because::type_of<value_of<Expr, Row>>>>{};
  else
    return allowed{};
}

} // namespace tally::v0
