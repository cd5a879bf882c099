// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The slots of a fold by key that the blocks of a cluster keep together, each in its shared memory: which block has a slot, and where. Layer 4.
// Neighbouring pages of slots are with different blocks, and one page is one request to the bulk engine.
#pragma once

#include <tally/kernel/cluster_memory.cuh>
#include <tally/plan/keys_plan.hpp>

namespace tally::v0::kernel {

template <keys_plan P>
struct cluster_slots {
  static constexpr unsigned blocks = P.cluster_blocks, of_block = P.slots_in_cluster, of_page = slots_of_page, pages = of_block / of_page, all = blocks * of_block;
  __device__ __forceinline__ static unsigned rank_of(unsigned s) { return s / of_page % blocks; }
  __device__ __forceinline__ static unsigned cell_of(unsigned s) { return s / (of_page * blocks) * of_page + s % of_page; }
  /// The first slot of a page of this block.
  __device__ __forceinline__ static unsigned first_of(unsigned page) { return (page * blocks + rank_in_cluster()) * of_page; }
  /// Memory of this block as the block that has slot s has it.
  __device__ __forceinline__ static char* with(unsigned s, char* own) { return memory_of_block(rank_of(s), own); }
};

} // namespace tally::v0::kernel
