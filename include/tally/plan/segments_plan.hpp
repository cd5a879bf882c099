// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan of a read by segment, and of a batch: every decision about their kernels as one structural value. Layer 3; kernels
// include it.
#pragma once

#include <tally/plan/plan.hpp>

namespace tally::v0 {

/// All decisions about the kernel of segments.
struct segments_plan {
  int warps_per_block;
  int blocks_per_multiprocessor;
  int tile_elements;     ///< that a warp stages in shared memory at once, whole segments of them
  int elements_per_lane; ///< of a segment that is folded by neighbouring lanes of a warp
  int rows_in_flight;    ///< of a leaf that is read by a whole warp
  int leaves_per_part;   ///< of a long segment, folded by one warp; a power of two
  bool counted;          ///< how many segments there are, the kernel reads
  int segments_per_lane; ///< segments of at most elements_per_lane elements that a lane reads where they lie, all at once; 0: few are so short
  bool in_windows;       ///< exact sums of what a warp folds alone are folded as those of a full reduction
  constexpr int threads_per_block() const { return 32 * warps_per_block; }
  friend constexpr bool operator==(segments_plan const&, segments_plan const&) = default;
};

/// Nodes of one level that become one node of the next where parts of a long segment meet.
inline constexpr int parts_that_meet = 64;
/// What an offset costs, in elements: it is read, and an answer is written.
inline constexpr int cost_of_offset = 4;
inline constexpr int max_meeting_levels = 8;

/// Where the places of each level of meetings begin.
struct meeting_levels {
  i64 begin[max_meeting_levels];
};

/// How the work of one launch is cut.
struct segments_cut {
  i64 extent; ///< elements of the source
  i64 base;   ///< what is taken off every offset
  i64 share;  ///< elements and offsets of one warp
  meeting_levels levels;
};

} // namespace tally::v0
