// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// States that blocks show each other without a fence, an atomic or a memset: every 32-bit word of one travels with the epoch of the
// run. Layer 4.
#pragma once

#include <tally/fold/program.hpp>
#include <tally/kernel/epoch_words.cuh>
#include <tally/kernel/warp_tree.cuh>

namespace tally::v0::kernel {

/// The workspace that runs share: the epoch of the last finished one, then words of partials, one after the other.
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

/// The epoch of this run, to be asked when the launch in front is done.
__device__ __forceinline__ u32 epoch_after(partials_view const& ws) { return *static_cast<u32 const volatile*>(ws.epoch) + 1; }

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

/// Waits for the words of a state; as many are asked for before the first is awaited as registers hold.
template <class State>
__device__ __forceinline__ State awaited(u64 const* from, u32 epoch) {
  constexpr int batch = 32;
  words<State> w;
#pragma unroll 1
  for (int first = 0; first < w.count; first += batch) {
    u64 seen[batch];
#pragma unroll
    for (int k = 0; k < batch; ++k)
      if (first + k < w.count)
        seen[k] = peek_word(from + first + k);
#pragma unroll
    for (int k = 0; k < batch; ++k)
      if (first + k < w.count)
        w.w[first + k] = await_word(from + first + k, seen[k], epoch);
  }
  return w.state();
}

/// Waits for the states of up to Most neighbouring partials, of which `present` exist, and combines them as a tree of
/// neighbours. Every word is asked for before the first is awaited.
template <int Most, class Program>
  requires(words_per_partial<Program> <= words_in_registers)
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
/// The same of wide states, one at a time.
template <int Most, class Program>
  requires(words_per_partial<Program> > words_in_registers)
__device__ __forceinline__ typename Program::states collect(Program const&, u64 const* from, int, u32 epoch) {
  static_assert(Most == 1);
  typename Program::states s;
  for_each_index<Program::leaf_count>([&](auto i) {
    using State = cuda::std::remove_cvref_t<decltype(get<i>(s))>;
    get<i>(s) = awaited<State>(from, epoch);
    from += words<State>::count;
  });
  return s;
}

} // namespace tally::v0::kernel
