// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One word of a cell, and what is folded into it from any thread at any time: in global memory, in the block's own shared memory, or in that of
// a block of its cluster. Layer 4. Nothing comes back, so it is the `red` of primitive/, or what stands in for it where a chip has none.
#pragma once

#include <tally/primitive/pair.cuh>
#include <tally/primitive/window.cuh>

namespace tally::v0::kernel {

using primitive::operation, primitive::halves;

/// Whose a cell is. In another block's memory its address is the mapped one.
enum class owner { all, block, cluster };

/// at[i * apart] += value[i] in the block's own shared memory, whose additions are of 32 bits; those of 64 would compare and swap until nobody comes between.
/// The lower halves come first, all on their way at once, and what they carry goes with the upper halves, seldom anything.
template <int N, class T, class I>
__device__ __forceinline__ void add_halves(T* at, I apart, T const (&value)[N]) {
  unsigned* const half = reinterpret_cast<unsigned*>(at);
  unsigned before[N];
#pragma unroll
  for (int i = 0; i < N; ++i)
    before[i] = atomicAdd(half + I(2 * i) * apart, static_cast<unsigned>(value[i]));
#pragma unroll
  for (int i = 0; i < N; ++i) {
    unsigned const low = static_cast<unsigned>(value[i]), high = static_cast<unsigned>(static_cast<u64>(value[i]) >> 32) + (before[i] + low < low ? 1 : 0);
    if (high != 0)
      atomicAdd(half + I(2 * i) * apart + 1, high);
  }
}

/// *at += value; what it carries out of 64 bits. In the block's own shared memory as above.
template <owner Of>
__device__ __forceinline__ unsigned add_and_carry(u64* at, u64 value) {
  if constexpr (Of == owner::block) {
    unsigned* const half = reinterpret_cast<unsigned*>(at);
    unsigned const low = static_cast<unsigned>(value), high = static_cast<unsigned>(value >> 32), more = high + (atomicAdd(half, low) + low < low ? 1 : 0);
    return more == 0 ? high != 0 : atomicAdd(half + 1, more) + more < more;
  } else {
    return atomicAdd(reinterpret_cast<unsigned long long*>(at), value) + value < value;
  }
}

/// Sets a bit of a word in global memory, and whether it is set: who sees it sees what was written before.
__device__ __forceinline__ void publish_bit(u32* at, u32 bit) { asm volatile("red.release.gpu.global.or.b32 [%0], %1;" ::"l"(at), "r"(bit) : "memory"); }
__device__ __forceinline__ bool has_bit(u32 const* at, u32 bit) {
  u32 word;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(word) : "l"(at) : "memory");
  return (word & bit) != 0;
}

/// *at = Op(*at, value), atomically.
template <operation Op, owner Of, class T>
__device__ __forceinline__ void fold_into(T* at, T value) {
  if constexpr (Of == owner::block && Op == operation::add && cuda::std::is_integral_v<T> && sizeof(T) == 8)
    add_halves<1>(at, 0, {value});
  else if constexpr (Of == owner::block)
    primitive::fold_word<Op>(primitive::in_shared<T>(at), value);
  else if constexpr (Of == owner::cluster)
    primitive::fold_word<Op>(primitive::in_cluster<T>::mapped(at), value);
  else
    primitive::fold_word<Op>(primitive::in_global<T>(at), value);
}

/// What a pair is; and what it was, where it becomes `desired` if that was expected.
template <owner Of>
__device__ __forceinline__ word_pair look_at_pair(word_pair* at) {
  static_assert(Of != owner::cluster);
  if constexpr (Of == owner::block)
    return primitive::load_pair(primitive::in_shared<word_pair>(at));
  else
    return primitive::load_pair(primitive::in_global<word_pair>(at));
}
template <owner Of>
__device__ __forceinline__ word_pair swap_pair(word_pair* at, word_pair const& expected, word_pair const& desired) {
  static_assert(Of != owner::cluster);
  if constexpr (Of == owner::block)
    return primitive::compare_and_swap(primitive::in_shared<word_pair>(at), expected, desired);
  else
    return primitive::compare_and_swap(primitive::in_global<word_pair>(at), expected, desired);
}

/// The same of V neighbours in global memory, aligned to all of them: as many at once as the chip takes; of numbers of 16 bits, as they travel.
template <operation Op, halves Travel, int V, class T>
__device__ __forceinline__ void fold_neighbours_into(T* at, T const (&v)[V]) {
  constexpr int of_red = int(16 / sizeof(T)), W = V < of_red ? V : of_red;
#pragma unroll
  for (int first = 0; first < V; first += W) {
    primitive::lanes<T, W> window;
#pragma unroll
    for (int i = 0; i < W; ++i)
      window.at[i] = v[first + i];
    primitive::fold_window<primitive::folding<Op, primitive::space::global, Travel>, W>(at + first, __builtin_bit_cast(primitive::window_t<T, W>, window), 0, W);
  }
}

} // namespace tally::v0::kernel
