// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The canonical C++ spelling of a type, as both compilers would accept it in a template argument list. Layer 0, host
// only: it becomes the name expression that NVRTC compiles and a part of the cache key.
#pragma once

#include <string>
#include <string_view>

#include <tally/base/pack.hpp>

namespace tally::inline v0 {

namespace detail {
template <class T>
constexpr std::string_view raw_name() {
  constexpr std::string_view text = __PRETTY_FUNCTION__;
  constexpr auto first = text.find("T = ") + 4;
#if defined(__clang__)
  return text.substr(first, text.rfind(']') - first);
#else
  return text.substr(first, text.find("; std::string_view", first) - first);
#endif
}

template <class T>
struct name {
  [[gnu::cold]] static void append(std::string& out) { out += raw_name<T>(); }
};
template <template <class...> class C, class... Ts>
struct name<C<Ts...>> {
  [[gnu::cold]] static void append(std::string& out) {
    constexpr auto whole = raw_name<C<Ts...>>();
    out += whole.substr(0, whole.find('<'));
    out += '<';
    bool first = true;
    ((first ? void(first = false) : void(out += ", "), name<Ts>::append(out)), ...);
    out += '>';
  }
};
} // namespace detail

/// The fully qualified spelling of T.
template <class T>
[[gnu::cold]] std::string name_of() {
  std::string out;
  detail::name<T>::append(out);
  return out;
}

} // namespace tally::inline v0
