// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a warp, a block and a grid add to an exact sum. Layer 4. A thread adds in a *window*: a few integers
// whose lowest bit has a weight that the warp has agreed on. Before a batch of elements is added, one look at their
// exponents says whether all lie in the window; that is nearly always so. Otherwise the warp goes over the batch once per 30
// binades that it spans, and aims the window anew. Windows end up in 32-bit digits with 32 bits of room for carries, one
// set a warp in shared memory; all of it is integer addition, so no order can be seen in the answer.
#pragma once

#include <tally/kernel/exact_window.cuh>
#include <tally/kernel/sum_of_warp.cuh>
#include <tally/plan/plan.hpp>

namespace tally::v0::kernel {

/// Digits of one exact sum for every warp of a block.
template <exact_monoid M, int Warps>
struct exact_room {
  static constexpr int digits = 2 * M::range::words;
  u64 digit[Warps][digits];
  u32 special[Warps];
  u32 word[digits + 1]; ///< of the state of the block: digits without their carries, then what was special

  /// Adds the integers of all lanes times 2^at to the digits of a warp.
  __device__ __forceinline__ void add(int warp, i64 x, int at) {
    int const shift = at & 31, first = at >> 5, lane = int(threadIdx.x % 32);
    u64 const low = u64(x) << shift;
    u64 const sum[3] = {sum_of_warp(u32(low)), sum_of_warp(u32(low >> 32)), u64(sum_of_warp(i32((x >> 32) >> (32 - shift))))};
    if (lane < 3 && first + lane < digits)
      digit[warp][first + lane] += lane == 0 ? sum[0] : lane == 1 ? sum[1] : sum[2];
    __syncwarp();
  }
  /// The digits of all warps become the words of the block; all threads must come, and wait before they read them.
  template <int Threads>
  __device__ __forceinline__ void total() {
    __syncthreads();
    for (int k = int(threadIdx.x); k < digits; k += Threads) {
      u64 sum = 0;
#pragma unroll
      for (int w = 0; w < Warps; ++w)
        sum += digit[w][k];
      digit[0][k] = sum;
    }
    if (threadIdx.x == Threads - 1) {
      u32 all = 0;
#pragma unroll
      for (int w = 0; w < Warps; ++w)
        all |= special[w];
      word[digits] = all;
    }
    __syncthreads();
    carry();
  }
  /// The words from the digits of warp 0, by thread 0.
  __device__ __forceinline__ void carry() {
    if (threadIdx.x != 0)
      return;
    i64 carried = 0;
#pragma unroll(digits <= 24 ? digits : 4)
    for (int k = 0; k < digits; ++k) {
      i64 const here = i64(digit[0][k]) + carried;
      word[k] = u32(here);
      carried = here >> 32;
    }
  }
  /// What one warp has added, as a state.
  __device__ __forceinline__ typename M::state state_of_warp(int warp) const {
    typename M::state s;
    i64 carried = 0;
#pragma unroll(digits <= 24 ? digits / 2 : 1)
    for (int k = 0; k < digits / 2; ++k) {
      i64 const low = i64(digit[warp][2 * k]) + carried, high = i64(digit[warp][2 * k + 1]) + (low >> 32);
      s.sum.word[k] = u32(low) | (u64(u32(high)) << 32);
      carried = high >> 32;
    }
    s.special = special[warp];
    return s;
  }
  /// The words as a state, in the thread that made them.
  __device__ __forceinline__ typename M::state state() const {
    typename M::state s;
#pragma unroll(digits <= 24 ? digits / 2 : 1)
    for (int k = 0; k < digits / 2; ++k)
      s.sum.word[k] = word[2 * k] | (u64(word[2 * k + 1]) << 32);
    s.special = word[digits];
    return s;
  }
};

/// The room of one of the folds of a block.
template <plan P, exact_monoid M, int Slot>
__device__ __forceinline__ auto& exact_room_of() {
  __shared__ exact_room<M, P.warps_per_block()> room;
  return room;
}

/// The states of the threads that hold one become one, in thread 0.
template <plan P, exact_monoid M, int Slot>
__device__ __forceinline__ typename M::state combine_exactly(typename M::state const& s, bool holds) {
  using room_type = exact_room<M, P.warps_per_block()>;
  room_type& room = exact_room_of<P, M, Slot>();
  int const warp = int(threadIdx.x / 32);
  bool const speaks = threadIdx.x % 32 == 0;
  __syncthreads(); // the room is free again
#pragma unroll(room_type::digits <= 24 ? room_type::digits : 1)
  for (int k = 0; k < room_type::digits; ++k) {
    u64 const sum = sum_of_warp(holds ? u32(s.sum.word[k / 2] >> (32 * (k % 2))) : 0u);
    if (speaks)
      room.digit[warp][k] = sum;
  }
  u32 const special = __reduce_or_sync(whole_warp, holds ? u32(s.special) : 0u);
  if (speaks)
    room.special[warp] = special;
  room.template total<P.threads_per_block>();
  return threadIdx.x == 0 ? room.state() : s;
}

/// What an expression sees that feeds the slow way: numbers that pass are handed on.
template <exact_monoid M, class F>
struct passing {
  F const& f;
  template <class... Vs>
  __device__ __forceinline__ void step(M const&, int, bool on, i64, Vs... values) const {
    if (on)
      f(static_cast<typename M::number>(values)...);
  }
};

/// One exact sum in one thread.
template <plan P, exact_monoid M, int Slot>
struct exact_lanes {
  using window_type = window_of<M>;
  window_type window;
  u32 least, most; ///< of the keys of a batch: of those that are not zero, and of all
  u32 special = 0;
  int added = 0;

  using room_type = exact_room<M, P.warps_per_block()>;
  __device__ __forceinline__ static auto& room() { return exact_room_of<P, M, Slot>(); }
  __device__ __forceinline__ static int warp() { return int(threadIdx.x / 32); }
  __device__ __forceinline__ exact_lanes() {
    for (int k = int(threadIdx.x % 32); k < room_type::digits; k += 32)
      room().digit[warp()][k] = 0;
    __syncwarp();
  }
  /// What an expression sees that feeds the window.
  template <class... Vs>
  __device__ __forceinline__ void step(M const&, int, bool on, i64, Vs... values) {
    window.add(on ? static_cast<typename M::number>(values) : typename M::number(0)...);
  }
  /// What it sees that looks at an element before.
  struct look {
    exact_lanes& of;
    template <class... Vs>
    __device__ __forceinline__ void step(M const&, int, bool on, i64, Vs... values) const {
      of.take_note(window_type::key(on ? static_cast<typename M::number>(values) : typename M::number(0)...));
    }
  };
  __device__ __forceinline__ void take_note(u32 key) {
    u32 const without_zero = key - 1;
    least = without_zero < least ? without_zero : least;
    most = key > most ? key : most;
  }
  __device__ __forceinline__ void look_afresh() { least = 0xffffffffu, most = 0; }
  /// Whether the batch of every lane lies in the window of the warp, which then has room for it. If not, the window is aimed
  /// at it, for the next one. Whoever adds the batch counts it in `added`: another fold may have sent it the slow way.
  __device__ __forceinline__ bool fits(int elements) {
    if (window.base < 0)
      aim();
    bool const fit = __all_sync(whole_warp, holds_keys(window, least, most));
    if (!fit || added + elements > window_type::additions) {
      window.flush(room(), warp(), added);
      added = 0;
      if (!fit)
        aim();
    }
    return fit;
  }
  __device__ __forceinline__ void aim() { aim_below(window, __reduce_max_sync(whole_warp, most), window_type::headroom); }
  /// Adds a batch whatever it holds; each(f) calls f(values...) for every element of this thread.
  template <class Each>
  __device__ __forceinline__ void add_slowly(Each const& each) {
    int above = 0x7fffffff; // pieces from here on have been added
    for (;;) {
      int highest = -1;
      each([&](auto... values) {
        if (!(is_finite(values) && ...))
          special |= u32(special_of_product(values...));
        else
          in_pieces<M>([&](u32 bits, int at, bool) { highest = bits != 0 && at < above && at > highest ? at : highest; }, values...);
      });
      highest = __reduce_max_sync(whole_warp, highest);
      if (highest < 0)
        return;
      int const base = highest > 29 ? highest - 29 : 0;
      i64 sum = 0;
      each([&](auto... values) {
        if ((is_finite(values) && ...))
          in_pieces<M>(
              [&](u32 bits, int at, bool negative) {
                if (at >= base && at < above)
                  sum += (negative ? -i64(bits) : i64(bits)) << (at - base);
              },
              values...);
      });
      room().add(warp(), sum, base);
      above = base;
    }
  }
  /// What this warp has added is in its digits.
  __device__ __forceinline__ void close() {
    if (window.base >= 0)
      window.flush(room(), warp(), added);
    u32 const of_warp = __reduce_or_sync(whole_warp, special);
    if (threadIdx.x % 32 == 0)
      room().special[warp()] = of_warp;
  }
};

} // namespace tally::v0::kernel
