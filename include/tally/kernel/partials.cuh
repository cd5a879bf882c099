// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ordered partials: how the states of blocks meet, words that prove by themselves of which run they are. Layer 4. The last block of every
// 32 waits for the words of its group and folds them along the canonical tree, and so on level by level, until the threads of one block
// can fold what is left. The very last block raises the epoch for the next run, which leaves the workspace clean. Nobody waits for a
// block of higher index, and blocks start in the order of their index, so whoever is waited for already runs.
#pragma once

#include <tally/fold/tree.hpp>
#include <tally/kernel/block.cuh>
#include <tally/kernel/grid_share.cuh>
#include <tally/kernel/shown_states.cuh>

namespace tally::v0::kernel {

/// From the fresh states of the first `holders` threads of every block to one of the grid: true in the block whose thread 0
/// then has it. All levels run the same instructions, which are in the multiprocessor's cache by the time the last block
/// needs them.
template <plan P, class Whole, class Grid, class Program>
__device__ __forceinline__ bool meet(Grid const& grid, Program const& p, typename Program::states& s, int holders, partials_view const& ws,
                                     u32 epoch) {
  constexpr int words = words_per_partial<Program>;
  u64* level = ws.words;
  u32 count = grid.blocks(), index = grid.block();
#pragma unroll 1
  for (bool fresh = true;; fresh = false) {
    combine_block<P, Whole>(p, s, holders, fresh);
    if (count == 1)
      return true;
    if (threadIdx.x == 0)
      publish<Program>(s, level + i64(index) * words, epoch);
    constexpr u32 per_thread = words <= 2 ? 4 : 1;
    bool const top = count <= P.threads_per_block * per_thread;
    u32 const first_of_group = top ? 0 : index / 32 * 32;
    if (index != count - 1 && (top || index % 32 != 31))
      return false;
    int const present = int(index + 1 - first_of_group);
    u32 const each = top && count > P.threads_per_block ? per_thread : 1; // partials of a thread
    int const mine = present - int(threadIdx.x * each);
    if (mine > 0)
      s = collect<per_thread>(p, level + i64(first_of_group + threadIdx.x * each) * words,
                              mine < int(each) ? mine : int(each), epoch);
    holders = (present - 1) / int(each) + 1;
    level += i64(count) * words;
    count = top ? 1 : (count - 1) / 32 + 1;
    index = top ? 0 : index / 32;
  }
}

} // namespace tally::v0::kernel
