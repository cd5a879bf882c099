// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A count in global memory that tells others what has been accumulated: whoever acquires it sees what was written before
// it. red.async.release on chips that have it (sm_100), red.release elsewhere. Layer 2.
#pragma once

#include <tally/primitive/red.cuh>
#include <tally/primitive/red_async.cuh>

namespace tally::v0::primitive {

/// *count += value, after everything that this thread wrote or knows to be written, for the threads of `Who` (gpu or sys);
/// with `Mmio` the count is a device's (sys, sm_100).
template <scope Who = scope::gpu, bool Mmio = false, class T>
__device__ __forceinline__ void publish(in_global<T> count, typename verbs::itself<T>::type value) {
  if constexpr (Mmio || available<verbs::publish_form<operation::add, T, Who, false>>)
    red_async_release<operation::add, Who, Mmio>(count, value);
  else
    red<operation::add, semantics::release, Who>(count, value);
}

/// The same of what all threads of the block accumulated by red, once for the block. The whole block calls it.
template <scope Who = scope::gpu, class T>
__device__ __forceinline__ void publish_of_block(in_global<T> count, typename verbs::itself<T>::type value) {
  __syncthreads();
  if (threadIdx.x == 0) publish<Who>(count, value);
}

} // namespace tally::v0::primitive
