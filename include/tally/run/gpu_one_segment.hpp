// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The door to the route of one segment whose ends the device knows. Layer 5. Planning, compiling and launching are compiled in
// dsl/gpu/one_segment.cpp.
#pragma once

#include <tally/plan/one_segment.hpp>
#include <tally/run/gpu_groups.hpp>

namespace tally::v0::gpu {

/// A fold of what lies between two offsets.
struct one_segment_request {
  group_type const* type;
  kernels_of<one_segment_plan>* kernels;
  char const* offset_type; ///< as device text
  std::size_t offset_bytes;
  int words_per_partial; ///< 32-bit words of all states, each state in words of its own
  void* program;
  void const* nodes;
  column_place columns[max_sources]; ///< in memory that the device reads
  facts f;             ///< the target is filled in by the door; the extent is that of the source
  void const* offsets; ///< two, in memory that the device reads
  answer_arrays to;
  int answers;              ///< arrays of `to`
  std::size_t answer_bytes; ///< of one, at most
  int ordinal;              ///< of the device that runs it
  stream_ref stream;
  bool launches; ///< false: everything is made that a launch needs, and nothing is queued
};

/// Queues it. Offsets are taken into the source, and the second to no less than the first. Throws the typed errors of compiling and
/// launching.
void enqueue(one_segment_request& r);
/// The translation unit for a plan, for tests.
unit unit_of(group_type const& t, char const* offset_type, one_segment_plan const& p);

} // namespace tally::v0::gpu
