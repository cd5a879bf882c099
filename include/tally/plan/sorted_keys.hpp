// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The planner of folds by key that need the elements of a key in their order: how elements are sorted by slot, and how the slots are
// folded as segments of what was sorted. Layer 3.
#pragma once

#include <tally/fold/slots.hpp>
#include <tally/plan/keys.hpp>
#include <tally/plan/segments.hpp>
#include <tally/plan/sorted_keys_plan.hpp>

namespace tally::inline v0 {

struct sorted_keys_planned {
  sorted_keys_plan plan;
  int passes;    ///< of the sort, a digit each
  i64 share;     ///< elements of a block that sorts
  i64 blocks;    ///< that sort
  segments_launch folds;
  i64 sort_bytes; ///< of memory that the sort needs
  why_not_list why_not;
};

namespace planning {

/// Elements, and so the ends of slots, whose numbers fit 32 bits.
inline constexpr i64 most_narrow_elements = (i64(1) << 32) - 1;

/// Slots are read where they lie, and a longer one than neighbouring lanes fold by a warp with all the rows in flight that it may have.
constexpr segments_plan choose_slot_folds(facts const& f) {
  segments_plan p = make_segments_plan(f);
  p.warps_per_block = 8;
  p.tile_elements = int(least_of(p.tile_elements, 32 * p.elements_per_lane));
  return p;
}

} // namespace planning

/// Plans one read of at least one element and one slot.
constexpr sorted_keys_planned make_sorted_keys_plan(keys_facts const& f) {
  sorted_keys_planned out{};
  i64 const elements = f.at.extent * f.at.groups;
  sorted_keys_plan& p = out.plan;
  p.wide_numbers = elements > planning::most_narrow_elements;
  p.one_reduced_axis = f.at.reduced_axes == 1;
  p.no_kept_axis = f.at.kept_axes == 0;
  p.threads_per_block = values_of_slot_digit;
  p.elements_per_thread = p.wide_numbers ? 8 : 16; // as many as leave a tile in 48 KiB of shared memory
  p.folds = planning::choose_slot_folds(f.of);
  i64 const of_tile = i64(p.threads_per_block) * p.elements_per_thread, tiles = (elements - 1) / of_tile + 1;
  i64 const most_blocks = i64(f.of.target.multiprocessors) * 4;
  out.share = ((tiles - 1) / planning::least_of(tiles, most_blocks) + 1) * of_tile;
  out.blocks = (elements - 1) / out.share + 1;
  out.passes = digits_of_slots(f.slots);
  out.folds = cut_segments(f.of, p.folds, elements, f.slots, 0);
  i64 const number = p.wide_numbers ? 8 : 4;
  out.sort_bytes = 2 * elements * (4 + number) + number * (values_of_slot_digit * (out.blocks + 1) + f.slots + 1);
  out.why_not.add("tables of slots", "a fold needs the elements of a key in their order");
  return out;
}

} // namespace tally::inline v0
