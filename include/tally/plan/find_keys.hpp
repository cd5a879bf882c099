// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The planner of reads that find keys: how they are walked, and how large the table of the keys is. Layer 3.
#pragma once

#include <tally/plan/keys.hpp>

namespace tally::v0 {

/// Everything about one read that finds keys; `of` has the sources and the target, `at` where elements are.
struct find_keys_facts {
  facts of;
  axes_layout at;
  int key_bytes; ///< of the type of the key
};

struct find_keys_planned {
  find_keys_plan plan;
  i64 blocks;
  i64 slots; ///< of the first table
};

namespace planning {

/// Slots of the first table: half of them hold as many keys as most reads have, and are quick to clear. H200: 1 MiB of 50 in L2.
inline constexpr i64 first_key_slots = i64(1) << 17;
/// A table that was too small gets as many times the slots: the read before it ended as soon as it knew.
inline constexpr i64 more_key_slots = 8;
inline constexpr i64 most_key_slots = i64(1) << 32;
/// Of a block, for keys that it has met.
inline constexpr int bytes_for_keys_of_block = 16 * 1024;

/// Slots that are never too few for the keys of a read.
constexpr i64 enough_key_slots(find_keys_facts const& f) {
  i64 const elements = f.at.extent * f.at.groups;
  i64 const keys = f.key_bytes < 4 ? least_of(elements, i64(1) << 8 * f.key_bytes) : elements;
  i64 slots = 2;
  while (slots < most_key_slots && slots / 2 < keys)
    slots *= 2;
  return slots;
}
/// Slots for a read whose table had some and was too small; 0: no table is larger.
constexpr i64 next_key_slots(find_keys_facts const& f, i64 slots) {
  i64 const most = enough_key_slots(f);
  return slots >= most ? 0 : least_of(slots * more_key_slots, most);
}

} // namespace planning

/// Plans one read of at least one element.
constexpr find_keys_planned make_find_keys_plan(find_keys_facts const& f) {
  find_keys_planned out{};
  find_keys_plan& p = out.plan;
  planning::choose_walk(f, p, true);
  p.loads_in_flight = p.in_order ? 2 : 1;
  p.threads_per_block = 512;
  p.keys_of_block = planning::bytes_for_keys_of_block / (f.key_bytes == 8 ? 8 : 4);
  i64 const of_block = i64(p.threads_per_block) * p.elements_per_load;
  out.blocks = planning::least_of(i64(f.of.target.multiprocessors) * 4, (f.at.extent * f.at.groups - 1) / of_block + 1);
  out.slots = planning::least_of(planning::first_key_slots, planning::enough_key_slots(f));
  return out;
}

} // namespace tally::v0
