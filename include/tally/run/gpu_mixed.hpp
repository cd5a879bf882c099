// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The door to the route "mixed" on a GPU: rows, columns and total of a matrix in one launch. Layer 5; compiled in dsl/gpu/mixed.cpp.
#pragma once

#include <tally/plan/mixed.hpp>
#include <tally/run/gpu_groups.hpp>

namespace tally::inline v0::gpu {

/// One read of a matrix; `rows` and `total` may have no folds.
struct mixed_request {
  group_type const *columns_type, *rows_type, *total_type;
  std::string (*definitions)(); ///< device text that all three need
  kernels_of<mixed_plan>* kernels;
  void *columns, *rows, *total; ///< programs; pointers of staged columns are replaced in the first, which is the one that reads
  void const *column_nodes, *row_nodes;
  column_place places[max_sources];
  mixed_facts f;
  answer_arrays to_columns, to_rows;
  void* to_total; ///< memory that the device can write
  int ordinal;
  stream_ref stream;
};

/// Stages columns and plans; nothing is queued but the staging. Throws the typed errors of staging.
mixed_planned plan_mixed(mixed_request& r, staged_columns& staged);
/// Queues the read by a plan that joins. Throws the typed errors of compiling and launching.
void enqueue(mixed_request& r, mixed_planned const& chosen);
/// The translation unit for a plan, for explain and for tests.
unit unit_of(mixed_request const& r, mixed_plan const& p);

} // namespace tally::inline v0::gpu
