// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is asked of the planner of reads that fold rows, columns and total of one matrix together, and what it answers. Layer 3.
#pragma once

#include <tally/plan/axes_facts.hpp>
#include <tally/plan/mixed_plan.hpp>

namespace tally::v0 {

/// Everything about such a read; `of` has the sources and the target.
struct mixed_facts {
  facts of;
  axes_layout columns; ///< the groups of the columns, those of the matrices of a batch one after the other
  bool batched;        ///< the outer axis kept counts matrices
  bool whole_of_each;  ///< the folds of the whole are those of every matrix of a batch
  int column_words;    ///< 32-bit words of a column's states while lanes close
  int column_bytes;    ///< of the states of a column
  int along_bytes;     ///< of the states of a row and of the total
  int apart_bytes;     ///< of both where each has memory of its own
  bool commutative;    ///< all folds of all domains
  bool exact;          ///< any fold of any domain
  bool total;          ///< folds of the whole are asked for
  bool rows;           ///< folds of the rows are asked for
  bool folds_columns;  ///< folds of the columns are asked for
  bool checked = false; ///< a fold of the columns or rows tells of its overflow
  bool counts = false;  ///< a fold of the columns or rows divides by how many elements it has seen
  bool whole_in_any_order = false; ///< the folds of the whole have the same bits in any order, or were asked for fast
  i64 bytes_beside = 0; ///< of the tables of folds by key that the read does too, in a block
};

/// The plan and the cut of one launch; `joins` is false where separate reads are made, for the reasons given.
struct mixed_planned {
  bool joins;
  mixed_plan plan;
  mixed_cut cut;
  i64 begin_of_tables; ///< of folds by key, behind tiles and rows
  i64 shared_bytes;
  why_not_list why_not;
  constexpr bool total_joins() const { return joins && plan.whole != whole_from::nothing; }
  constexpr i64 blocks() const { return cut.matrices * cut.slots() * cut.chunks; }
};

namespace planning {

/// The axis beside which columns lie, and how many matrices there are.
constexpr grid_axis const& axis_beside(mixed_facts const& f) { return f.columns.kept[f.batched ? 1 : 0]; }
constexpr i64 matrices_of(mixed_facts const& f) { return f.batched ? f.columns.kept[0].extent : 1; }
/// Whether the rows of a matrix of a batch lie one behind the other in the source; else those of all matrices do in turn.
constexpr bool is_by_matrix(mixed_facts const& f) {
  return !f.batched || f.columns.kept[0].position_step == f.columns.reduced[0].position_step * f.columns.reduced[0].extent;
}

/// Whether column c has an element for each row and column of the matrix, or is the same all along one of them.
constexpr bool passes(mixed_facts const& f, int c) {
  return f.of.sources[c].bytes_per_element > 0 && axis_beside(f).steps[c] != 0 && f.columns.reduced[0].steps[c] != 0;
}
/// Bytes of an element in all columns that pass.
constexpr i64 passing_bytes(mixed_facts const& f) {
  i64 bytes = 0;
  for (int c = 0; c < f.of.source_count; ++c)
    bytes += passes(f, c) ? f.of.sources[c].bytes_per_element : 0;
  return bytes;
}

/// What is the same in every row, and what is the same all along a row.
constexpr void choose_standing(mixed_facts const& f, mixed_plan& p) {
  for (int c = 0; c < f.of.source_count; ++c)
    if (f.of.sources[c].bytes_per_element > 0) {
      if (axis_beside(f).steps[c] == 0)
        p.standing_along |= 1 << c;
      else if (f.columns.reduced[0].steps[c] == 0)
        p.standing_down |= 1 << c;
    }
}
/// Bytes of what stands beside tiles of so many columns, for one unit: an element a column of it, or a row.
constexpr i64 standing_bytes(facts const& f, mixed_plan const& p, i64 width) {
  i64 bytes = 0;
  for (int c = 0; c < f.source_count; ++c)
    bytes += p.stands_beside(c) ? whole_pieces(f.sources[c].bytes_per_element * width) : 0;
  return bytes;
}

/// A power of two whose square is at least n, so that two steps fold n slots.
constexpr int group_of_slots(i64 n) {
  int g = 8;
  while (i64(g) * g < n)
    g *= 2;
  return g;
}

} // namespace planning

} // namespace tally::v0
