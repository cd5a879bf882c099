// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan of one segment whose ends the device knows, and how its kernel cuts the work once it has read them. Layer 3; kernels
// include it.
#pragma once

#include <tally/plan/plan.hpp>

namespace tally::v0 {

/// All decisions about the kernel of one segment. How many blocks there are is the launch's: the extent is not known then.
struct one_segment_plan {
  int warps_per_block; ///< a power of two
  int blocks_per_multiprocessor;
  int rows_in_flight;   ///< of a leaf
  int leaves_of_warp;   ///< the most that a warp folds before its block meets; a power of two
  int shares_of_block;  ///< the most that a block folds; no more than it has threads
  bool overlaps_launch; ///< starts while the launch in front drains, and waits for it
  bool reads_ahead;     ///< and folds before it waits, where the launch in front is a reduction too
  constexpr int threads_per_block() const { return 32 * warps_per_block; }
  /// The most shares that a grid has: as many as meet in two steps, 32 in the first.
  constexpr int most_shares(int blocks) const {
    int const most = 32 * threads_per_block();
    return shares_of_block * blocks < most ? shares_of_block * blocks : most;
  }
  friend constexpr bool operator==(one_segment_plan const&, one_segment_plan const&) = default;
};

/// Levels of the tree over the turns of a share: 2^63 elements on a whole chip have no more.
inline constexpr int max_levels_of_share = 40;

/// How the leaves of a segment are cut: 2^log_warp neighbouring leaves are a warp's, those of a block's warps a turn, 2^log_turns neighbouring
/// turns a share, which is a node of the tree; share s is folded by block s mod blocks.
struct shares_of_segment {
  i64 leaves; ///< of the segment
  int log_warp, log_turns;
  int shares;
};
/// How many nodes of 2^log leaves there are.
constexpr i64 nodes_over(i64 leaves, int log) { return (leaves + ((i64(1) << log) - 1)) >> log; }
/// The cut whose last round of blocks ends first, a meeting of the warps costing as much as a leaf; of equal ones that of fewest shares.
constexpr shares_of_segment cut_into_shares(one_segment_plan const& p, i64 leaves, int blocks) {
  shares_of_segment cut{leaves, 0, 0, 0}, best = cut;
  int log = 0; // of the leaves of a share
  while (1 << log < p.warps_per_block)
    ++log;
  i64 least = 0;
  for (int rounds = 2; leaves > 0 && rounds > 1; ++log, ++(1 << cut.log_warp < p.leaves_of_warp ? cut.log_warp : cut.log_turns)) {
    i64 const shares = nodes_over(leaves, log);
    if (shares > p.most_shares(blocks))
      continue;
    cut.shares = static_cast<int>(shares);
    rounds = (cut.shares - 1) / blocks + 1;
    i64 const cost = i64(rounds) * ((1 << cut.log_warp) + 1) << cut.log_turns;
    if (least == 0 || cost <= least)
      least = cost, best = cut;
  }
  return best;
}

/// How many of them are a block's.
constexpr int shares_of(int shares, int blocks, int block) { return block < shares ? (shares - block - 1) / blocks + 1 : 0; }

/// The groups of 32 shares that meet first, and the blocks that fold them: of those that have a share of a group the last, which waits for
/// none behind it, so that no block waits for one that has yet to begin.
struct meeting_of_shares {
  int shares, blocks;
  constexpr int groups() const { return (shares - 1) / 32 + 1; }
  constexpr int present(int group) const { return shares - 32 * group < 32 ? shares - 32 * group : 32; }
  /// The share whose block folds a group, when it has all of its own.
  constexpr int folds(int group) const {
    int const begin = 32 * group, end_of_round = begin - begin % blocks + blocks, end_of_group = begin + present(group);
    return (end_of_group < end_of_round ? end_of_group : end_of_round) - 1;
  }
  /// The block that folds what then is left.
  constexpr int last_block() const { return (shares < blocks ? shares : blocks) - 1; }
};

} // namespace tally::v0
