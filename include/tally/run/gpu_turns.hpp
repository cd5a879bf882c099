// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The door to walks that take turns on a GPU: folds of the whole, keys beside them, and reads by segment in one launch. Layer 5. Planning,
// compiling, staging and launching are compiled in dsl/gpu/in_turns.cpp.
#pragma once

#include <tally/plan/turns.hpp>
#include <tally/run/gpu_keys_beside.hpp>
#include <tally/run/gpu_segments.hpp>

namespace tally::v0::gpu {

/// The plan of the launch, and those of the keys beside the folds of the whole.
using plan_of_turns = plan_beside<turns_plan>;

/// Walks over one source, whose columns all programs name alike.
struct turns_request {
  full_request* whole; ///< folds of the whole, or a count that keys are beside; null: neither
  keys_of_read keys;
  segments_request* segments[max_segments_in_turns]; ///< one at least; the others are null
  void* all_segments;        ///< a pack of what they are told
  std::size_t segments_bytes; ///< of that
  kernels_of<plan_of_turns>* kernels;
  std::string (*definitions)(); ///< device text that all need
};

/// What the planner makes of them for a device; of columns in host memory the alignment is not known yet.
turns_planned plan_turns(turns_request const&, int ordinal);
/// Queues them; where no whole is folded, or its answers are made by the kernel, no states arrive.
/// Zeros of all segments live in the request of the first.
/// Throws the typed errors of planning, compiling, staging and launching.
queued_run enqueue(turns_request&);
/// The translation unit for a plan, for explain and for tests.
unit unit_of(turns_request const&, turns_planned const&);

} // namespace tally::v0::gpu
