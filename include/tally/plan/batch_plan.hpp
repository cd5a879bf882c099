// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan of a launch that folds a few programs of any types: every decision about its kernel, and how its work is cut. Layer 3; kernels include it.
#pragma once

#include <tally/plan/segments_plan.hpp>

namespace tally::v0 {

/// Programs of one launch, and bytes of them that come with it, at most: the cut and they have 4 KB.
inline constexpr int max_batch_programs = 16, max_batch_bytes = 2048;
inline constexpr int threads_of_batch = 128;

/// A plan for each program.
struct batch_of_types_plan {
  int count;
  segments_plan of[max_batch_programs];
  friend constexpr bool operator==(batch_of_types_plan const&, batch_of_types_plan const&) = default;
};

/// The work of one program: its blocks, which come behind those of the programs in front; no blocks where it takes no part.
struct batch_share {
  u32 blocks;
  i64 parts;
  meeting_levels levels;
  i64 first_word, first_place; ///< where its parts meet: in words, and in places
  i64 answer;                  ///< where its states go, in bytes
};
struct batch_of_types_cut {
  batch_share of[max_batch_programs];
};

} // namespace tally::v0
