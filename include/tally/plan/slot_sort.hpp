// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The planner of the sort of elements by slot that is in front of some folds by key. Layer 3.
#pragma once

#include <tally/fold/slots.hpp>
#include <tally/plan/axes_facts.hpp>
#include <tally/plan/slot_sort_plan.hpp>

namespace tally::v0 {

struct slot_sort_planned {
  slot_sort_plan plan;
  i64 elements;
  i64 slots;
  int passes; ///< a digit each
  i64 share;  ///< elements of a block
  i64 blocks;
  constexpr i64 number_bytes() const { return plan.wide_numbers ? 8 : 4; }
  /// Of all elements with their slots, which are there twice: before a pass and after it.
  constexpr i64 moved_bytes() const { return 2 * number_bytes() * elements; }
  constexpr i64 count_bytes() const { return number_bytes() * (i64(1) << plan.bits_of_digit) * (blocks + 1); }
  constexpr i64 begin_bytes() const { return number_bytes() * (slots + 1); }
  /// Of memory that it needs.
  constexpr i64 bytes() const { return 2 * moved_bytes() + count_bytes() + begin_bytes(); }
};

namespace planning {

/// Elements, and so the ends of slots, whose numbers fit 32 bits.
inline constexpr i64 most_narrow_elements = (i64(1) << 32) - 1;

/// As many elements as leave a tile, the counts of its warps and what the places of a digit are shifted by in 46 KiB of shared memory.
constexpr int elements_of_tile(slot_sort_plan const& p) {
  int const values = 1 << p.bits_of_digit, number = p.wide_numbers ? 8 : 4, warps = p.threads_per_block / 32, step = 4 * p.threads_per_block;
  int const fit = (46 * 1024 - values * (2 * warps + number)) / (2 * number * step) * step;
  return int(least_of(fit, 16 * p.threads_per_block));
}

} // namespace planning

/// Plans the sort of all elements of a layout, at least one, by at least one slot.
constexpr slot_sort_planned plan_slot_sort(target const& of, axes_layout const& at, i64 slots) {
  slot_sort_planned out{};
  slot_sort_plan& p = out.plan;
  out.elements = at.extent * at.groups;
  out.slots = slots;
  p.wide_numbers = out.elements > planning::most_narrow_elements;
  p.one_reduced_axis = at.reduced_axes == 1;
  p.no_kept_axis = at.kept_axes == 0;
  slot_digits const digits = digits_of_slots(slots);
  p.bits_of_digit = digits.bits;
  p.threads_per_block = 1 << least_bits_of_digit;
  p.blocks_per_multiprocessor = 4;
  p.elements_per_thread = planning::elements_of_tile(p) / p.threads_per_block;
  i64 const of_tile = i64(p.threads_per_block) * p.elements_per_thread, tiles = (out.elements - 1) / of_tile + 1;
  i64 const most_blocks = i64(of.multiprocessors) * p.blocks_per_multiprocessor;
  out.share = ((tiles - 1) / planning::least_of(tiles, most_blocks) + 1) * of_tile;
  out.blocks = (out.elements - 1) / out.share + 1;
  out.passes = digits.passes;
  return out;
}

} // namespace tally::v0
