// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a fold can be computed over a pipe, and if not the reason. Layer 2.
#pragma once

#include <tally/fold/algebra.hpp>
#include <tally/pipeline/pipe.hpp>

namespace tally::inline v0 {

template <class Fold, class Pipe>
constexpr auto judge_fold();

/// The first of several verdicts that is not fine.
template <class Verdict, class... Verdicts>
constexpr auto first_reason() {
  if constexpr (sizeof...(Verdicts) == 0 || !std::same_as<Verdict, reason<because::fine>>)
    return Verdict{};
  else
    return first_reason<Verdicts...>();
}

namespace detail {
template <class Fold, class Pipe>
struct verdict { // an argument of a composed fold that is no fold: a number is fine, an element is not
  static constexpr auto of() {
    if constexpr (expression<Fold> && !requires(Fold f) { f.value; })
      return reason<because::an_element_is_no_fold<Fold>>{};
    else
      return reason<because::fine>{};
  }
};
template <class Op, class... Args, class Pipe>
struct verdict<folded_call<Op, Args...>, Pipe> {
  static constexpr auto of() { return first_reason<decltype(judge_fold<Args, Pipe>())...>(); }
};
template <class Fold, class Value, class Pipe>
struct verdict<or_else_fold<Fold, Value>, Pipe> {
  static constexpr auto of() { return judge_fold<Fold, Pipe>(); }
};
template <class Fold, class Pipe>
struct verdict<maybe_fold<Fold>, Pipe> {
  static constexpr auto of() { return judge_fold<Fold, Pipe>(); }
};
template <class Op, class... Values, class Mask, class Pipe>
struct verdict<folding<Op, pack<Values...>, Mask>, Pipe> {
  static constexpr auto of() {
    if constexpr (((Values::arity > current_count<Pipe>) || ...) || Mask::arity > current_count<Pipe>)
      return reason<because::placeholder_needs_a_column<Pipe>>{};
    else if constexpr (!std::same_as<bool, value_in<Mask, Pipe>>)
      return reason<because::filter_needs_a_condition<Pipe>>{};
    else if constexpr (Op::template accepts<value_in<Values, Pipe>...>)
      return reason<because::fine>{};
    else if constexpr (Op::template accepts<double> ? sizeof...(Values) != 1 : sizeof...(Values) != 2)
      return reason<because::the_fold_takes_another_number_of_elements<Op>>{};
    else
      return reason<because::the_fold_needs_another_type<pack<Op, value_in<Values, Pipe>...>>>{};
  }
};
} // namespace detail

/// reason<because::fine>, or the reason why the fold cannot be computed over the pipe.
template <class Fold, class Pipe>
constexpr auto judge_fold() {
  if constexpr (fold_like<Fold>)
    return detail::verdict<typename Fold::tally_fold, Pipe>::of();
  else
    return detail::verdict<Fold, Pipe>::of();
}

} // namespace tally::inline v0
