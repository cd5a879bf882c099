// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the kernel of one read by segment is told at launch, as plain values. Layer 3; kernels include it.
#pragma once

#include <tally/fold/segments.hpp>
#include <tally/plan/group_facts.hpp>
#include <tally/plan/segments_plan.hpp>

namespace tally::v0 {

/// Where answers go and parts meet, and how the work is cut.
struct segments_memory {
  segments_cut cut;
  answer_arrays to;
  u32* parts;
  u32* arrivals; ///< 0 at the beginning
  u64* fault;    ///< [0]: the complement of the first wrong offset's number, or 0; [1]: not 0 where a checked fold overflowed
};

template <class Program, class Nodes, class Offset>
struct segments_read {
  Program program;
  Nodes nodes;
  groups_between_offsets<Offset> at;
  segments_memory memory;
};

} // namespace tally::v0
