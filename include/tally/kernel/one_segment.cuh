// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The route "one segment": an answer for what lies between two offsets that only the device knows, in one launch of as many blocks as
// run at once. Layer 4. Each block folds its shares of the segment, at whatever address they begin, and shows their states to the others
// before it waits for any; then they meet as plan/one_segment_plan.hpp says, like the partials of a full reduction.
#pragma once

#include <tally/fold/folds.hpp>
#include <tally/kernel/aligned_rows.cuh>
#include <tally/kernel/answers.cuh>
#include <tally/kernel/launch_order.cuh>
#include <tally/kernel/shown_states.cuh>
#include <tally/kernel/warp_leaf.cuh>
#include <tally/plan/one_segment_plan.hpp>

namespace tally::v0::kernel {

/// The states of a block's warps, which take turns in two rooms: while one is read the other is written.
template <one_segment_plan P, class Program>
class room_of_warps {
  using States = typename Program::states;

public:
  /// The states of the first `present` warps, which lane 0 of each has, become one that thread 0 has.
  __device__ __forceinline__ States combine(Program const& p, States s, int present) {
    alignas(16) __shared__ unsigned char room[2 * P.warps_per_block * sizeof(States)];
    auto* const of_warp = reinterpret_cast<States*>(room) + (turn_ ? P.warps_per_block : 0);
    turn_ = !turn_;
    int const lane = int(threadIdx.x % 32), warp = int(threadIdx.x / 32);
    if (lane == 0)
      of_warp[warp] = s;
    __syncthreads();
    if (warp == 0)
      s = combined<P.warps_per_block>(p, of_warp[lane < P.warps_per_block ? lane : 0], present, lane);
    return s;
  }
  /// The states of the first `present` lanes of a warp, at most Most, become one that lane 0 has.
  template <int Most>
  __device__ __forceinline__ static States combined(Program const& p, States s, int present, int lane) {
    for_each_index<Program::leaf_count>([&](auto i) {
      auto const& m = get<i>(p.leaves).monoid;
      get<i>(s) = combine_lanes<Most>([&](auto const& a, auto const& b) { return m.combine(a, b); }, get<i>(s), present, lane);
    });
    return s;
  }

private:
  bool turn_ = false;
};

/// The state of a share of a segment of n elements: turns of the warps' subtrees, whose states thread 0 combines along the tree. It keeps a state
/// of every level.
template <one_segment_plan P, class Program, class Rows, class Room>
__device__ __forceinline__ typename Program::states fold_share(Program const& p, Rows const& rows, i64 n, shares_of_segment const& cut, int share,
                                                              Room& room, typename Program::states* kept) {
  int const lane = int(threadIdx.x % 32), warp = int(threadIdx.x / 32);
  int const leaves_of_warp = 1 << cut.log_warp, log_turn = levels_of(P.warps_per_block) + cut.log_warp;
  i64 const first = i64(share) << cut.log_turns, there = nodes_over(cut.leaves, log_turn) - first;
  i64 const turns = there < i64(1) << cut.log_turns ? there : i64(1) << cut.log_turns;
  auto s = p.identity();
#pragma unroll 1
  for (i64 turn = 0; turn < turns; ++turn) {
    i64 const leaf = (first + turn) << log_turn, left = cut.leaves - leaf;
    int const present = left >> log_turn != 0 ? 1 << log_turn : int(left), mine = present - (warp << cut.log_warp);
    s = p.identity();
    if (mine > 0)
      s = fold_leaves_by_warp<P.rows_in_flight, P.leaves_of_warp>(p, rows, n, leaf + (warp << cut.log_warp), mine < leaves_of_warp ? mine : leaves_of_warp,
                                                                lane);
    s = room.combine(p, s, int(nodes_over(present, cut.log_warp)));
    if (turns > 1 && threadIdx.x == 0) {
      int level = 0;
      for (; (turn >> level & 1) != 0; ++level)
        s = p.combine(kept[level], s);
      kept[level] = s;
    }
  }
  if (threadIdx.x == 0 && (turns & (turns - 1)) != 0) { // the segment ends in this share
    int level = __ffsll(static_cast<long long>(turns)) - 1;
    for (s = kept[level], ++level; turns >> level != 0; ++level)
      if ((turns >> level & 1) != 0)
        s = p.combine(kept[level], s);
  }
  return s;
}

/// The state of `count` neighbouring partials, folded by one block; thread 0 has it.
template <one_segment_plan P, class Program, class Room>
__device__ __forceinline__ typename Program::states fold_partials(Program const& p, u64 const* from, int count, u32 epoch, Room& room) {
  constexpr int words = words_per_partial<Program>, most = words <= 2 ? 4 : 1, threads = P.threads_per_block();
  int const each = count > threads ? most : 1, first = int(threadIdx.x) * each, mine = count - first;
  auto s = p.identity();
  if (mine > 0)
    s = collect<most>(p, from + first * words, mine < each ? mine : each, epoch);
  int const holders = (count - 1) / each + 1, of_warp = holders - int(threadIdx.x / 32) * 32;
  s = Room::template combined<32>(p, s, of_warp, int(threadIdx.x % 32));
  return room.combine(p, s, (holders - 1) / 32 + 1);
}

/// From the states of shares, which all blocks have shown, to that of the segment: true in the thread that has it.
template <one_segment_plan P, class Program, class Room>
__device__ __forceinline__ bool meet_shares(Program const& p, typename Program::states& s, int shares, partials_view const& ws, u32 epoch, Room& room) {
  constexpr int words = words_per_partial<Program>;
  meeting_of_shares const meeting{shares, int(gridDim.x)};
  u64* level = ws.words;
  int count = shares;
  if (count > P.threads_per_block() * (words <= 2 ? 4 : 1)) {
    u64* const next = level + count * words;
    int const lane = int(threadIdx.x % 32);
#pragma unroll 1
    for (int own = int(blockIdx.x + threadIdx.x / 32 * gridDim.x); own < shares; own += P.warps_per_block * int(gridDim.x))
      if (int const group = own / 32; meeting.folds(group) == own) {
        int const present = meeting.present(group);
        auto g = p.identity();
        if (lane < present)
          g = collect<1>(p, level + (32 * group + lane) * words, 1, epoch);
        g = Room::template combined<32>(p, g, present, lane);
        if (lane == 0)
          publish<Program>(g, next + group * words, epoch);
      }
    level = next;
    count = meeting.groups();
  }
  if (int(blockIdx.x) != meeting.last_block())
    return false;
  s = fold_partials<P>(p, level, count, epoch, room);
  return threadIdx.x == 0;
}

/// Folds what lies between offsets[0] and offsets[1], as far as the source has it. The workspace has room for the shares of the
/// longest segment and for their groups.
template <one_segment_plan P, class Program, class Nodes, class Offset>
__global__ void __launch_bounds__(P.threads_per_block(), P.blocks_per_multiprocessor)
    one_segment(__grid_constant__ Program const p, Offset const* offsets, __grid_constant__ Nodes const nodes, __grid_constant__ answer_arrays const to,
                partials_view const ws, [[maybe_unused]] launch_order const order) {
  bool ahead = false;
  if constexpr (P.reads_ahead) {
    ahead = begins_ahead(order, false);
  } else if constexpr (P.overlaps_launch) {
    let_launch_behind_begin();
    wait_for_launch_in_front();
  }
  u32 epoch = ahead ? 0 : epoch_after(ws);
  auto const see_what_is_shared = [&] {
    if (P.reads_ahead && epoch == 0) {
      wait_for_launch_in_front();
      epoch = epoch_after(ws);
    }
  };
  auto const within = [&](Offset o, i64 low) { return static_cast<i64>(o) < low ? low : static_cast<i64>(o) < p.extent ? static_cast<i64>(o) : p.extent; };
  i64 const begin = within(offsets[0], 0), n = within(offsets[1], begin) - begin;
  constexpr i64 elements = shape_of<Program>.elements();
  auto const cut = cut_into_shares(P, (n + (elements - 1)) / elements, int(gridDim.x));
  room_of_warps<P, Program> room;
  alignas(16) __shared__ unsigned char kept_room[max_levels_of_share * sizeof(typename Program::states)];
  alignas(16) __shared__ unsigned char folded_room[P.shares_of_block * sizeof(typename Program::states)];
  auto* const kept = reinterpret_cast<typename Program::states*>(kept_room);
  auto* const folded = reinterpret_cast<typename Program::states*>(folded_room);
  auto s = p.identity();
  int const own = shares_of(cut.shares, int(gridDim.x), int(blockIdx.x));
  auto const fold_shares = [&](auto const& rows) {
#pragma unroll 1
    for (int k = 0; k < own; ++k) {
      s = fold_share<P>(p, rows, n, cut, int(blockIdx.x + k * gridDim.x), room, kept);
      if (threadIdx.x == 0)
        folded[k] = s;
    }
  };
  segment_rows<Program> const rows{p, begin};
  if constexpr (has_aligned_rows<Program, typename Program::columns_type>) {
    if (are_aligned(p, begin))
      fold_shares(aligned_rows<Program>{rows});
    else
      fold_shares(rows);
  } else {
    fold_shares(rows);
  }
  if (cut.shares > 1 && own > 0) { // what is shown lies where that of the launch in front lies
    see_what_is_shared();
    __syncthreads();
    if (int(threadIdx.x) < own)
      publish<Program>(folded[threadIdx.x], ws.words + (blockIdx.x + threadIdx.x * gridDim.x) * words_per_partial<Program>, epoch);
  }
  bool const has_answer = cut.shares > 1 ? meet_shares<P>(p, s, cut.shares, ws, epoch, room) : blockIdx.x == 0 && threadIdx.x == 0;
  if (has_answer) {
    see_what_is_shared();
    write_answers(p, nodes, s, n, to, 0);
    if (cut.shares > 1)
      *ws.epoch = epoch;
  }
}

} // namespace tally::v0::kernel
