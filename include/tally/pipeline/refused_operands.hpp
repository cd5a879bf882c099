// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators where no operator of ours fits: a struct or a range beside an element, arithmetic on a whole pipeline, and
// whatever follows a refusal. Layer 2. They exist to say one sentence instead of a list of candidates.
#pragma once

#include <tally/pipeline/pipe.hpp>

namespace tally::v0 {

namespace detail {
/// Beside an element or a fold: a number of no kind we know, a struct, a range; or a whole pipeline beside anything.
template <class A, class B>
concept misfits = !operands<A, B> && (expression<A> || fold_like<A> || pipeline<A> || refused<A> || expression<B> ||
                                      fold_like<B> || pipeline<B> || refused<B>);

template <class A, class B>
constexpr auto judge_operands() {
  if constexpr (refused<A> || refused<B>)
    return reason<absorbed<>>{};
  else if constexpr (pipeline<A> || pipeline<B>)
    return reason<because::nothing_follows_reduce<A, B>>{};
  else if constexpr (looks_like_a_range<A> || looks_like_a_range<B>)
    return reason<because::a_range_is_no_element<A, B>>{};
  else
    return reason<because::an_operand_is_a_number<A, B>>{};
}
template <class A, class B>
  requires misfits<A, B>
using misfit = typename decltype(judge_operands<A, B>())::type;
} // namespace detail

template <class A, class B>
auto operator+(A const&, B const&) -> detail::misfit<A, B> {
  return {};
}
template <class A, class B>
auto operator-(A const&, B const&) -> detail::misfit<A, B> {
  return {};
}
template <class A, class B>
auto operator*(A const&, B const&) -> detail::misfit<A, B> {
  return {};
}
template <class A, class B>
auto operator/(A const&, B const&) -> detail::misfit<A, B> {
  return {};
}
template <class A, class B>
auto operator%(A const&, B const&) -> detail::misfit<A, B> {
  return {};
}
template <class A, class B>
auto operator<(A const&, B const&) -> detail::misfit<A, B> {
  return {};
}
template <class A, class B>
auto operator>(A const&, B const&) -> detail::misfit<A, B> {
  return {};
}
template <class A, class B>
auto operator<=(A const&, B const&) -> detail::misfit<A, B> {
  return {};
}
template <class A, class B>
auto operator>=(A const&, B const&) -> detail::misfit<A, B> {
  return {};
}
template <class A, class B>
auto operator==(A const&, B const&) -> detail::misfit<A, B> {
  return {};
}
template <class A, class B>
auto operator!=(A const&, B const&) -> detail::misfit<A, B> {
  return {};
}
template <class A, class B>
auto operator&&(A const&, B const&) -> detail::misfit<A, B> {
  return {};
}
template <class A, class B>
auto operator||(A const&, B const&) -> detail::misfit<A, B> {
  return {};
}
template <class A, class B>
auto operator&(A const&, B const&) -> detail::misfit<A, B> {
  return {};
}
template <class A, class B>
auto operator^(A const&, B const&) -> detail::misfit<A, B> {
  return {};
}

/// An answer that was refused may still be printed.
template <class Out, refused T>
constexpr Out& operator<<(Out& out, T const&) {
  return out;
}

} // namespace tally::v0
