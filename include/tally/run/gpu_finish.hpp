// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The door to answers of groups that nothing is folded of, made on a GPU. Layer 5. Compiled in dsl/gpu/finish.cpp.
#pragma once

#include <tally/run/gpu_groups.hpp>

namespace tally::v0::gpu {

/// Answers of groups that have the states of the identity.
struct finish_request {
  group_type const* type;
  kernel_cell* cell;
  void const* program;
  void const* nodes;
  i64 groups;
  answer_arrays to;
  int ordinal;
  stream_ref stream;
  bool launches; ///< false: its kernel is made and nothing is queued
};
/// Queues it. Throws the typed errors of compiling and launching.
void enqueue(finish_request const& r);
/// The translation unit, for tests.
unit unit_of_finish(group_type const& t);

} // namespace tally::v0::gpu
