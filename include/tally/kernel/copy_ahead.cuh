// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies of a few bytes into shared memory that a thread asks for and does not wait for: cp.async, of sm_80. Layer 4. For chips that
// have no bulk engine.
#pragma once

#include <tally/base/numbers.hpp>

namespace tally::v0::kernel {

/// Asks for Bytes bytes; both addresses are multiples of that.
template <int Bytes>
  requires(Bytes == 4 || Bytes == 8 || Bytes == 16)
__device__ __forceinline__ void copy_ahead(unsigned char* to, unsigned char const* from) {
  u32 const at = u32(__cvta_generic_to_shared(to));
  if constexpr (Bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(at), "l"(from), "n"(Bytes) : "memory");
}
/// What this thread has asked for since it last closed is a group.
__device__ __forceinline__ void close_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// Waits for all groups of this thread but the last `Open`. What others have asked for is there when they have waited, too.
template <int Open>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Open) : "memory");
}

} // namespace tally::v0::kernel
