// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a launch starts while the one in front of it drains. Layer 3. From sm_90 on a kernel can be started early and
// wait by itself; that hides the start of its blocks and no more, because nothing is read before the wait. It stands last
// because nothing else depends on it.
//
// H200, CUDA 13.0, 2026-11-20, f32 sums back to back (tests/bench/tune): 2^16 3.2 -> 2.6 us, 2^20 4.3 -> 3.1, 2^24 18.0 -> 16.9.
#pragma once

#include <tally/plan/facts.hpp>
#include <tally/plan/why_not.hpp>

namespace tally::inline v0::planning {

constexpr void choose_launch(facts const& f, plan& p, why_not_list& why) {
  p.overlaps_launch = f.target.compute_major >= 9;
  if (!p.overlaps_launch)
    why.add("overlapped launch", "sm_{0}{1} has no programmatic dependent launch", -1, f.target.compute_major,
            f.target.compute_minor);
}

} // namespace tally::inline v0::planning
