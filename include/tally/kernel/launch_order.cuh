// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How reductions that follow each other on a stream overlap: a launch whose place is behind another one of its kind reads and folds while
// that one drains, where none in front writes what it reads (the host knows); it waits before it touches what they share. That nothing
// else was launched between the two is told by the numbers that the context gives its grids. Layer 4.
// docs/decisions/a_launch_reads_ahead.md
#pragma once

#include <tally/base/numbers.hpp>

namespace tally::v0::kernel {

/// Where the launches of a stream leave their marks, null where the host knows what is in front, as in a graph, and no mark is left; what tells this
/// launch from any other of the process; and how many blocks may read ahead, of those that run at once: none where what they read may not be there.
struct launch_order {
  u64* last;
  u64 number;
  u32 first_blocks;
};

/// What grids are numbered with, of a mark; what a launch is told from others with lies above.
inline constexpr int grid_number_bits = 40;

/// The mark of this grid: number of the launch, then of the grid among all of its context.
__device__ __forceinline__ u64 mark_of(launch_order const& o) {
  u64 grid;
  asm("mov.u64 %0, %%gridid;" : "=l"(grid));
  return o.number << grid_number_bits | (grid & ((u64(1) << grid_number_bits) - 1));
}

__device__ __forceinline__ void wait_for_launch_in_front() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
__device__ __forceinline__ void let_launch_behind_begin() { asm volatile("griddepcontrol.launch_dependents;"); }

/// Whether the grid in front is a reduction that began when all in front of it was done or of its kind, or this grid has found
/// so already. The same in all threads of a block; what they read after it is what was there when that grid began.
__device__ __forceinline__ bool follows_its_kind(launch_order const& o) {
  if (o.last == nullptr || blockIdx.x >= o.first_blocks)
    return blockIdx.x < o.first_blocks;
  bool follows = false;
  if (threadIdx.x == 0) {
    u64 seen;
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(seen) : "l"(o.last) : "memory");
    u64 const own = mark_of(o);
    follows = seen == own || ((seen + 1) ^ own) << (64 - grid_number_bits) == 0;
  }
  return __syncthreads_or(follows);
}

/// Leaves the mark of this grid and lets the launch behind begin. All in front of this grid is done, or of its kind.
__device__ __forceinline__ void let_next_begin(launch_order const& o) {
  if (threadIdx.x != 0)
    return;
  if (blockIdx.x == 0 && o.last != nullptr)
    asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(o.last), "l"(mark_of(o)) : "memory");
  let_launch_behind_begin();
}

/// What a block of a plan that reads ahead does first: false where it has waited for all in front, true where it has yet to, before it
/// touches what launches share. The copy engine, where it is used, sees what the threads see.
__device__ __forceinline__ bool begins_ahead(launch_order const& o, bool by_copy_engine) {
  bool const ahead = follows_its_kind(o);
  if (!ahead)
    wait_for_launch_in_front();
  let_next_begin(o);
  if (by_copy_engine)
    asm volatile("fence.proxy.async.global;" ::: "memory");
  return ahead;
}

} // namespace tally::v0::kernel
