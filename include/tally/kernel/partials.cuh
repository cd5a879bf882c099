// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ordered partials: how the states of blocks meet without a fence, an atomic or a memset. Layer 4. Every 32-bit word of a
// state travels in one 64-bit store together with the epoch of the run, so a word proves by itself that it is of this run:
// a 64-bit access is never torn. The last block waits for the words of all blocks, folds them along the canonical tree and
// raises the epoch for the next run, which leaves the workspace clean. Blocks start in order of their index, so the last
// block waits for blocks that already run; it occupies one place, so that the others finish anyway.
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

/// Waits for the states of one block; every word is asked for before the first is awaited.
template <class Program>
__device__ __forceinline__ typename Program::states collect(u64 const* from, u32 epoch) {
  constexpr int count = words_per_partial<Program>;
  u64 seen[count];
#pragma unroll
  for (int k = 0; k < count; ++k)
    seen[k] = peek_word(from + k);
  typename Program::states s;
  int at = 0;
  for_each_index<Program::leaf_count>([&](auto i) {
    words<cuda::std::remove_cvref_t<decltype(get<i>(s))>> w;
#pragma unroll
    for (int k = 0; k < w.count; ++k, ++at)
      w.w[k] = await_word(from + at, seen[at], epoch);
    get<i>(s) = w.state();
  });
  return s;
}

/// The states of all blocks along the canonical tree, by all threads of the last block; thread 0 has the answer.
template <plan P, class Program>
__device__ __forceinline__ typename Program::states fold_partials(Program const& p, u64 const* words, u32 epoch,
                                                                 i64 blocks) {
  constexpr int threads = P.threads_per_block;
  auto const combine = [&](auto const& a, auto const& b) { return p.combine(a, b); };
  i64 per_thread = 1;
  while (per_thread * threads < blocks)
    per_thread *= 2;
  i64 const first = threadIdx.x * per_thread;
  auto s = p.identity();
  if (first < blocks) {
    if (per_thread == 1) {
      s = collect<Program>(words + first * words_per_partial<Program>, epoch);
    } else {
      i64 const end = first + per_thread < blocks ? first + per_thread : blocks;
      neighbour_stack<typename Program::states, 32> stack;
      for (i64 b = first; b < end; ++b)
        stack.push(combine, collect<Program>(words + b * words_per_partial<Program>, epoch));
      s = stack.root(combine);
    }
  }
  i64 const holders = (blocks - 1) / per_thread + 1; // threads that have a state
  int const lane = int(threadIdx.x % 32);
  i64 const first_of_warp = threadIdx.x - lane;
  for_each_index<Program::leaf_count>([&](auto i) {
    auto const& m = get<i>(p.leaves).monoid;
    get<i>(s) = combine_lanes<32>([&](auto const& a, auto const& b) { return m.combine(a, b); }, get<i>(s),
                                  holders - first_of_warp, lane);
  });
  __syncthreads(); // combine_warps uses the same room as the block did
  return combine_warps<P>(p, s, (holders - 1) / 32 + 1);
}

} // namespace tally::inline v0::kernel
