// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The door to the route "mixed" on a GPU: rows, columns and total of a matrix in one launch. Layer 5; compiled in dsl/gpu/mixed.cpp.
#pragma once

#include <tally/plan/mixed.hpp>
#include <tally/run/gpu_keys_beside.hpp>

namespace tally::v0::gpu {

/// Answers to memory of the device: `count` arrays, of answers of `bytes` at most.
struct mixed_answers {
  answer_arrays to;
  int count;
  std::size_t bytes;
};

/// One read of a matrix; `rows` and `total` may have no folds.
struct mixed_request {
  group_type const *columns_type, *rows_type, *total_type;
  std::string (*definitions)(); ///< device text that all three need
  kernels_of<plan_beside<mixed_plan>>* kernels;
  void *columns, *rows, *total; ///< programs; pointers of staged columns are replaced in the first, which is the one that reads
  void const *column_nodes, *row_nodes;
  column_place places[max_sources];
  mixed_facts f;
  mixed_answers to_columns, to_rows;
  void* to_total;                              ///< memory that the device can write, for the states of the whole
  answers_in_kernel const* finished = nullptr; ///< answers of the whole instead, of nodes that total_type knows; null: states
  int ordinal;
  stream_ref stream;
  keys_of_read* keys = nullptr; ///< folds by key that the read does too; null: none
  bool launches = true; ///< false: everything is made that a launch needs, and nothing is queued
};

/// Stages columns and plans; nothing is queued but the staging. Throws the typed errors of staging.
mixed_planned plan_mixed(mixed_request& r, staged_columns& staged);
/// Queues the read by a plan that joins. Throws the typed errors of compiling and launching.
void enqueue(mixed_request& r, mixed_planned const& chosen);
/// The translation unit for a plan, for explain and for tests.
unit unit_of(mixed_request const& r, mixed_plan const& p);

} // namespace tally::v0::gpu
