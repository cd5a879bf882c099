// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Words that prove by themselves of which run they are: 32 bits of a state beside the epoch of its run, in one access of 64 bits, which is
// never torn. Layer 4.
#pragma once

#include <tally/base/numbers.hpp>

namespace tally::v0::kernel {

__device__ __forceinline__ void store_word(u64* to, u32 word, u32 epoch) {
  u64 const both = (u64(epoch) << 32) | word;
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(both) : "memory");
}
__device__ __forceinline__ u64 peek_word(u64 const* from) {
  u64 both;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(both) : "l"(from) : "memory");
  return both;
}
__device__ __forceinline__ u32 await_word(u64 const* from, u64 both, u32 epoch) {
  while (u32(both >> 32) != epoch)
    both = peek_word(from);
  return u32(both);
}

} // namespace tally::v0::kernel
