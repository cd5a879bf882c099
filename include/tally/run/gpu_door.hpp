// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The door to the route "full" on a GPU: a program as bytes and a few functions that spell its type. Layer 5. Planning,
// compiling, staging and launching are compiled in dsl/gpu/full.cpp, so a user's file sees none of it.
#pragma once

#include <string>

#include <tally/plan/planner.hpp>
#include <tally/run/kernels_of.hpp>

namespace tally::v0::gpu {

struct group_type;

/// What is known of a program's type, as constants.
struct program_type {
  std::string (*name)();        ///< the spelling of the type
  std::string (*definitions)(); ///< device text it needs
  std::size_t bytes, alignment, states_bytes;
  int words_per_partial; ///< 32-bit words of all states
};

/// A column that may have to move: where its pointer stands in the program, and what it spans.
struct column_place {
  void const** pointer; ///< null where nothing is read
  i64 low_bytes;        ///< from the pointer to the first byte read; negative strides read below it
  i64 bytes;            ///< bytes spanned
};

/// Pointers of columns, moved to the device where they are in host memory; staged memory lives as long as this.
struct staged_columns {
  device_memory memory[max_sources];
  bool any() const {
    for (auto const& m : memory)
      if (m.data() != nullptr)
        return true;
    return false;
  }
};
/// Stages what is in host memory, replaces the pointers in place, and notes alignments in the facts. Throws wrong_residence,
/// out_of_memory.
void stage_columns(column_place const* columns, int column_count, source_facts* sources, int ordinal, stream_ref, staged_columns&);
/// Answers that the kernel makes of the states and leaves in device memory.
struct answers_in_kernel {
  group_type const* type; ///< of the program and of the nodes
  void const* argument;   ///< what plan/group_facts.hpp calls answers_at
  void* const* places;    ///< where `count` answers go, of `bytes` at most
  int count;
  std::size_t bytes;
};

/// One run of a program.
struct full_request {
  program_type const* type;
  kernels_of<tally::v0::plan>* kernels; ///< of this type, and of what becomes of its states
  void* program; ///< pointers of staged columns are replaced in place
  facts f;       ///< the target is filled in by the door
  column_place columns[max_sources];
  int ordinal; ///< -1: where the data is
  stream_ref stream;
  tally::v0::plan const* given; ///< a plan to use instead of the planner's; null: none
  void* answer = nullptr;   ///< device memory for the states; null: memory that the host can read
  answers_in_kernel const* finished = nullptr; ///< answers instead of states; null: states
  bool launches = true;                        ///< false: everything is made that a launch needs, and nothing is queued
};

/// A run that has been queued: its states arrive in `states`, unless the request named another place.
struct queued_run {
  int ordinal;
  stream_ref stream;
  readback states;
  staged_columns staged;
  mark done;
  mark begun; ///< only when timed
};

/// The target of a device.
target target_of(int ordinal);
/// Queues the run; throws the typed errors of planning, compiling, staging and launching. Extent must be positive.
queued_run enqueue(full_request& r, bool timed = false);
/// The device where the columns are: an ordinal, or -1 when all are in host memory.
int home_of(column_place const* columns, int count);
/// The translation unit for a plan, for explain and for tests; of a kernel that leaves states, or answers.
unit unit_of(program_type const& t, tally::v0::plan const& p, facts const& f, group_type const* answers = nullptr);
/// What NVRTC makes of a unit for a target.
std::string ptx_of(unit const& u, target const& t);
/// Runs a program and waits for its states, `bytes` of them.
void run(full_request& r, void* states, std::size_t bytes);

} // namespace tally::v0::gpu
