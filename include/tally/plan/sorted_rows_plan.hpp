// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan of a read by key whose rows are sorted by slot first: every decision about its two kernels as one structural value.
// Layer 3; kernels include it.
#pragma once

#include <tally/plan/slot_sort_plan.hpp>

namespace tally::v0 {

/// All decisions about the kernels of one read of sorted rows.
struct sorted_rows_plan {
  slot_sort_plan sort; ///< of rows
  int threads_per_block;
  int blocks_per_multiprocessor; ///< that registers have room for at least
  int threads_per_row;           ///< that share a chunk of rows, each for neighbouring columns
  int elements_per_load;         ///< those neighbours
  int rows_in_flight;
  bool in_place; ///< sums of rows of several chunks are made where the answers go
  friend constexpr bool operator==(sorted_rows_plan const&, sorted_rows_plan const&) = default;
};

/// How the rows are cut: a chunk of sorted rows and a strip of columns at a time.
struct sorted_rows_cut {
  i64 rows;
  i64 chunk_rows;
  i64 chunks;
  i64 strips;
};

} // namespace tally::v0
