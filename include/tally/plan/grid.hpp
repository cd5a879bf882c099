// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How blocks combine their states, per fold. Layer 3. Ordered partials take any fold; a red needs an instruction whose
// operation is the fold's and whose identity is zero bits, and it needs leave to give up the order. It stands after the
// tile because a single block has nothing to combine.
#pragma once

#include <tally/plan/facts.hpp>
#include <tally/plan/why_not.hpp>

namespace tally::inline v0::planning {

/// Below this many blocks the words of the partials cost less than a red's fence and counter.
inline constexpr i64 blocks_where_red_pays = i64(1) << 62;

constexpr void choose_grid(facts const& f, plan& p, i64 blocks, why_not_list& why) {
  for (int i = 0; i < f.fold_count; ++i) {
    p.folds[i].grid = grid_combine::ordered_partials;
    if (f.promise != contract::fast)
      why.add("red", "atomics are for the fast contract", i);
    else if (!f.folds[i].red_exists)
      why.add("red", "no red instruction computes this fold from zero bits", i);
    else if (blocks < blocks_where_red_pays)
      why.add("red", "{0} partials are folded sooner than a fence and a counter per block", i, blocks);
    else
      p.folds[i].grid = grid_combine::scalar_red;
  }
}

} // namespace tally::inline v0::planning
