// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The planner of folds by key beside other folds: whether the read of those adds their elements to tables of its blocks, or they are read
// apart. Layer 3.
#pragma once

#include <tally/plan/keys.hpp>

namespace tally::v0 {

/// Folds by key beside the other folds of one read, at most.
inline constexpr int max_keys_beside = 4;
/// Shared memory of a block for all their tables: three blocks of a multiprocessor still have room.
inline constexpr i64 most_bytes_beside = 64 * 1024;

/// `plan` is that of the table, and of what is done to all slots before and after the read.
struct keys_beside_planned {
  bool joins;
  keys_plan plan;
  i64 shared_bytes; ///< of the table
  why_not_list why_not;
};

/// A plan, and those of the folds by key that its read does too.
template <class Plan>
struct plan_beside {
  Plan of;
  keys_plan keys[max_keys_beside];
  friend constexpr bool operator==(plan_beside const&, plan_beside const&) = default;
};

namespace planning {
/// Where tables begin behind what a block has in shared memory already.
constexpr i64 begin_of_tables(i64 bytes) { return (bytes + 127) / 128 * 128; }
/// Whether keyed groupings are one read with each other and with folds of the whole, where there are any.
constexpr bool keys_join_the_whole(int keys, bool any_whole) { return keys > 0 && keys + int(any_whole) > 1; }
} // namespace planning

/// Plans one keyed read of at least one element and one slot beside another, whose blocks have `room` bytes left for it. Beside exact sums, whose windows leave a
/// multiprocessor 16 warps, what is added by key waits for its atomics: exact sums of 2^28 f32 and by 100 keys 3020 us together, 361 and 1507 apart; with a
/// histogram instead 558, 354 and 376 (H100, 2026-11-26 03:12, a program that runs these).
constexpr keys_beside_planned make_keys_beside_plan(keys_facts const& f, i64 room, bool beside_exact = false) {
  keys_beside_planned out{};
  auto const no = [&](char const* sentence, i64 a = 0, i64 b = 0) {
    out.why_not.add("the same read", sentence, -1, a, b);
    return out;
  };
  if (!f.in_tables())
    return no("a fold by key has a state that no atomic combines");
  if (f.at.groups != 1)
    return no("a key has {0} answers of each fold, one for every index of an axis that stays", f.at.groups);
  if (beside_exact && !f.only_counts)
    return no("beside exact sums of the whole, whose warps are few, only counts are as quick as apart");
  keys_plan& p = out.plan;
  p.route = keys_route::in_shared_memory;
  p.threads_per_block = 256;
  p.blocks_per_multiprocessor = p.elements_per_load = p.loads_in_flight = p.ranges = p.copies = p.replicas = p.cluster_blocks = 1;
  p.numbers_in_32 = (f.counts || f.places) && fits_numbers_in_32(f.at.extent);
  while (!f.only_counts && p.replicas < 8 && 2 * p.replicas * f.slots * f.own_cell_bytes <= planning::bytes_for_replicas && 4 * p.replicas * f.slots * f.own_cell_bytes <= room)
    p.replicas *= 2;
  p.gives_in_bulk = planning::gives_in_bulk(f, p, f.slots);
  out.shared_bytes = planning::begin_of_tables(p.replicas * (p.gives_in_bulk ? slots_given_in_bulk(f.slots) : f.slots) * f.own_cell_bytes);
  if (out.shared_bytes > room)
    return no("a table of {0} bytes is more than the {1} that its blocks have left", out.shared_bytes, room);
  out.joins = true;
  return out;
}

} // namespace tally::v0
