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
  c.columns = f.folds_columns && deep * f.row_bytes <= planning::most_bytes_of_turn;
  c.joins = int(c.columns) + int(f.folds_rows) + int(f.folds_whole) > 1;
  c.lanes = c.columns ? lanes : 1;
  c.rows_of_leaf = c.columns ? elements : 1;
  i64 const of_lane = (c.columns ? deep : 1) * f.row_bytes, most = c.columns ? lanes : planning::most_rows_of_turn;
  c.of_turn = c.columns ? f.lanes_beside : 1;
  while (2 * c.of_turn <= most && 2 * c.of_turn * of_lane <= planning::bytes_of_turn)
    c.of_turn *= 2;
  i64 const whole = f.rows / c.rows_of_leaf, rest = f.rows % c.rows_of_leaf;
  if (c.columns)
    c.turns = whole * (lanes / c.of_turn) + ((rest < lanes ? rest : lanes) + c.of_turn - 1) / c.of_turn;
  else
    c.turns = (f.rows - 1) / c.of_turn + 1;
  for (c.of_chunk = 1; c.of_chunk * f.threads * 4 < c.turns; c.of_chunk *= 2) {}
  return c;
}

} // namespace tally::inline v0
