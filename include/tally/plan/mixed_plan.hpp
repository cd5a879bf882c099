// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan of one read of a matrix that folds rows, columns and the whole together, and how its work is cut for one launch.
// Layer 3; kernels include it.
#pragma once

#include <tally/plan/plan.hpp>

namespace tally::v0 {

/// What the folds of the whole are made of: nothing, where they are in no such read; rows, where those are its subtrees or no order counts; the leaves of rows, where those are its own; or leaves that begin
/// anywhere in rows, folded by the warp that has their first element, from its tile and from L2.
enum class whole_from { nothing, rows, leaves_of_rows, leaves };

/// All decisions about the kernel of rows, columns and total in one read.
struct mixed_plan {
  int stages; ///< tiles of a block, of which one is folded while the others are on their way
  int blocks_per_multiprocessor;
  bool reads_ahead; ///< folds before the launch in front is done
  int bytes_per_copy = 0; ///< that threads ask for at once where there is no bulk engine; 0: it copies them
  int standing_down = 0;  ///< bit c is set where column c is the same in every row: it is not in the tiles, but beside them once a unit
  int standing_along = 0; ///< bit c is set where column c is the same all along a row: the same, but in the tiles, an element a row, where columns are few
  bool begins_anywhere = false; ///< a row: the bulk engine copies the pieces of 16 bytes around it, and threads have every 32nd element of a strip
  whole_from whole = whole_from::rows;
  bool batched = false; ///< there are several matrices, each with columns of its own
  bool whole_of_each = false; ///< the folds of the whole are those of every matrix, not of all
  int lanes_of_tile = 1; ///< more where matrices have fewer rows than a leaf has elements: a tile has those of so many lanes, which have as many less each
  int shares_of_last_chunk = 1; ///< of the lanes of a unit, where that chunk has few columns: a tile has rows of a lane of each, and as many warps as its columns take fold a share
  int few_columns = 0; ///< so many columns has a matrix of so few that a tile has whole rows, one behind the other, and a thread or a few have a row; 0: it has more
  int rows_of_lane = 0; ///< that a tile has, where columns are few
  constexpr bool stands_down(int column) const { return (standing_down >> column & 1) != 0; }
  constexpr bool stands_along(int column) const { return (standing_along >> column & 1) != 0; }
  constexpr bool stands_beside(int column) const { return stands_down(column) || (stands_along(column) && few_columns == 0); } ///< the tiles
  friend constexpr bool operator==(mixed_plan const&, mixed_plan const&) = default;
};

/// What the bulk engine copies at the least, and where that begins and ends.
inline constexpr int bytes_of_piece = 16;
/// Bytes of the pieces that so many lie in.
constexpr i64 whole_pieces(i64 bytes) { return (bytes + bytes_of_piece - 1) / bytes_of_piece * bytes_of_piece; }

/// Threads that fold; a warp in front of them asks for tiles.
inline constexpr int mixed_folding_threads = 256;
inline constexpr int mixed_threads = mixed_folding_threads + 32;

/// How the folding threads share the rows of a matrix of few columns, with lanes for `group` columns of 32: neighbouring threads have a row where that
/// lets neighbours read neighbours in shared memory, each of them some lanes, and where a band has fewer lanes than threads, bands are folded side by side.
struct few_columns_shape {
  int group, columns;
  constexpr int lanes() const { return 32 * group; }
  constexpr int neighbours() const { return power_of_two_in(columns, group); } ///< of a row that a thread loads at once
  constexpr int threads_of_row() const {
    int threads = power_of_two_in(columns / neighbours(), 8);
    while (threads < 8 && columns > most_columns_of_thread * threads) // then some loads are of nothing
      threads *= 2;
    return threads;
  }
  constexpr int loads() const { return (columns - 1) / (neighbours() * threads_of_row()) + 1; } ///< of a thread for a row
  constexpr int threads_of_band() const { return lanes() * threads_of_row() < mixed_folding_threads ? lanes() * threads_of_row() : mixed_folding_threads; }
  constexpr int lanes_of_thread() const { return lanes() * threads_of_row() / threads_of_band(); }
  constexpr int bands_beside() const { return mixed_folding_threads / threads_of_band(); }
  constexpr int open_columns() const { return loads() * neighbours() * lanes_of_thread(); } ///< lanes of columns that a thread keeps
  static constexpr int most_columns_of_thread = 64;
  /// The largest power of two that divides n, `most` at the most.
  static constexpr int power_of_two_in(int n, int most) {
    int p = 1;
    while (2 * p <= most && n % (2 * p) == 0)
      p *= 2;
    return p;
  }
  friend constexpr bool operator==(few_columns_shape const&, few_columns_shape const&) = default;
};

/// Parts of the whole that a warp folds together.
inline constexpr int parts_of_group = 128;

/// How the work is cut. A band is as many rows of a matrix as a leaf has elements, a chunk as many columns; a unit is some lanes of a band (a power
/// of two: a subtree of every column) in one chunk, or where columns are few some bands, and the work of one block.
struct mixed_cut {
  i64 matrices;               ///< of a batch; their rows are those of the source, one matrix behind the other or in turn
  i64 rows, columns;          ///< of a matrix
  i64 row_steps[max_sources]; ///< from a row to the next, in elements of a column
  i64 matrix_steps[max_sources];
  i64 row_apart, matrix_apart; ///< from a row to the next, and from a matrix to the next, in rows of the source
  int bands, chunks;
  int chunks_in_front; ///< whose units come before those of the last one: all of them, or all others
  int lanes_of_band; ///< that are looked at: where the only band has no row in one half of them, those in the other
  int splits;        ///< units of a band in one chunk
  int lanes_of_unit;
  int bands_of_unit = 0; ///< a power of two, where columns are few; 0: units are lanes of a band
  int slots_of_group; ///< neighbouring slots (units below each other) of a chunk whose last block folds them first
  int chunks_of_group;
  i64 wholes;          ///< that the folds of the whole have answers of: one, or each matrix
  i64 parts_of_wholes; ///< rows of all matrices, or leaves of them
  i64 groups_of_whole; ///< of parts of one
  int rows_of_run;  ///< neighbours of a matrix: a band, or the rows of neighbouring lanes of a unit. Groups of parts inside are folded as soon as the slots of a run have come
  int slots_of_run; ///< one, or those of a band
  i64 runs;         ///< of a matrix
  constexpr i64 row_of_source(i64 matrix, i64 row) const { return matrix * matrix_apart + row * row_apart; }
  constexpr int slots() const { return bands_of_unit > 0 ? (bands - 1) / bands_of_unit + 1 : bands * splits; }
  /// States of rows that wait in memory: none where a block has all chunks.
  constexpr i64 states_of_rows() const { return bands_of_unit > 0 ? 0 : chunks * rows; }
  constexpr i64 states_of_row_groups() const { return bands_of_unit > 0 ? 0 : chunk_groups() * rows; }
  constexpr int slot_groups() const { return (slots() - 1) / slots_of_group + 1; }
  constexpr void make_runs_of(int neighbours) {
    rows_of_run = neighbours;
    slots_of_run = neighbours == lanes_of_unit ? 1 : splits;
    runs = (rows - 1) / neighbours + 1;
  }
  constexpr int sets_of_runs() const { return slots() / slots_of_run; }
  /// Counters of blocks that have come.
  constexpr i64 arrivals() const { return matrices * (i64(chunks) * (slot_groups() + 1) + i64(slots()) * (chunk_groups() + 1) + sets_of_runs()) + wholes; }
  constexpr int chunk_groups() const { return (chunks - 1) / chunks_of_group + 1; }
};

} // namespace tally::v0
