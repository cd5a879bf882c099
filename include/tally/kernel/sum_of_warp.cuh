// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sum of one word of every lane of a warp, with the carries: redux.sync adds up 32 bits, so halves of them have room. Layer 4.
#pragma once

#include <tally/base/numbers.hpp>

namespace tally::inline v0::kernel {

inline constexpr u32 whole_warp = 0xffffffffu;

__device__ __forceinline__ u64 sum_of_warp(u32 x) {
  return u64(__reduce_add_sync(whole_warp, x & 0xffffu)) + (u64(__reduce_add_sync(whole_warp, x >> 16)) << 16);
}
__device__ __forceinline__ i64 sum_of_warp(i32 x) {
  return i64(__reduce_add_sync(whole_warp, u32(x) & 0xffffu)) + i64(__reduce_add_sync(whole_warp, x >> 16)) * 65536;
}

} // namespace tally::inline v0::kernel
