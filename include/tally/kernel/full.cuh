// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The route "full": one answer per fold over all elements, in one launch. Layer 4. The kernel decides nothing; its plan is
// its first template argument.
#pragma once


#include <tally/fold/folds.hpp>
#include <tally/kernel/leaf.cuh>
#include <tally/kernel/partials.cuh>

namespace tally::inline v0::kernel {

/// Which folds bring the state of a whole warp in lane 0, instead of one state per thread.
template <plan P, class Program>
struct whole_folds {
  template <int I>
  __device__ static constexpr bool of(index_constant<I>) {
    if constexpr (P.order == combine_order::free)
      return P.folds[I].block != block_algorithm::neighbour_tree;
    else
      return P.leaves_per_warp > 1 || !is_spread<P, I>(static_cast<Program const*>(nullptr));
  }
};

/// The states of this thread over the leaves of its warp; `holders` becomes the number of threads that have any.
template <plan P, class Program>
__device__ __forceinline__ typename Program::states fold_warp(Program const& p, i64 leaves, int& holders) {
  int const thread = int(threadIdx.x % 32), warp = int(threadIdx.x / 32);
  i64 const first_of_block = i64(blockIdx.x) * P.leaves_per_block();
  i64 const leaf = first_of_block + warp * P.leaves_per_warp;
  auto s = p.identity();
  holders = P.threads_per_block;
  if constexpr (P.order == combine_order::free) {
    s = fold_freely<P>(p, leaf, leaves, thread);
    combine_with_cub<P>(p, s);
  } else {
    if (leaf < leaves)
      s = fold_subtree<P>(p, leaf, leaves, thread);
    i64 const present = (leaves - first_of_block - 1) / P.leaves_per_warp + 1;
    if (present < P.warps_per_block())
      holders = 32 * int(present);
  }
  return s;
}

/// Folds the program; `*answer` receives its states. Launched with plan threads and at least one block, whose number is
/// ceil(leaves / leaves per block); the workspace has room for the partials of
/// all levels.
template <plan P, class Program>
__global__ void __launch_bounds__(P.threads_per_block, P.blocks_per_multiprocessor)
    full(__grid_constant__ Program const p, partials_view const ws, typename Program::states* answer) {
  if constexpr (P.overlaps_launch) { // this grid was started early: nothing of it may be seen before the one in front is done
    asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("griddepcontrol.wait;" ::: "memory");
  }
  i64 const leaves = (p.extent - 1) / P.elements_per_leaf() + 1;
  u32 const epoch = *static_cast<u32 const volatile*>(ws.epoch) + 1;
  int holders;
  auto s = fold_warp<P>(p, leaves, holders);
  if (!meet<P, whole_folds<P, Program>>(p, s, holders, ws, epoch))
    return;
  if (threadIdx.x == 0) {
    *answer = s;
    if (gridDim.x > 1)
      *ws.epoch = epoch;
  }
}

} // namespace tally::inline v0::kernel
