// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The canonical C++ spelling of a type, as both compilers would accept it in a template argument list. Layer 0, host
// only: it becomes the name expression that NVRTC compiles and a part of the cache key.
#pragma once

#include <string>

namespace tally::v0 {

namespace detail {
template <class T>
constexpr char const* pretty_name() {
  return __PRETTY_FUNCTION__;
}

/// A type as the compiler spells it somewhere in `pretty`, and its arguments where it is a template of types.
struct type_spelling {
  char const* pretty;
  type_spelling const* const* arguments;
  int count; ///< of arguments; -1: no template of types
};
template <class T>
inline constexpr type_spelling spelling{pretty_name<T>(), nullptr, -1};
template <class... Ts>
inline constexpr type_spelling const* spellings[] = {&spelling<Ts>..., nullptr};
template <template <class...> class C, class... Ts>
inline constexpr type_spelling spelling<C<Ts...>>{pretty_name<C<Ts...>>(), spellings<Ts...>, int(sizeof...(Ts))};

/// Compiled in dsl/base/name_of.cpp.
std::string spelled(type_spelling const& s);
} // namespace detail

/// The fully qualified spelling of T.
template <class T>
[[gnu::cold]] std::string name_of() {
  return detail::spelled(detail::spelling<T>);
}

} // namespace tally::v0
