// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan of a sort of elements by slot: every decision about its kernel as one structural value. Layer 3; kernels include it.
#pragma once

#include <tally/plan/plan.hpp>

namespace tally::v0 {

/// All decisions about the kernel of one sort.
struct slot_sort_plan {
  int bits_of_digit;
  int threads_per_block;         ///< each for one value of a digit, or some
  int blocks_per_multiprocessor; ///< all at once, as long as there are so many
  int elements_per_thread;       ///< that are moved at once
  bool wide_numbers;             ///< elements are numbered in 64 bits, else in 32
  bool one_reduced_axis;         ///< along which the elements of a group lie
  bool no_kept_axis;             ///< there is one group
  friend constexpr bool operator==(slot_sort_plan const&, slot_sort_plan const&) = default;
};

} // namespace tally::v0
