// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The planner of folds by key that need the elements of a key in their order: how elements are sorted by slot, and how the slots are
// folded as segments of what was sorted. Layer 3.
#pragma once

#include <tally/plan/keys.hpp>
#include <tally/plan/segments.hpp>
#include <tally/plan/slot_sort.hpp>
#include <tally/plan/sorted_keys_plan.hpp>

namespace tally::v0 {

struct sorted_keys_planned {
  sorted_keys_plan plan;
  slot_sort_planned sort;
  segments_launch folds;
  why_not_list why_not;
};

namespace planning {

/// Slots are read where they lie, and a longer one than neighbouring lanes fold by a warp with all the rows in flight that it may have.
constexpr segments_plan choose_slot_folds(facts const& f) {
  segments_plan p = make_segments_plan(f);
  p.in_windows = false;
  p.warps_per_block = 8;
  p.tile_elements = int(least_of(p.tile_elements, 32 * p.elements_per_lane));
  return p;
}

} // namespace planning

/// Plans one read of at least one element and one slot.
constexpr sorted_keys_planned make_sorted_keys_plan(keys_facts const& f) {
  sorted_keys_planned out{};
  out.sort = plan_slot_sort(f.of.target, f.at, f.slots);
  out.plan = {out.sort.plan, planning::choose_slot_folds(f.of)};
  out.folds = cut_segments(f.of, out.plan.folds, out.sort.elements, f.slots, 0);
  out.why_not.add("tables of slots", "a fold needs the elements of a key in their order, or has a state that no atomic combines");
  return out;
}

} // namespace tally::v0
