// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The planner of one segment whose ends the device knows, as a contents page: from the facts of a program to the plan of its kernel, and
// to the launch, whose blocks are as many as run at once. Layer 3.
#pragma once

#include <tally/plan/one_segment_plan.hpp>
#include <tally/plan/segments.hpp>
#include <tally/plan/tile.hpp>

namespace tally::v0 {

namespace planning {

/// Leaves of a warp, whose subtree keeps a state a level in registers.
constexpr int choose_leaves_of_warp(facts const& f) { return f.state_bytes() <= 16 ? 8 : f.state_bytes() <= 64 ? 4 : 2; }
/// Where a thread keeps little, two blocks of twice the warps are on a multiprocessor instead of four, so that fewer meet.
constexpr int choose_warps(facts const& f) { return choose_blocks(f) >= 4 ? 16 : 8; }
/// One block of eight warps would leave much of a multiprocessor idle.
constexpr int choose_blocks_at_once(facts const& f) {
  return choose_warps(f) == 16 ? choose_blocks(f) / 2 : f.state_bytes() <= 32 && choose_blocks(f) < 2 ? 2 : choose_blocks(f);
}
/// Warps that a launch has on a multiprocessor, if it reads ahead: with sixteen it reads nine tenths of the bandwidth where it is alone, and there is
/// room for one in front or behind. Of f32 eight, and as many as there is room for, are slower: docs/measured/enqueued_h200.md, 2026-11-23.
inline constexpr int warps_of_launch = 16;

} // namespace planning

/// Plans the kernel of one segment.
constexpr one_segment_plan make_one_segment_plan(facts const& f) {
  one_segment_plan p{};
  p.warps_per_block = planning::choose_warps(f);
  p.blocks_per_multiprocessor = planning::choose_blocks_at_once(f);
  p.rows_in_flight = planning::choose_rows_in_flight(f);
  p.leaves_of_warp = planning::choose_leaves_of_warp(f);
  p.shares_of_block = 16;
  p.overlaps_launch = f.target.compute_major >= 9;
  p.reads_ahead = p.overlaps_launch && f.queued;
  return p;
}

/// Whether a block of such a kernel has room for its states, of as many bytes: of every level, of its warps twice, and of its shares. If not, the
/// kernel of many segments folds it.
constexpr bool holds_one_segment(facts const& f, i64 state_bytes) {
  one_segment_plan const p = make_one_segment_plan(f);
  return (max_levels_of_share + 2 * p.warps_per_block + p.shares_of_block) * state_bytes <= planning::bytes_for_rooms;
}

/// One launch, whatever lies between the ends: its blocks, and the room for states where they meet.
struct one_segment_launch {
  int blocks;
  int places;
};
constexpr one_segment_launch launch_one_segment(facts const& f, one_segment_plan const& p) {
  i64 const of_multiprocessor = p.reads_ahead ? planning::warps_of_launch / p.warps_per_block : p.blocks_per_multiprocessor;
  int const at_once = f.target.multiprocessors * int(planning::bounded(1, of_multiprocessor, p.blocks_per_multiprocessor));
  i64 const shares = f.leaves() == 0 ? 1 : (f.leaves() - 1) / p.warps_per_block + 1; // of whatever length they are, no more
  int const blocks = shares < at_once ? static_cast<int>(shares) : at_once, most = p.most_shares(blocks);
  int const met = shares < most ? static_cast<int>(shares) : most;
  return {blocks, met + meeting_of_shares{met, blocks}.groups()};
}

} // namespace tally::v0
