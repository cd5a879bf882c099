// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// States as 32-bit words: what a shuffle moves and what a slot of the workspace holds. Layer 4.
#pragma once

#include <tally/base/numbers.hpp>

namespace tally::v0::kernel {

/// A state of more words than this lies in memory of its thread, and steps that are written out for every element it takes, or every word that it
/// waits for, take a compiler seconds: one segment of exact products of doubles 22 s, in loops 12 s; exact sums of four powers beside a maximum 10.5 and
/// 7.5 s (NVRTC 13.0 for sm_80, EPYC 9004, 2026-11-26, tests/rtc).
inline constexpr int words_in_registers = 96;
/// A loop over the words of a state of more than these stays a loop: what elements are added to is narrower since windows and expansions. moments<4> of doubles, 676
/// words, took 17 s along rows and 27 along columns, in loops 9.6 and 4.3 (NVRTC 13.0 for sm_90a, EPYC, 2026-11-28); exact sums of rows of 1024 doubles took
/// 230 us, with loops 203 (H200, 2026-11-28, build/bench/exact_rows 27 1024).
inline constexpr int words_written_out = 60;
template <int Words>
inline constexpr int words_at_once = Words > words_written_out ? 1 : Words;

/// Any trivially copyable state as words; the last one is padded with zero bits.
template <class State>
struct words {
  static constexpr int count = int((sizeof(State) + 3) / 4);
  u32 w[count];

  __device__ static words of(State const& s) {
    words r;
    r.w[count - 1] = 0;
    memcpy(r.w, &s, sizeof(State));
    return r;
  }
  __device__ State state() const {
    State s;
    memcpy(&s, w, sizeof(State));
    return s;
  }
};

/// a or b, word by word: a choice between objects would put both in memory.
template <class State>
__device__ __forceinline__ State chosen(bool first_of_two, State const& a, State const& b) {
  auto const wa = words<State>::of(a), wb = words<State>::of(b);
  words<State> w;
#pragma unroll
  for (int i = 0; i < w.count; ++i)
    w.w[i] = first_of_two ? wa.w[i] : wb.w[i];
  return w.state();
}

/// The state of the lane `offset` further up in the warp.
template <class State>
__device__ State shuffled_down(State const& s, int offset) {
  auto w = words<State>::of(s);
#pragma unroll(words_at_once<words<State>::count>)
  for (int i = 0; i < words<State>::count; ++i)
    w.w[i] = __shfl_down_sync(0xffffffffu, w.w[i], offset);
  return w.state();
}

/// The state of another lane of the warp.
template <class State>
__device__ __forceinline__ State shuffled_from(State const& s, int lane) {
  auto w = words<State>::of(s);
#pragma unroll
  for (int i = 0; i < words<State>::count; ++i)
    w.w[i] = __shfl_sync(0xffffffffu, w.w[i], lane);
  return w.state();
}

} // namespace tally::v0::kernel
