// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a fold can be computed over a pipe, and if not the reason. Layer 2. A composed fold is judged by its leaves
// first, then by the types of their answers.
#pragma once

#include <optional>

#include <tally/fold/algebra.hpp>
#include <tally/pipeline/index_along.hpp>
#include <tally/pipeline/pipe.hpp>

namespace tally::v0 {

template <class Fold, class Pipe>
constexpr auto judge_fold();

namespace detail {
template <class Fold, class Pipe>
struct fold_verdict { // an argument of a composed fold that is no fold: a number is fine, an element is not
  static constexpr auto of() {
    if constexpr (expression<Fold> && !requires(Fold f) { f.value; })
      return reason<because::an_element_is_no_fold<Fold>>{};
    else
      return allowed{};
  }
  static constexpr auto answer() { return reason<decltype(Fold::value)>{}; }
};
template <class Fold, class Pipe>
using verdict_on = fold_verdict<typename Fold::tally_fold, Pipe>;

template <class Arg, class Pipe>
struct argument_verdict : fold_verdict<Arg, Pipe> {};
template <fold_like Arg, class Pipe>
struct argument_verdict<Arg, Pipe> : verdict_on<Arg, Pipe> {};
template <class Arg, class Pipe>
using answer_in = typename decltype(argument_verdict<Arg, Pipe>::answer())::type;

template <class Op, class... Args, class Pipe>
struct fold_verdict<folded_call<Op, Args...>, Pipe> {
  static constexpr auto of_operation() {
    if constexpr (requires { requires !Op::exists; })
      return reason<because::the_order_is_out_of_range<Op>>{};
    else if constexpr (requires { Op::apply(std::declval<answer_in<Args, Pipe>>()...); })
      return allowed{};
    else
      return reason<because::the_answers_have_no_such_operation<Op, because::type_of<answer_in<Args, Pipe>...>>>{};
  }
  static constexpr auto of() {
    using Verdict = decltype(first_reason<decltype(judge_fold<Args, Pipe>())...>());
    if constexpr (std::same_as<Verdict, allowed>)
      return of_operation();
    else
      return Verdict{};
  }
  static constexpr auto answer() { return reason<decltype(Op::apply(std::declval<answer_in<Args, Pipe>>()...))>{}; }
};
template <class Fold, class Value, class Pipe>
struct fold_verdict<or_else_fold<Fold, Value>, Pipe> {
  static constexpr auto of() {
    using Verdict = decltype(judge_fold<Fold, Pipe>());
    if constexpr (!std::same_as<Verdict, allowed>)
      return Verdict{};
    else if constexpr (requires(Value v) { static_cast<answer_in<Fold, Pipe>>(v); })
      return allowed{};
    else
      return reason<because::the_answers_have_no_such_operation<because::type_of<answer_in<Fold, Pipe>, Value>>>{};
  }
  static constexpr auto answer() { return reason<answer_in<Fold, Pipe>>{}; }
};
template <class Fold, class Pipe>
struct fold_verdict<maybe_fold<Fold>, Pipe> {
  static constexpr auto of() { return judge_fold<Fold, Pipe>(); }
  static constexpr auto answer() { return reason<std::optional<answer_in<Fold, Pipe>>>{}; }
};
template <class Op, class... Values, class Mask, class Pipe>
struct fold_verdict<folding<Op, pack<Values...>, Mask>, Pipe> {
  static constexpr int highest = max_of(0, Values::arity..., Mask::arity);

  static constexpr auto of_elements() { return first_reason<decltype(judge_element<Values, elements_of<Pipe>>())...,
                                                            decltype(judge_condition<Mask, elements_of<Pipe>>())>(); }
  static constexpr auto of_operation() {
    if constexpr (requires { requires !Op::exists; })
      return reason<because::the_order_is_out_of_range<Op>>{};
    else if constexpr (Op::template accepts<value_in<Values, Pipe>...>)
      return allowed{};
    else if constexpr (requires { Op::is_associative; })
      return reason<because::fold_of_needs_functions_of_its_state<Op, because::type_of<value_in<Values, Pipe>...>>>{};
    else if constexpr (Op::takes != sizeof...(Values))
      return reason<because::the_fold_takes_another_number_of_elements<Op, because::there_are<int(sizeof...(Values))>>>{};
    else
      return reason<because::the_fold_needs_another_type<Op, because::type_of<value_in<Values, Pipe>...>>>{};
  }
  static constexpr auto of() {
    if constexpr (highest > current_count<Pipe>) {
      return reason<because::placeholder_needs_a_column<because::names<highest>, because::there_are<current_count<Pipe>>>>{};
    } else if constexpr (constexpr int axis = max_of(highest_axis<decltype(Pipe::values)>, highest_axis<decltype(Pipe::mask)>,
                                                     highest_axis<Mask>, highest_axis<Values>...);
                         axis >= rank_of<decltype(Pipe::source)>) {
      return reason<because::over_needs_axes_of_the_source<because::names<axis>, because::there_are<rank_of<decltype(Pipe::source)>>>>{};
    } else {
      using Verdict = decltype(of_elements());
      if constexpr (std::same_as<Verdict, allowed>)
        return of_operation();
      else
        return Verdict{};
    }
  }
  static constexpr auto answer() {
    using Monoid = decltype(std::declval<Op const&>().template bind<value_in<Values, Pipe>...>());
    return reason<decltype(std::declval<Monoid const&>().lower(std::declval<typename Monoid::state>(), summary{}))>{};
  }
};
} // namespace detail

/// `allowed`, or the reason why the fold cannot be computed over the pipe.
template <class Fold, class Pipe>
constexpr auto judge_fold() {
  return detail::argument_verdict<Fold, Pipe>::of();
}

} // namespace tally::v0
