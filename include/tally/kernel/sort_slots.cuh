// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stable sort of elements by their slots, digit by digit from the lowest. Layer 4. Every block has a share of neighbouring elements:
// it counts their digits; a warp for each digit adds the counts of all blocks up; then the block knows where its elements go, and moves
// them tile by tile, sorted within the tile in shared memory first, so that neighbours go to neighbours.
#pragma once

#include <tally/fold/slots.hpp>
#include <tally/plan/sorted_keys_plan.hpp>

namespace tally::inline v0::kernel {

/// What the lanes of a warp up to this one have together.
template <class T>
__device__ __forceinline__ T sum_up_to_lane(T own, int lane) {
#pragma unroll
  for (int h = 1; h < 32; h *= 2) {
    T const other = __shfl_up_sync(0xffffffffu, own, h);
    own += lane >= h ? other : T(0);
  }
  return own;
}

/// Which lanes of the warp have the same digit.
__device__ __forceinline__ u32 lanes_with_digit(u32 digit) {
  u32 same = ~u32(0);
#pragma unroll
  for (int b = 0; b < bits_of_slot_digit; ++b) {
    bool const set = (digit >> b & 1) != 0;
    u32 const those = __ballot_sync(0xffffffffu, set);
    same &= set ? those : ~those;
  }
  return same;
}

template <sorted_keys_plan P>
class slot_sorter {
public:
  using number = cuda::std::conditional_t<P.wide_numbers, unsigned long long, unsigned>;
  static constexpr int threads = P.threads_per_block, warps = threads / 32, each = P.elements_per_thread, tile = threads * each;
  static_assert(threads == values_of_slot_digit, "a thread for every value of a digit");

  struct room {
    u32 counts[warps][values_of_slot_digit]; ///< of what each warp has; then, where in a tile its elements go
    u32 slots[tile];
    number numbers[tile];
    number shift[values_of_slot_digit]; ///< from places in a tile to places among all
    number sums[warps];
  };

  slot_sort const& to;
  room& own;

  __device__ __forceinline__ static int lane() { return int(threadIdx.x % 32); }
  __device__ __forceinline__ static int warp() { return int(threadIdx.x / 32); }
  __device__ __forceinline__ i64 first() const { return blockIdx.x * to.share; }
  __device__ __forceinline__ i64 last() const {
    i64 const end = first() + to.share;
    return end < to.elements ? end : to.elements;
  }

  __device__ __forceinline__ void open_counts() const {
    for (int w = 0; w < warps; ++w)
      own.counts[w][threadIdx.x] = 0;
    __syncthreads();
  }
  __device__ __forceinline__ void count(u32 slot) const { atomicAdd(&own.counts[warp()][digit_of_slot(slot, to.pass)], 1u); }
  __device__ __forceinline__ void close_counts() const {
    __syncthreads();
    number n = 0;
    for (int w = 0; w < warps; ++w)
      n += own.counts[w][threadIdx.x];
    counts_of(int(threadIdx.x))[blockIdx.x] = n;
  }

  __device__ void count_all() const {
    open_counts();
    u32 const* const from = to.slots_now();
    i64 const end = last();
    for (i64 begin = first() + threadIdx.x; begin < end; begin += tile) {
      u32 slot[each];
#pragma unroll
      for (int i = 0; i < each; ++i)
        slot[i] = begin + i * threads < end ? from[begin + i * threads] : 0;
#pragma unroll
      for (int i = 0; i < each; ++i)
        if (begin + i * threads < end)
          count(slot[i]);
    }
    close_counts();
  }

  /// A warp takes one digit.
  __device__ void add_up() const {
    int const digit = int(blockIdx.x) * warps + warp();
    number* const of = counts_of(digit);
    number before = 0;
    for (int first = 0; first < to.blocks; first += 32) {
      bool const is_block = first + lane() < to.blocks;
      number const n = is_block ? of[first + lane()] : 0, with = sum_up_to_lane(n, lane());
      if (is_block)
        of[first + lane()] = before + with - n;
      before += __shfl_sync(0xffffffffu, with, 31);
    }
    if (lane() == 0)
      counts_of(values_of_slot_digit)[digit] = before;
  }

  __device__ void move() const {
    number next = sum_before(counts_of(values_of_slot_digit)[threadIdx.x]) + counts_of(int(threadIdx.x))[blockIdx.x];
    i64 const end = last();
    for (i64 begin = first(); begin < end; begin += tile)
      move_tile(begin, end - begin < tile ? int(end - begin) : tile, next);
  }

  __device__ void find_begins(i64 thread, i64 step) const {
    for (i64 g = thread; g <= to.slot_count; g += step)
      static_cast<number*>(to.begins)[g] = static_cast<number>(first_not_below(to.slots_now(), to.elements, g));
  }

private:
  __device__ __forceinline__ number* counts_of(int digit) const { return static_cast<number*>(to.counts) + i64(digit) * to.blocks; }

  /// What the threads in front of this one have together. Between two calls there is a barrier.
  __device__ __forceinline__ number sum_before(number n) const {
    number const with = sum_up_to_lane(n, lane());
    if (lane() == 31)
      own.sums[warp()] = with;
    __syncthreads();
    number before = with - n;
    for (int w = 0; w < warps; ++w)
      before += w < warp() ? own.sums[w] : 0;
    return before;
  }

  /// Elements [begin, begin + count); `next` is where the next element goes whose digit is the thread's.
  __device__ __forceinline__ void move_tile(i64 begin, int count, number& next) const {
    u32 const* const slots = to.slots_now();
    number const* const numbers = static_cast<number const*>(to.numbers_now());
    u32 slot[each];
    number held[each];
    int place[each];
    int const at = warp() * 32 * each + lane(); // warps, rows of a warp and lanes are in the order of the elements
#pragma unroll
    for (int i = 0; i < each; ++i) {
      i64 const t = begin + at + 32 * i;
      bool const there = at + 32 * i < count;
      slot[i] = there ? slots[t] : ~u32(0); // the highest of all digits, and behind all elements
      held[i] = to.pass == 0 ? static_cast<number>(t) / static_cast<number>(to.groups) : there ? numbers[t] : 0;
    }
    u32* const counts = own.counts[warp()];
    for (int d = lane(); d < values_of_slot_digit; d += 32)
      counts[d] = 0;
    __syncwarp();
#pragma unroll
    for (int i = 0; i < each; ++i) {
      u32 const digit = digit_of_slot(slot[i], to.pass), same = lanes_with_digit(digit), before = same & ((u32(1) << lane()) - 1);
      place[i] = int(counts[digit]) + __popc(before);
      __syncwarp();
      if (before == 0)
        counts[digit] += u32(__popc(same));
      __syncwarp();
    }
    __syncthreads();
    u32 mine = 0;
    for (int w = 0; w < warps; ++w) {
      u32 const of_warp = own.counts[w][threadIdx.x];
      own.counts[w][threadIdx.x] = mine;
      mine += of_warp;
    }
    number const begin_in_tile = sum_before(mine);
    for (int w = 0; w < warps; ++w)
      own.counts[w][threadIdx.x] += static_cast<u32>(begin_in_tile);
    own.shift[threadIdx.x] = next - begin_in_tile;
    next += mine;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < each; ++i) {
      u32 const there = u32(place[i]) + counts[digit_of_slot(slot[i], to.pass)];
      own.slots[there] = slot[i];
      own.numbers[there] = held[i];
    }
    __syncthreads();
    number* const moved = static_cast<number*>(to.numbers_next());
#pragma unroll
    for (int i = 0; i < each; ++i) {
      int const here = i * threads + int(threadIdx.x);
      if (here < count) {
        u32 const s = own.slots[here];
        number const there = own.shift[digit_of_slot(s, to.pass)] + number(here);
        to.slots_next()[there] = s;
        moved[there] = own.numbers[here];
      }
    }
  }
};

} // namespace tally::inline v0::kernel
