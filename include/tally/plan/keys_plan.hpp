// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan of a read that folds by key: every decision about its kernel as one structural value. Layer 3; kernels include it.
#pragma once

#include <tally/plan/plan.hpp>

namespace tally::inline v0 {

/// Where elements meet.
enum class keys_route {
  in_shared_memory, ///< every block has all slots to itself, and adds them to the others' in the end
  in_global_memory, ///< every element goes to its slot by atomics
  rows_to_global    ///< neighbours along the axis that stays have one key: threads are neighbours in a row of slots
};

/// All decisions about the kernel of one keyed read.
struct keys_plan {
  keys_route route;
  int threads_per_block;
  int elements_per_load; ///< neighbours that a thread loads at once
  int loads_in_flight;
  int replicas;          ///< tables of a block, that neighbouring threads take in turn
  bool in_order;         ///< elements are neighbours in every column
  int threads_per_row;   ///< rows: that share a row of slots
  friend constexpr bool operator==(keys_plan const&, keys_plan const&) = default;
};

} // namespace tally::inline v0
