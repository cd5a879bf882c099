// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ordered partials: how the states of blocks meet without a fence, an atomic or a memset. Layer 4. Every 32-bit word of a
// state travels in one 64-bit store together with the epoch of the run, so a word proves by itself that it is of this run:
// a 64-bit access is never torn. The last block of every 32 waits for the words of its group and folds them along the canonical
// tree, and so on level by level, until the threads of one block can fold what is left. The very last block raises the epoch for
// the next run, which leaves the workspace clean. Nobody waits for a block of higher index, and blocks start in the order of
// their index, so whoever is waited for already runs.
#pragma once

#include <tally/fold/tree.hpp>
#include <tally/kernel/block.cuh>

namespace tally::inline v0::kernel {

/// The workspace of a full reduction: the epoch of the last finished run, then words of partials, block by block.
struct partials_view {
  u32* epoch;
  u64* words;
};

/// 32-bit words in all states of a program.
template <class... States>
constexpr int words_in(pack<States...> const*) {
  return (0 + ... + words<States>::count);
}
template <class Program>
inline constexpr int words_per_partial = words_in(static_cast<typename Program::states const*>(nullptr));

__device__ __forceinline__ void store_word(u64* to, u32 word, u32 epoch) {
  u64 const both = (u64(epoch) << 32) | word;
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(both) : "memory");
}
__device__ __forceinline__ u64 peek_word(u64 const* from) {
  u64 both;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(both) : "l"(from) : "memory");
  return both;
}
__device__ __forceinline__ u32 await_word(u64 const* from, u64 both, u32 epoch) {
  while (u32(both >> 32) != epoch)
    both = peek_word(from);
  return u32(both);
}

/// Publishes the state of one block.
template <class Program>
__device__ __forceinline__ void publish(typename Program::states const& s, u64* to, u32 epoch) {
  int at = 0;
  for_each_index<Program::leaf_count>([&](auto i) {
    auto const w = words<cuda::std::remove_cvref_t<decltype(get<i>(s))>>::of(get<i>(s));
#pragma unroll
    for (int k = 0; k < w.count; ++k)
      store_word(to + at++, w.w[k], epoch);
  });
}

/// Waits for the states of up to Most neighbouring partials, of which `present` exist, and combines them as a tree of
/// neighbours. Every word is asked for before the first is awaited.
template <int Most, class Program>
__device__ __forceinline__ typename Program::states collect(Program const& p, u64 const* from, int present, u32 epoch) {
  constexpr int count = words_per_partial<Program>;
  u64 seen[Most][count];
#pragma unroll
  for (int k = 0; k < Most; ++k)
#pragma unroll
    for (int w = 0; w < count; ++w)
      seen[k][w] = k < present ? peek_word(from + k * count + w) : 0;
  typename Program::states s[Most];
#pragma unroll
  for (int k = 0; k < Most; ++k) {
    int at = 0;
    for_each_index<Program::leaf_count>([&](auto i) {
      words<cuda::std::remove_cvref_t<decltype(get<i>(s[k]))>> w;
#pragma unroll
      for (int j = 0; j < w.count; ++j, ++at)
        w.w[j] = k < present ? await_word(from + k * count + at, seen[k][at], epoch) : 0;
      get<i>(s[k]) = w.state();
    });
  }
  return combine_in_registers([&](auto const& a, auto const& b) { return p.combine(a, b); }, s, present);
}

/// From the fresh states of the first `holders` threads of every block to one of the grid: true in the block whose thread 0
/// then has it. All levels run the same instructions, which are in the multiprocessor's cache by the time the last block
/// needs them.
template <plan P, class Whole, class Program>
__device__ __forceinline__ bool meet(Program const& p, typename Program::states& s, int holders, partials_view const& ws,
                                     u32 epoch) {
  constexpr int words = words_per_partial<Program>;
  u64* level = ws.words;
  u32 count = gridDim.x, index = blockIdx.x;
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

} // namespace tally::inline v0::kernel
