// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// First decision: in which order states are combined. Layer 3. It stands first because every later choice (which block
// algorithm, how many leaves a warp may run together) is legal or not by it; moved later, CUB's undocumented order could
// slip into a reproducible plan.
#pragma once

#include <tally/plan/facts.hpp>
#include <tally/plan/why_not.hpp>

namespace tally::v0::planning {

/// Bytes of state from which giving up the order may pay: the tree combines after every leaf, a free order at the end. Below,
/// the tree has won whatever was measured. H200, CUDA 13.0, 2026-11-20 (tests/bench), f32 of 2^28, us along the tree and free
/// of it: sum 236.7, 238.0; variance (16 bytes) 273.8, 459.1; sum, min, max, mean and variance (28) 250.6, 265.9; seven folds (48)
/// 326.7, 386.4.
inline constexpr int state_bytes_for_any_order = 64;
/// And up to which it pays where launches read ahead of each other: there a warp has many leaves, and without an order those of a block can
/// stand side by side (docs/decisions/warps_stand_far_apart.md). H200, 2026-11-25 03:00 (tests/bench/run.py --quick), 2^28, us along the tree and
/// free of it: sum of f32 234.8, 233.7, begun off its alignment 245.6, 236.1; of f64 474.4, 466.8; dot product of f32 474.4, 468.1; sum of
/// exponentials 245.0, 236.3.
inline constexpr int state_bytes_for_side_by_side = 8;
/// The same for the grouping of a fold that does not commute, which saves putting rows back in order.
inline constexpr int state_bytes_for_any_grouping = 32;

constexpr combine_order choose_order(facts const& f, why_not_list& why) {
  if (f.order_free())
    return combine_order::free;
  if (f.promise == contract::fast && f.commutative() &&
      (f.state_bytes() >= state_bytes_for_any_order || (f.queued && f.state_bytes() <= state_bytes_for_side_by_side)))
    return combine_order::free;
  if (f.promise != contract::fast) {
    why.add("any order", "the contract is reproducible and a fold rounds: its bits depend on the tree");
    return combine_order::canonical_tree;
  }
  if (f.commutative()) {
    why.add("any order", "{0} bytes of state go along the tree as fast; from {1} on they do not", -1, f.state_bytes(),
            state_bytes_for_any_order);
    return combine_order::canonical_tree;
  }
  why.add("any order", "a fold does not commute, so the order of elements is part of its answer");
  if (f.state_bytes() >= state_bytes_for_any_grouping && f.fills_the_chip())
    return combine_order::ordered;
  why.add("any grouping", "{0} bytes of state in {1} leaves go along the tree as fast", -1, f.state_bytes(), f.leaves());
  return combine_order::canonical_tree;
}

} // namespace tally::v0::planning
