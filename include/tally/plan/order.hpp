// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// First decision: in which order states are combined. Layer 3. It stands first because every later choice (which block
// algorithm, how many leaves a warp may run together) is legal or not by it; moved later, CUB's undocumented order could
// slip into a reproducible plan.
#pragma once

#include <tally/plan/facts.hpp>
#include <tally/plan/why_not.hpp>

namespace tally::inline v0::planning {

constexpr combine_order choose_order(facts const& f, why_not_list& why) {
  if (f.order_free())
    return combine_order::free;
  if (f.promise == contract::fast && f.commutative())
    return combine_order::free;
  if (f.promise == contract::fast)
    why.add("any order", "a fold does not commute, so the order of elements is part of its answer");
  else
    why.add("any order", "the contract is reproducible and a fold rounds: its bits depend on the tree");
  return combine_order::canonical_tree;
}

} // namespace tally::inline v0::planning
