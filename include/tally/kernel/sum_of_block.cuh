// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the lanes of a warp, or the threads of a block, in front of one have together. Layer 4.
#pragma once

#include <tally/base/numbers.hpp>

namespace tally::v0::kernel {

/// What the lanes of a warp up to this one have together.
template <class T>
__device__ __forceinline__ T sum_up_to_lane(T own, int lane) {
#pragma unroll
  for (int h = 1; h < 32; h *= 2) {
    T const other = __shfl_up_sync(0xffffffffu, own, h);
    own += lane >= h ? other : T(0);
  }
  return own;
}

/// What the threads in front of this one have together; sums: of as many as there are warps, in shared memory. Between two calls there is a barrier.
template <int Warps, class T>
__device__ __forceinline__ T sum_in_front(T own, T (&sums)[Warps]) {
  int const lane = int(threadIdx.x % 32), warp = int(threadIdx.x / 32);
  T const with = sum_up_to_lane(own, lane);
  if (lane == 31)
    sums[warp] = with;
  __syncthreads();
  T before = with - own;
  for (int w = 0; w < Warps; ++w)
    before += w < warp ? sums[w] : 0;
  return before;
}

} // namespace tally::v0::kernel
