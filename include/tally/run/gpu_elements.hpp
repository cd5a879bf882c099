// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The door to the route that writes elements on a GPU. Layer 5. Planning, compiling, staging and launching are compiled in dsl/gpu.
#pragma once

#include <tally/plan/elements_plan.hpp>
#include <tally/run/gpu_groups.hpp>

namespace tally::v0::gpu {

/// One writing of elements; the nodes of its type are the expressions.
struct elements_request {
  group_type const* type;
  kernels_of<elements_plan>* kernels;
  void* program; ///< pointers of staged columns are replaced in place
  void const* values;
  column_place columns[max_sources];
  axes_facts f; ///< every axis is kept; the target is filled in by the door
  answer_arrays to;
  written_facts written[max_answers];
  int count;
  int ordinal; ///< of the device that runs it
  stream_ref stream;
};

/// Queues the writing; its columns are staged into `staged`, which must live until the stream has passed. There is at least one
/// element. Throws the typed errors of compiling, staging and launching.
elements_planned enqueue(elements_request& r, staged_columns& staged);
/// The translation unit for a plan, for tests.
unit unit_of(group_type const& t, elements_plan const& p, int sources, int count);

} // namespace tally::v0::gpu
