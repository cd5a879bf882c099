// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The door to the routes of groupings on a GPU: programs and nodes as bytes, a few functions that spell their types, and where
// answers go. Layer 5. Planning, compiling, staging and launching are compiled in dsl/gpu, so a user's file sees none of it.
#pragma once

#include <string>
#include <vector>

#include <tally/plan/axes.hpp>
#include <tally/plan/group_facts.hpp>
#include <tally/run/gpu_door.hpp>

namespace tally::v0::gpu {

/// What is known of the types of one grouping.
struct group_type {
  std::string (*program)();     ///< the spelling of its program
  std::string (*nodes)();       ///< and of the pack of its answer nodes
  std::string (*definitions)(); ///< device text both need
  std::size_t program_bytes, program_alignment, states_bytes, nodes_bytes;
};

/// A unit that knows the types of a grouping as `program` and `nodes`, and makes sure that host and device lay them out alike.
unit unit_of_group(group_type const&, std::string header);
/// That of kernel<plan, program, nodes>, which stands in a header of its name.
unit unit_of_group(group_type const&, std::string const& kernel, std::string const& plan);

/// One read that folds along axes.
struct axes_request {
  group_type const* type;
  kernels_of<axes_plan>* kernels;
  void* program; ///< pointers of staged columns are replaced in place
  void const* nodes;
  column_place columns[max_sources];
  axes_facts f; ///< the target is filled in by the door
  answer_arrays to;
  int ordinal; ///< of the device that runs it
  stream_ref stream;
  bool launches = true; ///< false: everything is made that a launch needs, and nothing is queued
};

/// Queues the read; its columns are staged into `staged`, which must live until the stream has passed. Throws the typed errors of
/// planning, compiling, staging and launching. There is at least one group, and every group has an element.
axes_planned enqueue(axes_request& r, staged_columns& staged);
/// The translation unit for a plan, for explain and for tests.
unit unit_of(group_type const& t, axes_plan const& p, int sources);

} // namespace tally::v0::gpu
