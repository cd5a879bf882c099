// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stable sort of elements by their slots, digit by digit from the lowest. Layer 4. Every block has a share of neighbouring elements:
// it counts their digits; a warp for each digit adds the counts of all blocks up; then the block knows where its elements go, and moves
// them tile by tile, sorted within the tile in shared memory first, so that neighbours go to neighbours.
#pragma once

#include <tally/fold/slots.hpp>
#include <tally/kernel/sorted_places.cuh>
#include <tally/kernel/sum_of_block.cuh>
#include <tally/plan/slot_sort_plan.hpp>

namespace tally::v0::kernel {

/// Which lanes of the warp have the same digit.
template <int Bits>
__device__ __forceinline__ u32 lanes_with_digit(u32 digit) {
  u32 same = ~u32(0);
#pragma unroll
  for (int b = 0; b < Bits; ++b) {
    bool const set = (digit >> b & 1) != 0;
    u32 const those = __ballot_sync(0xffffffffu, set);
    same &= set ? those : ~those;
  }
  return same;
}

template <slot_sort_plan P>
class slot_sorter {
public:
  using number = sorted_number<P>;
  using element = numbered_slot<number>;
  static constexpr int threads = P.threads_per_block, warps = threads / 32, each = P.elements_per_thread, tile = threads * each,
                       bits = P.bits_of_digit, values = 1 << bits, digits = values / threads;
  static_assert(digits >= 1 && tile < 1 << 16, "a thread for every value of a digit or some, and places of a tile in 16 bits");

  struct room {
    union {
      u32 counts[warps][values]; ///< of what each warp has
      struct {
        u16 places[warps][values]; ///< first of what each warp has; then, where in a tile its elements go
        element elements[tile];
        number shift[values]; ///< from places in a tile to places among all
      } of_tile;
    };
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
    for (int k = int(threadIdx.x); k < warps * values; k += threads)
      own.counts[k / values][k % values] = 0;
    __syncthreads();
  }
  __device__ __forceinline__ void count(u32 slot) const { atomicAdd(&own.counts[warp()][digit_of(slot)], 1u); }
  __device__ __forceinline__ void close_counts() const {
    __syncthreads();
    for (int d = int(threadIdx.x); d < values; d += threads) {
      number n = 0;
      for (int w = 0; w < warps; ++w)
        n += own.counts[w][d];
      counts_of(d)[blockIdx.x] = n;
    }
  }

  __device__ void count_all() const {
    open_counts();
    element const* const from = static_cast<element const*>(to.now());
    i64 const end = last();
    for (i64 begin = first() + threadIdx.x; begin < end; begin += tile) {
      u32 slot[each];
#pragma unroll
      for (int i = 0; i < each; ++i)
        slot[i] = begin + i * threads < end ? from[begin + i * threads].slot : 0;
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
      counts_of(values)[digit] = before;
  }

  __device__ void move() const {
    number next[digits], all = 0;
#pragma unroll
    for (int j = 0; j < digits; ++j)
      all += counts_of(values)[own_digit(j)];
    number before = sum_in_front(all, own.sums);
#pragma unroll
    for (int j = 0; j < digits; ++j) {
      next[j] = before + counts_of(own_digit(j))[blockIdx.x];
      before += counts_of(values)[own_digit(j)];
    }
    i64 const end = last();
    for (i64 begin = first(); begin < end; begin += tile)
      move_tile(begin, end - begin < tile ? int(end - begin) : tile, next);
  }

  /// Slots begin where two neighbours have different ones; all in between are empty, and begin there too.
  __device__ void find_begins() const {
    i64 const thread = i64(blockIdx.x) * threads + threadIdx.x, all = i64(gridDim.x) * threads;
    for (i64 run = thread / 32; (run + 1) * slots_of_run <= to.slot_count + 1; run += all / 32)
      begin_run(run * slots_of_run);
    i64 const behind = to.slot_count;
    for (i64 t = thread; t - lane() <= to.elements; t += all) {
      i64 const low = t == 0 ? 0 : t <= to.elements ? i64(slot_at(t - 1)) + 1 : behind + 1, high = t < to.elements ? i64(slot_at(t)) : behind;
      bool const many = high - low >= few_slots;
      if (!many)
        for (i64 g = low; g <= high; ++g)
          begins()[g] = static_cast<number>(t);
      for (u32 rest = __ballot_sync(~u32(0), many); rest != 0; rest &= rest - 1) {
        int const from = __ffs(int(rest)) - 1;
        begin_many(__shfl_sync(~u32(0), low, from), __shfl_sync(~u32(0), high, from), __shfl_sync(~u32(0), t, from));
      }
    }
  }

private:
  /// Slots that a thread writes by itself, and those that a warp does whatever lies around them.
  static constexpr i64 few_slots = 32, slots_of_run = 1024;
  __device__ __forceinline__ number* begins() const { return static_cast<number*>(to.begins); }
  __device__ __forceinline__ u32 slot_at(i64 t) const { return static_cast<element const*>(to.now())[t].slot; }
  /// A warp writes slots [first, last], which begin at t.
  __device__ __forceinline__ void begin_at(i64 first, i64 last, i64 t) const {
    for (i64 g = first + lane(); g <= last; g += 32)
      begins()[g] = static_cast<number>(t);
  }
  /// A run whose first slot begins where its last one does.
  __device__ __forceinline__ void begin_run(i64 first) const {
    i64 const last = first + slots_of_run - 1, own = lane() == 0 ? first : last;
    i64 const t = lane() < 2 ? first_not_below([&](i64 k) { return slot_at(k); }, to.elements, own) : 0, begin = __shfl_sync(~u32(0), t, 0);
    if (begin == __shfl_sync(~u32(0), t, 1))
      begin_at(first, last, begin);
  }
  /// Slots [low, high], all of which begin at t, but for the runs among them.
  __device__ __forceinline__ void begin_many(i64 low, i64 high, i64 t) const {
    i64 const runs = (low + slots_of_run - 1) / slots_of_run * slots_of_run, behind_runs = (high + 1) / slots_of_run * slots_of_run;
    if (runs >= behind_runs)
      return begin_at(low, high, t);
    begin_at(low, runs - 1, t);
    begin_at(behind_runs, high, t);
  }
  /// Numbers of the digits of one thread, side by side.
  struct alignas(2 * digits) own_counts {
    u16 of[digits];
  };
  __device__ __forceinline__ static int own_digit(int j) { return int(threadIdx.x) * digits + j; }
  __device__ __forceinline__ u32 digit_of(u32 slot) const { return digit_of_slot(slot, bits, to.pass); }
  __device__ __forceinline__ number* counts_of(int digit) const { return static_cast<number*>(to.counts) + i64(digit) * to.blocks; }
  __device__ __forceinline__ own_counts& places_of(int w) const { return reinterpret_cast<own_counts*>(own.of_tile.places[w])[threadIdx.x]; }

  __device__ __forceinline__ number number_in_group(number t) const {
    if constexpr (P.no_kept_axis)
      return t;
    else
      return t / static_cast<number>(to.groups);
  }

  /// Elements [begin, begin + count); `next` is where the next elements go whose digits are the thread's.
  __device__ __forceinline__ void move_tile(i64 begin, int count, number (&next)[digits]) const {
    auto& room = own.of_tile;
    element const* const from = static_cast<element const*>(to.now()) + begin;
    u32 slot[each];
    u16 place[each];
    int const at = warp() * 32 * each + lane(); // warps, rows of a warp and lanes are in the order of the elements
#pragma unroll
    for (int i = 0; i < each; ++i)
      if (at + 32 * i >= count)
        slot[i] = ~u32(0); // the highest of all digits, and behind all elements
      else
        slot[i] = to.pass == 0 ? to.noted()[begin + at + 32 * i] : from[at + 32 * i].slot;
    u16* const counts = room.places[warp()];
    for (int d = 2 * lane(); d < values; d += 64)
      reinterpret_cast<u32&>(counts[d]) = 0;
    __syncwarp();
#pragma unroll
    for (int i = 0; i < each; ++i) {
      u32 const digit = digit_of(slot[i]), same = lanes_with_digit<bits>(digit), before = same & ((u32(1) << lane()) - 1);
      place[i] = static_cast<u16>(counts[digit] + __popc(before));
      __syncwarp();
      if (before == 0)
        counts[digit] = static_cast<u16>(counts[digit] + __popc(same));
      __syncwarp();
    }
    __syncthreads();
    u32 mine[digits] = {}, all = 0;
#pragma unroll
    for (int w = 0; w < warps; ++w) {
      own_counts c = places_of(w);
#pragma unroll
      for (int j = 0; j < digits; ++j) {
        u32 const of_warp = c.of[j];
        c.of[j] = static_cast<u16>(mine[j]);
        mine[j] += of_warp;
      }
      places_of(w) = c;
    }
#pragma unroll
    for (int j = 0; j < digits; ++j)
      all += mine[j];
    u32 here = static_cast<u32>(sum_in_front(number(all), own.sums));
    u32 begins[digits];
#pragma unroll
    for (int j = 0; j < digits; ++j) {
      begins[j] = here;
      room.shift[own_digit(j)] = next[j] - here;
      next[j] += mine[j];
      here += mine[j];
    }
#pragma unroll
    for (int w = 0; w < warps; ++w) {
      own_counts c = places_of(w);
#pragma unroll
      for (int j = 0; j < digits; ++j)
        c.of[j] = static_cast<u16>(c.of[j] + begins[j]);
      places_of(w) = c;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < each; ++i) {
      number const n = to.pass == 0 ? number_in_group(static_cast<number>(begin + at + 32 * i)) : at + 32 * i < count ? from[at + 32 * i].number : 0;
      room.elements[u32(place[i]) + counts[digit_of(slot[i])]] = {slot[i], n};
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < each; ++i) {
      int const k = i * threads + int(threadIdx.x);
      if (k < count) {
        element const e = room.elements[k];
        static_cast<element*>(to.next())[room.shift[digit_of(e.slot)] + number(k)] = e;
      }
    }
  }
};

} // namespace tally::v0::kernel
