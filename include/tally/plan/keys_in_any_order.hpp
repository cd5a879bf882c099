// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// By which route a GPU folds by key where elements may come in any order. Layer 3.
#pragma once

#include <tally/plan/partitioned_keys.hpp>
#include <tally/plan/sorted_keys.hpp>
#include <tally/plan/sorted_rows.hpp>

namespace tally::v0 {

enum class any_order_route { tables, sorted_rows, sorted_elements, partitions };

struct any_order_choice {
  any_order_route route;
  i64 partitions;
  why_not_list no_partitions;
};

/// A state that no atomic combines would be kept behind a lock in a table, and elements of one slot would wait for each other: argmax of 2^24 f32 by 100 keys
/// took more than 30 s (H100, 2026-11-27), sorted by slot some ms.
constexpr any_order_choice choose_any_order(keys_facts const& f) {
  any_order_choice out{any_order_route::tables, 0, {}};
  if (planning::sorts_rows(f))
    out.route = any_order_route::sorted_rows;
  else if (!f.in_tables())
    out.route = any_order_route::sorted_elements;
  else if ((out.partitions = planning::choose_partitions(f, out.no_partitions)) > 0)
    out.route = any_order_route::partitions;
  return out;
}

/// Whether folds that may be taken as they are, floats as they come, are better taken as exact wants them: where they need a sort, and where elements are
/// partitioned either way, for floats of a hot key wait for each other in the table of its partition, and limbs do not; or where one of them is a `red` in L2 each. Cells of exact folds are in shared
/// memory then, and have the bytes of those of floats where they stand in for additions. The figures: docs/decisions/fast_folds_are_exact_where_that_is_quicker.md.
inline constexpr int most_bytes_instead_of_floats = 512;
inline constexpr i64 elements_of_exact_slot = 8; ///< so that tables are emptied, given and read for less than a sort takes
inline constexpr i64 elements_of_slot_in_l2 = 32; ///< so that it takes less than a `red` of each
constexpr bool are_better_exact(keys_facts const& as_they_are, keys_facts const& exactly) {
  why_not_list of_tables{};
  any_order_route const direct = choose_any_order(as_they_are).route, other = choose_any_order(exactly).route;
  bool const in_l2 = direct == any_order_route::tables && planning::choose_ranges(as_they_are, of_tables) == 0 && exactly.at.extent >= exactly.slots * elements_of_slot_in_l2;
  if (direct == any_order_route::partitions || in_l2)
    return as_they_are.swaps_floats && other == any_order_route::partitions && exactly.own_cell_bytes <= most_bytes_instead_of_floats;
  bool const in_shared_memory = other == any_order_route::partitions || (other == any_order_route::tables && planning::choose_ranges(exactly, of_tables) > 0);
  return direct == any_order_route::sorted_elements && in_shared_memory && exactly.at.extent >= exactly.slots * elements_of_exact_slot;
}

} // namespace tally::v0
