// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ordered partials: how the states of blocks meet without a fence, an atomic or a memset. Layer 4. Every 32-bit word of a
// state travels in one 64-bit store together with the epoch of the run, so a word proves by itself that it is of this run:
// a 64-bit access is never torn. Up to one block per thread of the last block, that block waits for the words of all and folds
// them along the canonical tree; above, the last block of every 32 first does so for its group. The very last block raises
// the epoch for the next run, which leaves the workspace clean. Nobody waits for a block of higher index, and blocks start
// in the order of their index, so whoever is waited for already runs.
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

/// The states of up to 32 partials from `at` on, by one warp; lane 0 has the answer.
template <class Program>
__device__ __forceinline__ typename Program::states fold_group(Program const& p, u64 const* at, i64 count, u32 epoch,
                                                              int lane) {
  auto s = p.identity();
  if (lane < count)
    s = collect<Program>(at + lane * words_per_partial<Program>, epoch);
  for_each_index<Program::leaf_count>([&](auto i) {
    auto const& m = get<i>(p.leaves).monoid;
    get<i>(s) = combine_lanes<32>([&](auto const& a, auto const& b) { return m.combine(a, b); }, get<i>(s), count, lane);
  });
  return s;
}

/// How many partials one thread of the last block can fold: a power of two.
inline constexpr int partials_per_thread = 8;

/// The states of `count` partials along the canonical tree, by all threads of the last block; thread 0 has the answer.
template <plan P, class Program>
__device__ __forceinline__ typename Program::states fold_partials(Program const& p, u64 const* partials, i64 count,
                                                                 u32 epoch) {
  using States = typename Program::states;
  constexpr int threads = P.threads_per_block;
  int per_thread = 1;
  while (i64(per_thread) * threads < count)
    per_thread *= 2;
  int const lane = int(threadIdx.x % 32);
  i64 const start = i64(threadIdx.x) * per_thread;
  States s = p.identity();
  level_stack<States, levels_of(partials_per_thread)> stack;
#pragma unroll 1
  for (int k = 0; k < per_thread; ++k) {
    if (start + k < count)
      s = collect<Program>(partials + (start + k) * words_per_partial<Program>, epoch);
    auto const combine = [&](States const& left, States const& right, int level) {
      return start + k + 1 - (1 << level) < count ? p.combine(left, right) : left;
    };
    s = stack.push(combine, k, s);
  }
  i64 const holders = (count - 1) / per_thread + 1; // threads that have a state
  for_each_index<Program::leaf_count>([&](auto i) {
    auto const& m = get<i>(p.leaves).monoid;
    get<i>(s) = combine_lanes<32>([&](auto const& a, auto const& b) { return m.combine(a, b); }, get<i>(s),
                                  holders - (threadIdx.x - lane), lane);
  });
  __syncthreads(); // combine_warps uses the same room as the block did
  return combine_warps<P>(p, s, (holders - 1) / 32 + 1);
}

/// What becomes of the state of a block (in thread 0): true for the last block, whose thread 0 then has the answer.
template <plan P, class Program>
__device__ __forceinline__ bool meet(Program const& p, typename Program::states& s, partials_view const& ws, u32 epoch) {
  constexpr int words = words_per_partial<Program>;
  i64 const blocks = gridDim.x, block = blockIdx.x;
  bool const final = block == blocks - 1;
  if (threadIdx.x == 0)
    publish<Program>(s, ws.words + block * words, epoch);
  if (blocks <= P.threads_per_block) {
    if (final)
      s = fold_partials<P>(p, ws.words, blocks, epoch);
    return final;
  }
  u64* const groups = ws.words + blocks * words;
  i64 const group = block / 32;
  if ((block % 32 == 31 || final) && threadIdx.x < 32) {
    auto const of_group = fold_group(p, ws.words + group * 32 * words, block % 32 + 1, epoch, int(threadIdx.x));
    if (threadIdx.x == 0)
      publish<Program>(of_group, groups + group * words, epoch);
  }
  if (final)
    s = fold_partials<P>(p, groups, group + 1, epoch);
  return final;
}

} // namespace tally::inline v0::kernel
