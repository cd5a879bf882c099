// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The route "batch": full reductions of one type and any extents, in one launch. Layer 4. Programs lie in memory beside each other;
// each is cut into parts, a warp folds a part along the canonical tree, and the parts of a program meet.
#pragma once

#include <tally/fold/folds.hpp>
#include <tally/kernel/warp_parts.cuh>

namespace tally::v0::kernel {

/// The item that a part belongs to: the last one whose first part is not behind it.
__device__ __forceinline__ i64 item_of_part(i64 const* first_part, i64 items, i64 part, int lane) {
  i64 low = 0, high = items; // the item is in [low, high)
#pragma unroll 1
  while (high - low > 1) {
    i64 const step = (high - low + 31) / 32, at = low + lane * step;
    u32 const reached = __ballot_sync(0xffffffffu, at < high && first_part[at] <= part);
    low += (31 - __clz(int(reached))) * step; // lane 0 always votes
    high = low + step < high ? low + step : high;
  }
  return low;
}

/// Folds programs [0, items), of which number i has parts [first_part[i], first_part[i + 1]) and answers in answers[i]; a program
/// without elements has no part, and its answer is not written.
template <segments_plan P, class Program>
__global__ void __launch_bounds__(P.threads_per_block())
    batch(Program const* programs, i64 const* first_part, i64 const items, __grid_constant__ meeting_levels const levels, u32* parts,
          u32* arrivals, typename Program::states* answers) {
  int const lane = int(threadIdx.x % 32);
  i64 const part = i64(blockIdx.x) * P.warps_per_block + threadIdx.x / 32;
  if (part >= first_part[items])
    return;
  i64 const item = item_of_part(first_part, items, part, lane);
  Program const p = programs[item];
  i64 const first = first_part[item], k = part - first, of_item = first_part[item + 1] - first;
  typename Program::states s;
  // an item has at most one node more on a level than its parts there, so its number keeps it apart from its neighbours
  auto const place = [&](int level, i64 node) {
    return levels.begin[level] + (first >> level * levels_of(parts_that_meet)) + item + node;
  };
  if (fold_part<P>(p, meeting_room<Program>{parts, arrivals}, of_item, k, lane, s, place) && lane == 0)
    answers[item] = s;
}

} // namespace tally::v0::kernel
