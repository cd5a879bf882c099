// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The door to the routes of folds by key in tables on a GPU. Layer 5. Planning, compiling and the launches are compiled in dsl/gpu/keys.cpp.
#pragma once

#include <tally/fold/hot_keys.hpp>
#include <tally/fold/keyed_cells.hpp>
#include <tally/plan/keys.hpp>
#include <tally/plan/slot_sort_plan.hpp>
#include <tally/run/gpu_groups.hpp>

namespace tally::v0::gpu {

/// What is known of the types of one keyed grouping.
struct keyed_type {
  group_type of;
  std::string (*where)(); ///< the spelling of its key, mask and bins
  std::size_t where_bytes;
  int fold_count;
  int cell_bytes[max_keyed_folds];
  bool locks;
  bool tells; ///< of strays or overflow
  int words_per_place; ///< 32-bit words of all states, each state in words of its own
};

/// One keyed read.
struct keys_request {
  keyed_type const* type;
  void* program; ///< pointers of staged columns are replaced in place
  void const* where;
  void const* nodes;
  column_place columns[max_sources];
  keys_facts f; ///< the target is filled in by the door
  answer_arrays to;
  int ordinal;
  stream_ref stream;
  bool enqueued = false; ///< nobody waits: tables are the stream's, and nothing is told of strays
  bool launches = true;  ///< false: everything is made that the launches need, and nothing is queued
};

/// What must live until the stream has passed.
struct keys_in_flight {
  staged_columns staged;
  device_memory memory;
  u64* stray; ///< in there
  readback told; ///< of it
};

/// The kernels of a route that sorts: what sorts and what folds.
template <class FoldsPlan>
struct sorted_kernels {
  kernels_of<slot_sort_plan> sort;
  kernels_of<FoldsPlan> folds;
};

/// Queues the read, whose columns are staged. Throws the typed errors of planning, compiling and launching. There is at least one slot and element.
void enqueue_staged(keys_request& r, kernels_of<keys_plan>& kernels, keys_in_flight& flight);
/// Queues the way home of what stray_of tells.
void send_stray(keys_request const& r, keys_in_flight& flight);
/// Waits for that; the first position whose key names no bin and that key, or -1. Throws overflow.
struct stray_key {
  i64 position;
  u64 key;
};
stray_key stray_of(keys_in_flight& flight);
/// The translation unit of a kernel without its name: one of a header under tally/kernel.
unit unit_without_name(keyed_type const& t, char const* header);
/// The translation unit for a plan, for explain and for tests.
unit unit_of(keyed_type const& t, keys_plan const& p);
/// That of the sort which other routes have in front of their folds.
unit unit_of_sort(keyed_type const& t, slot_sort_plan const& p);

} // namespace tally::v0::gpu
