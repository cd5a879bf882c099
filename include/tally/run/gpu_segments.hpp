// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The door to the route of segments on a GPU. Layer 5. Planning, compiling, staging and launching are compiled in
// dsl/gpu/segments.cpp.
#pragma once

#include <tally/plan/segments.hpp>
#include <tally/plan/segments_read.hpp>
#include <tally/run/gpu_groups.hpp>

namespace tally::v0::gpu {

/// One read that folds by segment.
struct segments_request {
  group_type const* type;
  kernels_of<segments_plan>* kernels;
  char const* offset_type; ///< as device text
  int words_per_place;     ///< 32-bit words of all states, each state in words of its own
  void* argument;          ///< what plan/segments_read.hpp calls segments_read; pointers of staged columns are replaced in place
  std::size_t argument_bytes;
  segments_memory* memory; ///< in there: the caller says where answers go, the door fills in the rest
  column_place columns[max_sources];
  facts f;       ///< the target is filled in by the door; the extent is that of the program
  i64 segments;  ///< one at least; at most so many where they are counted
  bool counted;  ///< the device knows how many there are
  i64 base;      ///< what is taken off every offset
  int ordinal;   ///< of the device that runs it
  stream_ref stream;
  segments_plan const* given = nullptr; ///< a plan to use instead of the planner's; null: none
  bool told = true;     ///< faults_of is asked; false: nobody asks, and what is wrong leaves no trace
  bool launches = true; ///< false: everything is made that a launch needs, and nothing is queued
  device_memory zeros{}; ///< of a request that is told, once it is queued
};

/// Queues the read; its columns are staged into `staged`, which must live until the stream has passed. Throws the typed errors of
/// planning, compiling, staging and launching.
void enqueue(segments_request& r, staged_columns& staged);
/// What a kernel found wrong.
struct segments_faults {
  i64 wrong_offset = -1; ///< the number of the first one, or -1
  bool overflow = false; ///< of a checked fold
};
/// Waits for a request that was queued and is told.
segments_faults faults_of(segments_request const& r);
/// The translation unit for a plan, for explain and for tests.
unit unit_of(group_type const& t, char const* offset_type, segments_plan const& p);


} // namespace tally::v0::gpu
