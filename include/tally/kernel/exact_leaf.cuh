// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs with exact sums: how their leaves are fed, and, where there is nothing but exact sums, how their blocks meet. Layer
// 4. The order is free, so all warps of the grid sweep memory side by side, and the last block adds the words of all others
// digit by digit, without ever holding a state in registers.
#pragma once

#include <tally/kernel/exact_fold.cuh>
#include <tally/kernel/partials.cuh>

namespace tally::v0::kernel {

template <class... Leaves>
constexpr bool any_exact_sum(pack<Leaves...> const*) {
  return (false || ... || exact_monoid<typename Leaves::monoid_type>);
}
template <class... Leaves>
constexpr bool only_exact_sums(pack<Leaves...> const*) {
  return (true && ... && exact_monoid<typename Leaves::monoid_type>);
}

/// Feeds rows of a leaf, `left` elements of which exist from `start` on, from memory and whatever they hold.
template <plan P, class Program, class Folds>
__device__ __forceinline__ void feed_slowly(Program const& p, i64 start, i64 left, int thread, Folds& folds) {
  constexpr int group = P.lanes_per_group, per_row = 32 * group, rows = P.rows_in_flight;
#pragma unroll 1
  for (int r = 0; r < rows; ++r)
#pragma unroll
    for (int k = 0; k < group; ++k)
      if (int const e = r * per_row + lane_in_row<P>(thread, k); e < left)
        step_rounding(folds, p.leaves, k, p.row_at(start + e));
  add_slowly(folds, p.leaves, [&](auto const& f) {
#pragma unroll 1
    for (int i = 0; i < rows * group; ++i)
      if (int const e = i / group * per_row + lane_in_row<P>(thread, i % group); e < left)
        f(p.row_at(start + e));
  });
}

/// Feeds rows of a leaf of which some elements do not exist, as if these were masked: false where they do not fit the windows.
/// All loads are in flight while they are looked at, and are found near when they are added.
template <plan P, class Program, class Folds>
__device__ __forceinline__ bool feed_ragged_rows(Program const& p, i64 start, i64 left, int thread, Folds& folds) {
  constexpr int group = P.lanes_per_group, per_row = 32 * group, rows = P.rows_in_flight;
  int const here = left < rows * per_row ? int(left) : rows * per_row;
  auto const place = [&](int r, int k) { return r * per_row + lane_in_row<P>(thread, k); };
  look_afresh(folds, p.leaves);
#pragma unroll
  for (int r = 0; r < rows; ++r)
#pragma unroll
    for (int k = 0; k < group; ++k) {
      int const e = place(r, k);
      look_at(folds, p.leaves, p.row_at(start + (e < here ? e : 0)), e < here);
    }
  if (!all_fit(folds, p.leaves, rows * group))
    return false;
#pragma unroll 1
  for (int r = 0; r < rows; ++r)
#pragma unroll
    for (int k = 0; k < group; ++k) {
      int const e = place(r, k);
      folds.step(p.leaves, k, e < here, p.row_at(start + (e < here ? e : 0)));
    }
  count_added(folds, p.leaves, rows * group);
  return true;
}

/// Shows the elements of rows of a leaf, `left` of which exist from `start` on, to what is beside its folds.
template <plan P, class Program, class Beside>
__device__ __forceinline__ void show_ragged_rows(Program const& p, i64 start, i64 left, int thread, Beside const& beside) {
  constexpr int group = P.lanes_per_group, per_row = 32 * group;
#pragma unroll 1
  for (int i = 0; i < P.rows_in_flight * group; ++i)
    if (int const e = i / group * per_row + lane_in_row<P>(thread, i % group); e < left)
      beside.add(p.row_at(start + e));
}

/// Feeds leaf k of a warp, the `leaf`-th of all, to the folds and to what is beside them: rows that fit the windows from registers, others slowly.
template <plan P, class Program, class From, class Folds, class Beside>
__device__ __forceinline__ void feed_exact_leaf(Program const& p, From& from, int k, i64 leaf, bool whole, int thread, Folds& folds, Beside const& beside) {
  constexpr int group = P.lanes_per_group, rows = P.rows_per_leaf, per_row = 32 * group;
  i64 const start = leaf * P.elements_per_leaf();
  if (whole)
    from.wait(k);
  auto const& columns = from.columns(k);
#pragma unroll 1
  for (int batch = 0; batch < rows; batch += P.rows_in_flight) {
    i64 const at = from.start(k) + batch * per_row, position = p.first + start + batch * per_row;
    auto in = [&]<class... Cs>(pack<Cs...> const&) { return loaded_rows<P, P.rows_in_flight, 0, Cs...>{}; }(columns);
    auto const each = [&](auto const& f) {
#pragma unroll
      for (int r = 0; r < P.rows_in_flight; ++r)
#pragma unroll
        for (int l = 0; l < group; ++l)
          f(l, in.row_at(columns, at, position + r * per_row + lane_in_row<P>(thread, l), r, l, thread));
    };
    i64 const begin = start + batch * per_row, left = p.extent - begin;
    if (!whole) {
      if (left > 0 && !feed_ragged_rows<P>(p, begin, left, thread, folds))
        feed_slowly<P>(p, begin, left, thread, folds);
      show_ragged_rows<P>(p, begin, left, thread, beside);
    } else {
      in.load(columns, at, thread);
      if (batch + P.rows_in_flight == rows)
        from.release(k);
      look_afresh(folds, p.leaves);
      each([&](int, auto const& row) { look_at(folds, p.leaves, row, true); });
      if (all_fit(folds, p.leaves, P.rows_in_flight * group)) {
        each([&](int l, auto const& row) { folds.step(p.leaves, l, true, row); });
        count_added(folds, p.leaves, P.rows_in_flight * group);
      } else {
        feed_slowly<P>(p, begin, left, thread, folds);
      }
#pragma unroll
      for (int r = 0; r < P.rows_in_flight; ++r)
        beside.template add_warp<group>(
            [&](int l) { return in.row_at(columns, at, position + r * per_row + lane_in_row<P>(thread, l), r, l, thread); });
    }
  }
}

/// The folds of this thread over all leaves of its warp: those of all warps stand side by side, or behind each other where walks take turns.
template <plan P, class Grid, class Columns, class... Leaves, class Beside>
__device__ __forceinline__ auto fold_exactly(Grid const& grid, program<Columns, Leaves...> const& p, leaf_counts const& n, int thread, Beside const& beside) {
  running_folds<P, Leaves...> folds(p.leaves);
  i64 const warp = i64(grid.block()) * P.warps_per_block() + threadIdx.x / 32;
  i64 const first = P.takes_turns ? warp * P.leaves_per_warp : warp, step = P.takes_turns ? 1 : i64(grid.blocks()) * P.warps_per_block();
  i64 const end = P.takes_turns && first + P.leaves_per_warp < n.all ? first + P.leaves_per_warp : n.all;
  if (first < n.all) {
    leaves_of_warp<P, program<Columns, Leaves...>> from(p, first, n.whole, step, n.whole);
    i64 at = first;
#pragma unroll 1
    for (int k = 0; at < end; ++k, at += step)
      feed_exact_leaf<P>(p, from, k, at, at < n.whole, thread, folds, beside);
  }
  return folds;
}

/// The words of all blocks become the digits of the warps of this one: warp w adds those of every block that is w modulo the
/// warps of a block, a lane a word.
template <plan P, exact_monoid M, int Slot>
__device__ __forceinline__ void collect_exactly(u64 const* from, int words_apart, u32 epoch) {
  auto& room = exact_room_of<P, M, Slot>();
  constexpr int digits = exact_room<M, P.warps_per_block()>::digits, warps = P.warps_per_block(), batch = 8;
  u32 const warp = threadIdx.x / 32;
#pragma unroll 1
  for (int w = int(threadIdx.x % 32); w <= digits; w += 32) {
    u64 sum = 0;
#pragma unroll 1
    for (u32 first = warp; first < gridDim.x; first += warps * batch) {
      u64 seen[batch];
#pragma unroll
      for (int k = 0; k < batch; ++k)
        if (u32 const b = first + u32(k * warps); b < gridDim.x)
          seen[k] = peek_word(from + i64(b) * words_apart + w);
#pragma unroll
      for (int k = 0; k < batch; ++k)
        if (u32 const b = first + u32(k * warps); b < gridDim.x) {
          u64 const word = await_word(from + i64(b) * words_apart + w, seen[k], epoch);
          sum = w < digits ? sum + word : sum | word;
        }
    }
    if (w < digits)
      room.digit[warp][w] = sum;
    else
      room.special[warp] = u32(sum);
  }
}

/// The states in the rooms of a block, for thread 0.
template <plan P, class Columns, class... Leaves>
__device__ __forceinline__ void take_states(program<Columns, Leaves...> const&, pack<typename Leaves::state...>& s) {
  if (threadIdx.x == 0)
    for_each_index<int(sizeof...(Leaves))>([&](auto i) {
      using M = typename nth_t<i, Leaves...>::monoid_type;
      get<i>(s) = exact_room_of<P, M, int(sizeof...(Leaves)) - 1 - i>().state();
    });
}

/// From the digits in the rooms of every block to the states of the grid: true in the block whose thread 0 then has them.
/// What a block does with the digits of its warps, the last one does once more with those of all blocks, by the same
/// instructions, which are in the multiprocessor's cache by then.
template <plan P, class Columns, class... Leaves>
__device__ __forceinline__ bool meet_exactly(program<Columns, Leaves...> const& p, partials_view const& ws, u32 epoch,
                                            pack<typename Leaves::state...>& s) {
  using Program = program<Columns, Leaves...>;
  constexpr int apart = words_per_partial<Program>;
#pragma unroll 1
  for (bool fresh = true;; fresh = false) {
    for_each_index<Program::leaf_count>([&](auto i) {
      using M = typename nth_t<i, Leaves...>::monoid_type;
      exact_room_of<P, M, Program::leaf_count - 1 - i>().template total<P.threads_per_block>();
    });
    if (!fresh || gridDim.x == 1) {
      take_states<P>(p, s);
      return true;
    }
    __syncthreads(); // thread 0 has made the words
    int offset = 0;
    for_each_index<Program::leaf_count>([&](auto i) {
      using M = typename nth_t<i, Leaves...>::monoid_type;
      auto const& room = exact_room_of<P, M, Program::leaf_count - 1 - i>();
      constexpr int digits = exact_room<M, P.warps_per_block()>::digits;
      for (int w = int(threadIdx.x); w <= digits; w += P.threads_per_block)
        store_word(ws.words + i64(blockIdx.x) * apart + offset + w, room.word[w], epoch);
      offset += digits + 2; // a state ends with a word that is always zero
    });
    if (blockIdx.x != gridDim.x - 1)
      return false;
    offset = 0;
    for_each_index<Program::leaf_count>([&](auto i) {
      using M = typename nth_t<i, Leaves...>::monoid_type;
      collect_exactly<P, M, Program::leaf_count - 1 - i>(ws.words + offset, apart, epoch);
      offset += exact_room<M, P.warps_per_block()>::digits + 2;
    });
  }
}

} // namespace tally::v0::kernel
