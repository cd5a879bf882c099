// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the kernels of groupings are told at launch, as plain values. Layer 3; kernels include it.
#pragma once

#include <tally/plan/plan.hpp>

namespace tally::v0 {

/// Answers of one grouping at most.
inline constexpr int max_answers = 16;

/// Where answer i of group g goes: element g of the array at[i], in device memory.
struct answer_arrays {
  void* at[max_answers];
};

/// What a kernel of one group is told to make of its states: the answers of nodes.
template <class Nodes>
struct answers_at {
  Nodes nodes;
  answer_arrays to;
};

} // namespace tally::v0
