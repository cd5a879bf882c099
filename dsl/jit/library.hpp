// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opening a shared library at run time: the first of several places that works, kept open until the process ends.
// Compiled side, jit.
#pragma once

#include <string>
#include <vector>

namespace tally::v0::jit {

/// An opened library, or why there is none.
struct library {
  void* handle = nullptr;
  std::string path;  ///< the file the loader took
  std::string tried; ///< every candidate that failed, with the loader's words

  /// The address of a function; null when the library lacks it.
  void* symbol(char const* name) const noexcept;
};

library open_first(std::vector<std::string> const& candidates);

/// Puts the library's `name` into `place`, a function pointer; false when it is not there.
template <class Function>
bool bind(library const& from, char const* name, Function*& place) noexcept {
  place = reinterpret_cast<Function*>(from.symbol(name));
  return place != nullptr;
}

} // namespace tally::v0::jit
