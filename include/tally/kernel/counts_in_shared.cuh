// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts of a block in shared memory, by the fewest instructions an element. Layer 4.
#pragma once

#include <tally/base/numbers.hpp>

namespace tally::v0::kernel {

__device__ __forceinline__ u32 address_in_shared(char const* place) { return static_cast<u32>(__cvta_generic_to_shared(place)); }
/// The address of a place in shared memory, in a register that compilers keep instead of making it again in every branch.
__device__ __forceinline__ u32 kept_address(char const* in_shared) {
  u32 kept;
  asm volatile("mov.u32 %0, %1;" : "=r"(kept) : "r"(address_in_shared(in_shared)));
  return kept;
}
/// Adds one to a word of shared memory, if asked to: without a branch, at whose end the lanes of a warp would wait for each other.
__device__ __forceinline__ void count_at(u32 address, bool counts) {
  asm volatile("{\n"
               ".reg .pred counts;\n"
               "setp.ne.u32 counts, %1, 0;\n"
               "@counts red.shared.add.u32 [%0], 1;\n"
               "}" ::"r"(address), "r"(u32(counts)) : "memory");
}

} // namespace tally::v0::kernel
