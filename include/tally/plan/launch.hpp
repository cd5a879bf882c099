// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a launch starts while the one in front of it drains, and whether it reads then. Layer 3. From sm_90 on a kernel can be
// started early and wait by itself. That alone hides the start of its blocks; where reductions are queued behind each other, a
// kernel folds before it waits (kernel/launch_order.cuh). It stands after the order and in front of all else, because a block that
// reads ahead leaves room for those of the next launch.
//
// H200, CUDA 13.0 (tests/bench/tune), f32 sums back to back, us. Started early, 2026-11-20: 2^16 3.2 -> 2.6, 2^20 4.3 -> 3.1,
// 2^24 18.0 -> 16.9. Read ahead as well, 2026-11-22: 2^20 3.8 -> 2.8, 2^22 7.4 -> 4.0, 2^24 19.1 -> 14.8, 2^28 237.5 -> 235.5.
#pragma once

#include <tally/plan/facts.hpp>
#include <tally/plan/why_not.hpp>

namespace tally::v0::planning {

/// An exact sum is bound by arithmetic where there is more to it than a column of f32, and by its windows where it reads for long: then
/// few warps, which is what leaves room for the next launch, do not keep up. Same day, in `run.py`, 2^24 15.1 us and 20.2 without, 2^28
/// 249 and 238; a norm of 2^28 452 and 324.
constexpr bool exact_reads_ahead(facts const& f) {
  return f.sources_named() == 1 && f.fold_count == 1 && f.state_bytes() <= 64 && f.leaves() < i64(1) << 16;
}

constexpr void choose_launch(facts const& f, plan& p, why_not_list& why) {
  p.takes_turns = f.threads_in_turns > 0;
  p.overlaps_launch = f.target.compute_major >= 9 && !p.takes_turns;
  p.reads_ahead = p.overlaps_launch && f.queued && (!f.any_exact() || exact_reads_ahead(f));
  if (p.takes_turns)
    why.add("overlapped launch", "other walks take turns with it in one launch");
  else if (!p.overlaps_launch)
    why.add("overlapped launch", "sm_{0}{1} has no programmatic dependent launch", -1, f.target.compute_major,
            f.target.compute_minor);
}

} // namespace tally::v0::planning
