// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The planner of a walk through a matrix on the host, which folds columns, rows and the whole together: whether there is one, and how it is cut.
// Layer 3.
#pragma once

#include <tally/fold/tree.hpp>

namespace tally::inline v0 {

namespace planning {
/// Bytes of the rows that are folded together. Sums of rows, columns and the whole of 524288 x 256, 131072 x 1024 and 32768 x 4096 f32, times as fast as
/// three walks on one core, with 128 KiB 1.1 to 1.2, with 256 KiB 1.35 to 1.4, with 512 KiB 1.45 to 1.5, with 1 MiB 1.5; on two 1.3 to 2.0. EPYC 9004 with
/// 1 MiB of second cache a core, 2026-11-25, g++ -O2, build/bench/cpu_axes.
inline constexpr i64 bytes_of_turn = i64(1) << 20;
/// Rows of a turn at most, where no columns are folded.
inline constexpr i64 most_rows_of_turn = 2048;
/// Rows so long that one lane of the columns has more than this are walked through by each domain for itself; and so are matrices of fewer bytes, which
/// caches keep: 8 MiB took as long either way.
inline constexpr i64 most_bytes_of_turn = i64(1) << 21, bytes_worth_one_walk = i64(1) << 22;
/// Lanes of the columns for each core, or the columns have a walk of their own; and lanes of a chunk at least: for each the states of all columns are
/// kept until the end.
inline constexpr i64 lanes_of_core = 32, least_lanes_of_chunk = 16;
/// Turns for each core at least, and so rows where no columns are folded.
inline constexpr i64 turns_of_core = 4;
} // namespace planning

/// A matrix and what may be folded of it.
struct matrix_walk_facts {
  i64 rows, columns;
  i64 row_bytes;     ///< in all sources
  leaf_shape down;   ///< of the columns
  int lanes_beside;  ///< of the columns that are folded at once
  bool folds_columns, folds_rows, folds_whole; ///< in a way that a walk can take
  int threads;
};
/// How a walk is cut. A turn is as many lanes of the columns, or as many rows where no columns are folded.
struct matrix_walk_cut {
  bool joins;
  bool columns;  ///< are folded in the walk
  i64 rows_of_leaf, lanes; ///< of the columns: rows a leaf apart, and how many lanes there are
  i64 of_turn, turns, of_chunk; ///< lanes; turns; turns that one core takes
  constexpr i64 chunks() const { return (turns - 1) / of_chunk + 1; }
};
constexpr matrix_walk_cut cut_matrix_walk(matrix_walk_facts const& f) {
  matrix_walk_cut c{};
  if (f.rows == 0 || f.columns == 0 || f.rows * f.row_bytes < planning::bytes_worth_one_walk)
    return c;
  i64 const lanes = f.down.lanes(), elements = f.down.elements();
  i64 const deep = f.rows < lanes ? 1 : f.rows < elements ? f.rows / lanes : f.down.rows;
  i64 const whole = f.rows / elements, rest = f.rows % elements, all_lanes = whole * lanes + (rest < lanes ? rest : lanes);
  c.columns = f.folds_columns && deep * f.row_bytes <= planning::most_bytes_of_turn && all_lanes >= planning::lanes_of_core * f.threads;
  c.joins = int(c.columns) + int(f.folds_rows) + int(f.folds_whole) > 1 && (c.columns || f.rows >= planning::turns_of_core * f.threads);
  c.lanes = c.columns ? lanes : 1;
  c.rows_of_leaf = c.columns ? elements : 1;
  i64 const of_lane = (c.columns ? deep : 1) * f.row_bytes, most = c.columns ? lanes : planning::most_rows_of_turn;
  i64 const units = c.columns ? all_lanes : f.rows, least = c.columns ? planning::least_lanes_of_chunk : 1, for_each_core = planning::turns_of_core * f.threads;
  c.of_turn = c.columns ? f.lanes_beside : 1;
  while (2 * c.of_turn <= most && 2 * c.of_turn * of_lane <= planning::bytes_of_turn && 2 * c.of_turn * for_each_core <= units)
    c.of_turn *= 2;
  c.turns = (units - 1) / c.of_turn + 1;
  for (c.of_chunk = 1; c.of_chunk * c.of_turn < least || c.of_chunk * for_each_core < c.turns; c.of_chunk *= 2) {}
  return c;
}

} // namespace tally::inline v0
