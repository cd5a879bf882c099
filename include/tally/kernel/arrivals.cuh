// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the folding threads of a block meet, and how blocks count each other: the instructions, for kernel/mixed_meeting.cuh and kernel/tile.cuh. Layer 4.
#pragma once

#include <tally/plan/mixed_plan.hpp>
#include <tally/primitive/bulk_group.cuh>

namespace tally::v0::kernel {

/// The folding threads of a block meet: what they wrote can be read, and be followed by what the bulk engine writes.
__device__ __forceinline__ void folding_threads_meet() {
  primitive::show_stores_to_bulk_engine();
  asm volatile("barrier.sync 1, %0;" ::"n"(mixed_folding_threads) : "memory");
}
/// What was seen and stored before comes before what is seen and stored behind, for all blocks.
__device__ __forceinline__ void fence_device() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
/// Counts one more, from `most` on to zero; the count before. No fence.
__device__ __forceinline__ u32 count_around(u32* counter, u32 most) {
  u32 before;
  asm volatile("atom.relaxed.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(before) : "l"(counter), "r"(most) : "memory");
  return before;
}

} // namespace tally::v0::kernel
