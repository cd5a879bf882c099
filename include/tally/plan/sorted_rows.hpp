// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The planner of folds of rows by key whose rows are sorted by slot first: when that is worth it, how rows are sorted, and how they are cut
// and loaded. Layer 3.
#pragma once

#include <tally/plan/keys.hpp>
#include <tally/plan/slot_sort.hpp>
#include <tally/plan/sorted_rows_plan.hpp>

namespace tally::v0 {

struct sorted_rows_planned {
  sorted_rows_plan plan;
  slot_sort_planned sort;
  sorted_rows_cut cut;
  i64 blocks; ///< that fold
  i64 cells;  ///< where rows of several chunks meet; 0: where the answers go
  why_not_list why_not;
};

namespace planning {

/// The rows of a layout whose groups are columns of rows.
constexpr axes_layout rows_of(axes_layout at) {
  at.kept_axes = 0;
  at.groups = 1;
  return at;
}

/// Reads that are long enough for the launches of a sort.
inline constexpr i64 rows_worth_a_sort = 1 << 15;
/// Columns of rows that are better sorted, so that a slot is written once, than added to tables in global memory row by row: H200, 2026-11-22,
/// tests/bench/keyed.py. Sums of floats take one `red` for four columns there, exact ones several for each.
inline constexpr i64 least_columns_of_floats = 64, least_columns_of_others = 16;
constexpr bool sorts_rows(keys_facts const& f) {
  why_not_list of_tables{};
  return f.rows_have_one_key && f.at.extent >= rows_worth_a_sort &&
         f.at.groups >= (f.folds_neighbours() ? least_columns_of_floats : least_columns_of_others) && choose_ranges(f, of_tables) == 0;
}

/// Whether a thread keeps a float of every fold, and no more.
constexpr bool keeps_floats(keys_facts const& f) { return f.folds_neighbours() && f.of.state_bytes() <= i64(sizeof(float)) * f.of.fold_count; }

/// Neighbouring columns of a thread, a load of them. Floats: as many as have 16 bytes; four while a slot is written as often as rows are
/// read, so that threads beside each other write sectors that are whole. Other folds: as many as leave their states in registers, and
/// all of a warp on one row, because warps that end slots apart do so twice.
constexpr int choose_columns(keys_facts const& f) {
  if (keeps_floats(f))
    return choose_row_load(f, f.slots * i64(sizeof(float)) <= f.of.target.l2_bytes ? 8 : 4);
  return choose_row_load(f, f.at.groups >= 128 ? 4 : f.at.groups >= 64 ? 2 : 1);
}

/// Blocks whose threads keep their folds in registers. Exact sums of f32, 256 columns by 10^6 keys, with two, three and four: 1198, 1109 and 1504
/// us; 64, with three and four: 1037 and 982 (H200, 2026-11-24 21:40, tests/bench/keyed.py --only rows, this function changed). Wider states spill with one more.
constexpr int choose_row_blocks(keys_facts const& f, int columns) {
  constexpr int few_words = 64; // an exact sum of f32, of which a thread keeps three numbers
  if (keeps_floats(f))
    return 4;
  return (columns >= 4 ? 2 : 3) + (f.of.state_bytes() <= few_words ? 1 : 0);
}

/// Rows of a chunk: threads of all multiprocessors get two chunks each, as long as a chunk is worth its ends, and has no more rows than a
/// window of an exact sum takes without being emptied, 1000.
inline constexpr i64 least_chunk_rows = 32, most_chunk_rows = 512, chunks_of_team = 2, threads_of_multiprocessor = 1024;

} // namespace planning

/// Plans one read of at least one row and one slot.
constexpr sorted_rows_planned make_sorted_rows_plan(keys_facts const& f) {
  sorted_rows_planned out{};
  sorted_rows_plan& p = out.plan;
  out.sort = plan_slot_sort(f.of.target, planning::rows_of(f.at), f.slots / f.at.groups);
  p.sort = out.sort.plan;
  p.threads_per_block = 256;
  p.elements_per_load = planning::choose_columns(f);
  p.blocks_per_multiprocessor = planning::choose_row_blocks(f, p.elements_per_load);
  p.rows_in_flight = 4;
  p.threads_per_row = 1;
  while (p.threads_per_row < 32 && i64(p.threads_per_row) * p.elements_per_load < f.at.groups)
    p.threads_per_row *= 2;
  p.in_place = f.gives_cells;
  sorted_rows_cut& cut = out.cut;
  cut.rows = f.at.extent;
  cut.strips = (f.at.groups - 1) / (i64(p.threads_per_row) * p.elements_per_load) + 1;
  i64 const teams = i64(f.of.target.multiprocessors) * planning::threads_of_multiprocessor / p.threads_per_row * planning::chunks_of_team;
  cut.chunk_rows = planning::least_chunk_rows;
  while (cut.chunk_rows < planning::most_chunk_rows && cut.rows / (2 * cut.chunk_rows) * cut.strips >= teams)
    cut.chunk_rows *= 2;
  cut.chunks = (cut.rows - 1) / cut.chunk_rows + 1;
  out.cells = p.in_place ? 0 : cut.chunks * f.at.groups;
  i64 const teams_of_block = p.threads_per_block / p.threads_per_row;
  out.blocks = (cut.chunks * cut.strips - 1) / teams_of_block + 1;
  out.why_not.add("tables of slots", "rows that are sorted meet before they are written");
  return out;
}

} // namespace tally::v0
