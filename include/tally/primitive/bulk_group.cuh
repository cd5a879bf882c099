// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bulk operations that write global memory are counted per thread, in groups: which have been committed, which have read
// their source, which are done. Layer 2. A room may be filled again when its group has read; a kernel may end (and the
// result be relied on) when its groups are done.
#pragma once

#include <tally/base/numbers.hpp>

#include <cuda/ptx>

namespace tally::v0::primitive {

/// Closes the group of the bulk operations this thread has started.
__device__ __forceinline__ void commit_bulk_group() { cuda::ptx::cp_async_bulk_commit_group(); }

/// Until all but the N youngest groups of this thread have read their source.
template <int N = 0>
__device__ __forceinline__ void wait_bulk_reads() {
  cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<N>{});
}

/// Until all but the N youngest groups of this thread are done, their writes too.
template <int N = 0>
__device__ __forceinline__ void wait_bulk_groups() {
  cuda::ptx::cp_async_bulk_wait_group(cuda::ptx::n32_t<N>{});
}

/// Makes ordinary stores of this thread to shared memory visible to the bulk engine; a barrier comes after it.
__device__ __forceinline__ void show_stores_to_bulk_engine() { cuda::ptx::fence_proxy_async(cuda::ptx::space_shared); }

} // namespace tally::v0::primitive

namespace tally {
namespace primitive = v0::primitive;
} // namespace tally
