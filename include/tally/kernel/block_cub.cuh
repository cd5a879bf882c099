// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cub::BlockReduce as a block algorithm. Layer 4. A header of its own because it costs NVRTC 1.3 s.
#pragma once

#include <cub/block/block_reduce.cuh>

#include <tally/kernel/block.cuh>

namespace tally::v0::kernel {

constexpr cub::BlockReduceAlgorithm cub_name(block_algorithm a) {
  return a == block_algorithm::warp_reductions ? cub::BLOCK_REDUCE_WARP_REDUCTIONS
         : a == block_algorithm::raking        ? cub::BLOCK_REDUCE_RAKING
                                               : cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY;
}

template <class State, int Threads, block_algorithm Algorithm>
struct cub_block {
  using algorithm = cub::BlockReduce<State, Threads, cub_name(Algorithm)>;
  using room = typename algorithm::TempStorage;
  /// Uses sizeof(room) bytes of shared memory at `shared`, which are free again when it returns.
  template <class Combine>
  __device__ static State reduce(State const& s, Combine const& combine, void* shared) {
    State const out = algorithm(*static_cast<room*>(shared)).Reduce(s, combine);
    __syncthreads();
    return out;
  }
};

} // namespace tally::v0::kernel
