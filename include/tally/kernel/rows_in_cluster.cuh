// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows with lets that a cluster of blocks holds together: for every let the blocks show each other their states, and each combines all of
// them in the order of the row. Layer 4. A header of its own, because only the plans that ask for it pay NVRTC for it.
#pragma once

#include <tally/kernel/cluster_memory.cuh>
#include <tally/kernel/rows_with_let.cuh>

namespace tally::v0::kernel {

/// At the beginning of the kernel: the memory of a block is there once the block has begun.
template <int Blocks>
__device__ __forceinline__ void begin_in_cluster() { arrive_in_cluster(); }

/// s: of this block, in lane 0 of its first warp. There is room for each Let, so that nobody waits until what was shown before has been seen.
template <int Blocks, int Let, class Combine, class State>
__device__ __forceinline__ State meet_in_cluster(Combine const& combine, State const& s) {
  alignas(16) __shared__ unsigned char room[Blocks * sizeof(State)];
  int const lane = int(threadIdx.x % 32);
  State const of_block = shuffled_from(s, 0);
  if constexpr (Let == 0)
    wait_for_cluster();
  if (threadIdx.x < unsigned(Blocks))
    reinterpret_cast<State*>(array_of_block(threadIdx.x, room))[rank_in_cluster()] = of_block;
  meet_cluster();
  return combine_lanes<Blocks>(combine, reinterpret_cast<State const*>(room)[lane < Blocks ? lane : 0], Blocks, lane);
}

} // namespace tally::v0::kernel
