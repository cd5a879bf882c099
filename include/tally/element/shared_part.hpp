// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What expressions have in common: whether a part stands in one, and the same expression with an element of the row in its place. Layer 1.
#pragma once

#include <tally/element/placeholder.hpp>

namespace tally::v0 {

/// Whether an expression of type Part stands in one of type E.
template <class Part, class E>
inline constexpr bool stands_in = stl::same_as<Part, E>;
template <class Part, class Op, class... Args>
inline constexpr bool stands_in<Part, call<Op, Args...>> = stl::same_as<Part, call<Op, Args...>> || (false || ... || stands_in<Part, Args>);

/// How many operations an expression takes.
template <class E>
inline constexpr int operations_in = 0;
template <class Op, class... Args>
inline constexpr int operations_in<call<Op, Args...>> = (1 + ... + operations_in<Args>);

/// The expression with element I wherever Part stands.
template <class Part, int I, class E>
constexpr auto with_element(E const& e) {
  if constexpr (stl::same_as<Part, E>)
    return placeholder<I>{};
  else if constexpr (stands_in<Part, E>)
    return [&]<class Op, class... Args>(call<Op, Args...> const& c) {
      return unpack([](auto const&... a) { return call_of<Op>(with_element<Part, I>(a)...); }, c.args);
    }(e);
  else
    return e;
}

/// The first part of that type among expressions, in one of which it stands.
template <class Part, class E, class... Es>
constexpr Part part_among(pack<E, Es...> const& es) {
  if constexpr (stl::same_as<Part, E>)
    return es.first;
  else if constexpr (stands_in<Part, E>)
    return part_among<Part>(es.first.args);
  else
    return part_among<Part>(es.rest);
}

/// Calls f with every part of that type of an expression.
template <class Part, class E, class F>
constexpr void for_each_part(E const& e, F const& f) {
  if constexpr (stl::same_as<Part, E>)
    f(e);
  else if constexpr (stands_in<Part, E>)
    unpack([&](auto const&... a) { (for_each_part<Part>(a, f), ...); }, e.args);
}

} // namespace tally::v0
