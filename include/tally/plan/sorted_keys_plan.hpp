// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan of a read by key whose elements are sorted by slot first: every decision about its two kernels as one structural value.
// Layer 3; kernels include it.
#pragma once

#include <tally/plan/segments_plan.hpp>

namespace tally::inline v0 {

/// All decisions about the kernels of one sorted read.
struct sorted_keys_plan {
  int threads_per_block;   ///< of the sort: one for every value of a digit
  int elements_per_thread; ///< that the sort moves at once
  bool wide_numbers;       ///< elements are numbered in 64 bits, else in 32
  bool one_reduced_axis;   ///< along which the elements of a group lie
  bool no_kept_axis;       ///< there is one group
  segments_plan folds;     ///< of the elements of every slot
  friend constexpr bool operator==(sorted_keys_plan const&, sorted_keys_plan const&) = default;
};

} // namespace tally::inline v0
