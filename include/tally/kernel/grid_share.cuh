// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which blocks of a launch are one walk's: all of them, or those whose turn is its own where walks take turns (kernel/in_turns.cuh). Layer 4.
#pragma once

#include <tally/base/numbers.hpp>

namespace tally::v0::kernel {

struct whole_grid {
  __device__ __forceinline__ static u32 block() { return blockIdx.x; }
  __device__ __forceinline__ static u32 blocks() { return gridDim.x; }
};
/// Block `number` of `of`, which begin in the order of their numbers.
struct share_of_grid {
  u32 number, of;
  __device__ __forceinline__ u32 block() const { return number; }
  __device__ __forceinline__ u32 blocks() const { return of; }
};

} // namespace tally::v0::kernel
