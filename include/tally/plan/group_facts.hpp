// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the kernels of groupings are told at launch, as plain values. Layer 3; kernels include it.
#pragma once

#include <tally/plan/plan.hpp>

namespace tally::inline v0 {

/// Answers of one grouping at most.
inline constexpr int max_answers = 16;

/// Where answer i of group g goes: element g of the array at[i], in device memory.
struct answer_arrays {
  void* at[max_answers];
};

} // namespace tally::inline v0
