// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The door to the route "rows with lets" on a GPU. Layer 5. Planning, compiling, staging and launching are compiled in dsl/gpu.
#pragma once

#include <tally/plan/rows_plan.hpp>
#include <tally/run/gpu_groups.hpp>

namespace tally::v0::gpu {

/// What is known of the types of rows and their lets, as spelled to the compiler.
struct rows_type {
  std::string (*base)(); ///< the program of columns
  std::string (*steps)();
  std::string (*nodes)();
  std::string (*lets)(); ///< the types of their answers
  std::string (*kept)(); ///< what the last step and the values both compute, or nothing
  std::string (*values)();
  std::string (*definitions)();
  std::size_t base_bytes, steps_bytes, nodes_bytes, kept_bytes, values_bytes;
};
/// One read of rows.
struct rows_request {
  rows_type const* type;
  kernels_of<elements_plan>* kernels;
  void* base; ///< pointers of staged columns are replaced in place
  void const* steps;
  void const* nodes;
  void const* kept;
  void const* values;
  column_place columns[max_sources];
  axes_facts f; ///< the innermost axis is reduced; the target is filled in by the door
  answer_arrays to;
  written_facts written[max_answers];
  int count;
  int ordinal;
  stream_ref stream;
};
/// Queues the read and true, or false where a row does not fit on the chip; there is at least one row of at least one element.
bool enqueue(rows_request& r, staged_columns& staged);
/// The translation unit for a plan, for tests.
unit unit_of(rows_type const& t, elements_plan const& p, int sources, int count);

} // namespace tally::v0::gpu
