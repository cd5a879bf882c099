// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan of a read by key whose elements are partitioned by slot first: every decision about its two kernels as one structural value.
// Layer 3; kernels include it.
#pragma once

#include <tally/plan/keys_plan.hpp>

namespace tally::v0 {

/// All decisions about the kernels of one partitioned read.
struct partitioned_keys_plan {
  keys_plan table;         ///< of a block that folds a partition
  keys_plan in_runs;       ///< how elements are folded as they come, where a sample says that keys come in runs
  int slots_of_partition;
  int threads_per_block;   ///< that partition
  int elements_per_thread; ///< of a tile
  int elements_per_load;   ///< neighbours that a thread loads at once
  int threads_per_run;     ///< that read what a partition has in one tile
  int tiles_in_flight;     ///< of them
  constexpr int elements_of_tile() const { return threads_per_block * elements_per_thread; }
  friend constexpr bool operator==(partitioned_keys_plan const&, partitioned_keys_plan const&) = default;
};

} // namespace tally::v0
