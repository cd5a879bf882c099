// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan of a read by key whose elements are sorted by slot first: every decision about its two kernels as one structural value.
// Layer 3; kernels include it.
#pragma once

#include <tally/plan/segments_plan.hpp>
#include <tally/plan/slot_sort_plan.hpp>

namespace tally::v0 {

/// All decisions about the kernels of one sorted read.
struct sorted_keys_plan {
  slot_sort_plan sort;
  segments_plan folds; ///< of the elements of every slot
  friend constexpr bool operator==(sorted_keys_plan const&, sorted_keys_plan const&) = default;
};

} // namespace tally::v0
