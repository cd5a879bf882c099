// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A full reduction cut into parts, of which a warp folds one. Layer 4.
#pragma once

#include <tally/fold/segments.hpp>
#include <tally/kernel/part_meeting.cuh>
#include <tally/kernel/warp_leaf.cuh>
#include <tally/plan/segments_plan.hpp>

namespace tally::v0::kernel {

/// Folds part k of the `parts` of a program by a warp. True in the one warp whose lane 0 then has the states of all in s; place(level, k) is where
/// node k of a level of them meets others.
template <segments_plan P, class Program, class Place>
__device__ __forceinline__ bool fold_part(Program const& p, meeting_room<Program> const& room, i64 parts, i64 k, int lane, typename Program::states& s, Place const& place) {
  i64 const leaves = (p.extent - 1) / shape_of<Program>.elements() + 1, left = leaves - k * P.leaves_per_part;
  s = fold_leaves_by_warp<P.rows_in_flight, P.leaves_per_part>(p, segment_rows<Program>{p, 0}, p.extent, k * P.leaves_per_part,
                                                               left < P.leaves_per_part ? int(left) : P.leaves_per_part, lane);
  return meet_parts(p, room, parts, k, lane, s, place);
}

} // namespace tally::v0::kernel
