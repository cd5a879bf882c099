// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The doors to the routes of batches on a GPU. Layer 5. Planning, compiling, staging and launching are compiled in dsl/gpu/batch.cpp.
#pragma once

#include <tally/plan/batch.hpp>
#include <tally/run/gpu_groups.hpp>

namespace tally::v0::gpu {

/// Full reductions of one type, in one launch.
struct batch_request {
  program_type const* type;
  kernels_of<segments_plan>* kernels;
  void const* programs; ///< one after the other in host memory; their columns are in memory that the device reads
  i64 const* extents;
  i64 items; ///< one at least, not all without elements
  facts f;
  int ordinal; ///< of the device that runs it
  stream_ref stream;
};
/// Computes them and waits: the states of all programs lie in the slot, one after the other, except those without elements, which are
/// not written. Throws the typed errors of compiling and launching.
result_slot compute(batch_request const& r);
/// The translation unit for a plan, for tests.
unit unit_of_batch(program_type const& t, segments_plan const& p);

/// A few full reductions of any types, in one launch.
struct batch_of_types_request {
  program_type const* types[max_batch_programs];
  batch_program programs[max_batch_programs];
  int count;
  kernels_of<batch_of_types_plan>* kernels;
  std::string (*definitions)(); ///< device text that all need
  void const* argument;         ///< a pack of the programs, whose columns are in memory that the device reads
  std::size_t argument_bytes;
  int ordinal; ///< of the device that runs it
  stream_ref stream;
};
/// Queues them; the states of those that take part lie in what comes back where `cut` says. Throws the typed errors of compiling and launching.
readback enqueue(batch_of_types_request const& r, batch_of_types_cut& cut);
/// The translation unit for a plan, for tests.
unit unit_of(batch_of_types_request const& r, batch_of_types_plan const& p);

} // namespace tally::v0::gpu
