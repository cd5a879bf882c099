// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The door to the route that finds the keys of a read on a GPU. Layer 5. Planning, compiling, staging and launching are compiled in
// dsl/gpu/find_keys.cpp.
#pragma once

#include <tally/fold/key_table.hpp>
#include <tally/plan/find_keys.hpp>
#include <tally/run/gpu_groups.hpp>

namespace tally::v0::gpu {

/// What is known of the types of one search.
struct find_keys_type {
  std::string (*program)(); ///< the spelling of its columns, as a program without folds
  std::string (*where)();   ///< of its key and mask
  std::string (*definitions)();
  std::size_t program_bytes, where_bytes;
  int word_bytes; ///< of what a key is kept as
};

/// One search.
struct find_keys_request {
  find_keys_type const* type;
  kernels_of<find_keys_plan>* kernels;
  void* program; ///< pointers of staged columns are replaced in place
  void const* where;
  column_place columns[max_sources];
  find_keys_facts f; ///< the target is filled in by the door
  int ordinal;
  stream_ref stream;
};

/// The keys that were met, in device memory.
struct found_keys {
  kernel const* found_by;
  find_keys_planned chosen;
  device_memory table, counts, list;
  key_search at;
};

/// Finds the keys and waits. Throws the typed errors of planning, compiling, staging and launching; too_large beyond 2^31 keys. There
/// is at least one element.
found_keys find_keys(find_keys_request& r, staged_columns& staged);
/// Queues that the keys are sorted, and that each gets its place among them as its number.
void number_keys(find_keys_request const& r, found_keys& found);
/// Copies the sorted keys to the host, as words, and waits.
void fetch_keys(find_keys_request const& r, found_keys const& found, void* words);
/// The translation unit for a plan, for explain and for tests.
unit unit_of(find_keys_type const& t, find_keys_plan const& p);

} // namespace tally::v0::gpu
