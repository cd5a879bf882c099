// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// By which route a GPU folds by key where elements may come in any order. Layer 3.
#pragma once

#include <tally/plan/partitioned_keys.hpp>
#include <tally/plan/sorted_keys.hpp>
#include <tally/plan/sorted_rows.hpp>

namespace tally::inline v0 {

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

} // namespace tally::inline v0
