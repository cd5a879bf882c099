// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sum of one word of every lane of a warp, with the carries: redux.sync adds up 32 bits, so halves of them have room. Layer 4.
#pragma once

#include <tally/base/numbers.hpp>

namespace tally::v0::kernel {

inline constexpr u32 whole_warp = 0xffffffffu;

__device__ __forceinline__ u64 sum_of_warp(u32 x) {
  return u64(__reduce_add_sync(whole_warp, x & 0xffffu)) + (u64(__reduce_add_sync(whole_warp, x >> 16)) << 16);
}
__device__ __forceinline__ i64 sum_of_warp(i32 x) {
  return i64(__reduce_add_sync(whole_warp, u32(x) & 0xffffu)) + i64(__reduce_add_sync(whole_warp, x >> 16)) * 65536;
}
/// A whole number of 128 bits: size and sign.
struct sized_number {
  u64 low, high;
  bool negative;
};
/// A whole number that fractions of 24 bits are added to, times 2^up with up to `binades`, or taken away from; none where up is below zero.
struct one_word {
  static constexpr int binades = 30;
  i64 sum;
  __device__ __forceinline__ void add(u32 fraction, int up, bool negative) { sum += i64(negative ? -i32(fraction) : i32(fraction)) * i64(up >= 0 ? i32(1) << (up & 31) : 0); }
  __device__ __forceinline__ sized_number sized() const { return {sum < 0 ? u64(0) - u64(sum) : u64(sum), 0, sum < 0}; }
};
/// The same of fractions of 56 bits.
struct two_words {
  static constexpr int binades = 63, bits_of_fraction = 56;
  u64 low, high;
  __device__ __forceinline__ void add(u64 fraction, int up, bool negative) {
    u64 const sign = negative ? ~u64(0) : 0, below = (fraction << up) ^ sign, above = (fraction >> 1 >> (63 - up)) ^ sign, sum = low + below;
    low = sum + u64(negative);
    high += above + u64(sum < below) + u64(low < sum);
  }
  __device__ __forceinline__ sized_number sized() const {
    bool const negative = high >> 63 != 0;
    return negative ? sized_number{u64(0) - low, ~high + u64(low == 0), true} : sized_number{low, high, false};
  }
};
inline constexpr int bits_of_piece = 27;
/// Bits of a number from one on, summed where they have room.
__device__ __forceinline__ u64 sum_of_pieces(u64 from) {
  return __reduce_add_sync(whole_warp, u32(from) & ((u32(1) << bits_of_piece) - 1));
}
/// Of numbers below 2^58: three pieces.
__device__ __forceinline__ one_word sum_of_warp(one_word const& x) {
  u64 const sum = u64(x.sum), lower = sum_of_pieces(sum) + (sum_of_pieces(sum >> bits_of_piece) << bits_of_piece);
  return {i64(lower + (u64(i64(__reduce_add_sync(whole_warp, i32(x.sum >> 2 * bits_of_piece)))) << 2 * bits_of_piece))};
}
/// Of numbers below 2^123: five.
__device__ __forceinline__ two_words sum_of_warp(two_words const& x) {
  constexpr int bits = bits_of_piece;
  u64 const lower = sum_of_pieces(x.low) + (sum_of_pieces(x.low >> bits) << bits);
  u64 const middle = sum_of_pieces(x.low >> 2 * bits | x.high << (64 - 2 * bits)) + (sum_of_pieces(x.high >> (3 * bits - 64)) << bits);
  u64 const upper = u64(i64(__reduce_add_sync(whole_warp, i32(i64(x.high) >> (4 * bits - 64))))) << (4 * bits - 64), low = lower + (middle << 2 * bits);
  return {low, (middle >> (64 - 2 * bits)) + upper + u64(low < lower)};
}

} // namespace tally::v0::kernel
