// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sum of one word of every lane of a warp, with the carries: redux.sync adds up 32 bits, so halves of them have room; and of floats. Layer 4.
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
/// Of numbers below 2^58: three pieces.
__device__ __forceinline__ i64 sum_of_warp(i64 x) {
  constexpr int bits = 27;
  constexpr u32 of_piece = (u32(1) << bits) - 1;
  u32 const low = __reduce_add_sync(whole_warp, u32(x) & of_piece), middle = __reduce_add_sync(whole_warp, u32(x >> bits) & of_piece);
  return (i64(__reduce_add_sync(whole_warp, i32(x >> 2 * bits))) << 2 * bits) + (i64(middle) << bits) + low;
}

/// V floats of a lane, handed over in registers.
template <int V>
struct floats_of_lane {
  float of[V];
};
/// What the finite floats of a warp add up to, V a lane: take(sum, bit), sum * 2^bit units of the least float above zero, is called by the whole warp, first of
/// the floats that lie up to 30 binades below the largest, then of those that do so of what is left. None has a bit below `lowest`.
template <int V, class Take>
__device__ __forceinline__ void add_up_warp(floats_of_lane<V> const& x, int lowest, Take const& take) {
  constexpr int binades = 30;
  static_assert(V <= 8, "what a lane adds up stays below 2^58");
  u32 left[V], others;
#pragma unroll
  for (int v = 0; v < V; ++v)
    left[v] = bits_as<u32>(x.of[v]);
  do {
    u32 most = 0;
#pragma unroll
    for (int v = 0; v < V; ++v)
      most = (left[v] & 0x7fffffffu) > most ? left[v] & 0x7fffffffu : most;
    int const top = int(__reduce_max_sync(whole_warp, most) >> 23) - 1, bit = top - binades > lowest ? top - binades : lowest;
    i64 sum = 0;
    others = 0;
#pragma unroll
    for (int v = 0; v < V; ++v) {
      u32 const exponent = left[v] << 1 >> 24;
      int const at = (exponent != 0 ? int(exponent) - 1 : 0) - bit, fraction = int((left[v] & 0x7fffffu) | u32(exponent != 0) << 23);
      bool const here = at >= 0;
      sum += i64(i32(left[v]) < 0 ? -fraction : fraction) * i64(here ? i32(1) << (at & 31) : 0);
      left[v] = here ? 0 : left[v];
      others |= left[v] & 0x7fffffffu;
    }
    take(sum_of_warp(sum), bit);
  } while (__any_sync(whole_warp, others != 0));
}

} // namespace tally::inline v0::kernel
