// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// kernel/counts_in_shared.cuh as host code: addresses of shared memory count from its begin.
#pragma once

#include <tally/kernel/cell_word.cuh>

namespace tally::v0::kernel {

inline u32 kept_address(char const* in_shared) { return static_cast<u32>(in_shared - emulated::shared_begin); }
inline void count_at(u32 address, bool counts) {
  if (counts) ++*reinterpret_cast<u32*>(emulated::shared_begin + address);
}

} // namespace tally::v0::kernel
