// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The planner of a walk through a matrix on the host, which folds columns, rows and the whole together: whether there is one, and how it is cut.
// Layer 3.
#pragma once

#include <tally/fold/tree.hpp>

namespace tally::v0 {

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

namespace planning {
/// Rows of a lane of the columns, and lanes of all their leaves.
constexpr i64 rows_of_lane(matrix_walk_facts const& f) {
  return f.rows < f.down.lanes() ? 1 : f.rows < f.down.elements() ? f.rows / f.down.lanes() : f.down.rows;
}
constexpr i64 lanes_of_columns(matrix_walk_facts const& f) {
  i64 const rest = f.rows % f.down.elements();
  return f.rows / f.down.elements() * f.down.lanes() + (rest < f.down.lanes() ? rest : f.down.lanes());
}
constexpr bool can_walk_columns(matrix_walk_facts const& f) {
  return f.folds_columns && rows_of_lane(f) * f.row_bytes <= most_bytes_of_turn && lanes_of_columns(f) >= lanes_of_core * f.threads;
}
/// Lanes, or rows, of a turn: a power of two of what comes at once, as many as a cache keeps and as leave every core its turns.
constexpr i64 choose_turn(matrix_walk_facts const& f, bool columns) {
  i64 const bytes = (columns ? rows_of_lane(f) : 1) * f.row_bytes, most = columns ? f.down.lanes() : most_rows_of_turn;
  i64 const all = columns ? lanes_of_columns(f) : f.rows;
  i64 n = columns ? f.lanes_beside : 1;
  while (2 * n <= most && 2 * n * bytes <= bytes_of_turn && 2 * n * turns_of_core * f.threads <= all)
    n *= 2;
  return n;
}
/// Turns of a chunk: a power of two, so that it is a subtree of the columns.
constexpr i64 choose_chunk(matrix_walk_facts const& f, matrix_walk_cut const& c) {
  i64 n = 1;
  auto const counted = [&] { return !c.columns || 2 * n * c.of_turn * rows_of_lane(f) <= elements_counted_in_lanes; };
  while (((c.columns && n * c.of_turn < least_lanes_of_chunk) || n * turns_of_core * f.threads < c.turns) && counted())
    n *= 2;
  return n;
}
} // namespace planning

constexpr matrix_walk_cut cut_matrix_walk(matrix_walk_facts const& f) {
  matrix_walk_cut c{};
  if (f.rows == 0 || f.columns == 0 || f.rows * f.row_bytes < planning::bytes_worth_one_walk)
    return c;
  c.columns = planning::can_walk_columns(f);
  bool const enough = c.columns || f.rows >= planning::turns_of_core * f.threads;
  c.joins = enough && int(c.columns) + int(f.folds_rows) + int(f.folds_whole) > 1;
  c.lanes = c.columns ? f.down.lanes() : 1;
  c.rows_of_leaf = c.columns ? f.down.elements() : 1;
  c.of_turn = planning::choose_turn(f, c.columns);
  c.turns = ((c.columns ? planning::lanes_of_columns(f) : f.rows) - 1) / c.of_turn + 1;
  c.of_chunk = planning::choose_chunk(f, c);
  return c;
}

} // namespace tally::v0
