// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// dlopen and its relatives. Compiled side, jit.
#include "jit/library.hpp"

#include <dlfcn.h>
#include <link.h>

namespace tally::v0::jit {

void* library::symbol(char const* name) const noexcept { return handle == nullptr ? nullptr : dlsym(handle, name); }

library open_first(std::vector<std::string> const& candidates) {
  library found;
  for (auto const& candidate : candidates) {
    found.handle = dlopen(candidate.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (found.handle != nullptr) {
      link_map* map = nullptr;
      found.path = dlinfo(found.handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr ? map->l_name : candidate;
      return found;
    }
    char const* const words = dlerror();
    found.tried += (found.tried.empty() ? "" : "; ") + (words == nullptr ? candidate : std::string(words));
  }
  return found;
}

} // namespace tally::v0::jit
