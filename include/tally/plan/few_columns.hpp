// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The planner of reads of a matrix of few columns, of which a tile has whole rows: whether threads can have rows, by which tiles, and how many bands are a unit. Layer 3.
#pragma once

#include <tally/plan/mixed_facts.hpp>

namespace tally::v0::planning {

constexpr few_columns_shape shape_of_few(mixed_facts const& f) { return {f.of.lanes_per_group, int(axis_beside(f).extent)}; }

/// Registers for the lanes of columns that a thread keeps open.
constexpr i64 open_words(mixed_facts const& f) {
  int levels = 0; // of the lanes of a leaf, for each of which column_words has what a thread has beside each other
  for (int n = f.of.lanes_per_group * 32; n > 1; n /= 2)
    ++levels;
  return shape_of_few(f).open_columns() * (f.column_words / (f.of.elements_per_leaf() / mixed_folding_threads * levels));
}

/// Columns of a matrix whose folds divide by how many elements they have seen, at most: a lane stays open for several tiles, and its number is none that the compiler knows. Us, means and
/// variances of columns and rows in one read and in two: f32 67108864 x 4 802, 893, 22369621 x 12 926, 1945, 8388608 x 32 1160, 638; f64 33554432 x 4 1110, 1277, 4194304 x 32 1251, 732
/// (H200, 2026-11-29, docs/measured/mixed_h200.md).
inline constexpr int most_columns_that_count = 16;

/// Whether tiles can hold column c of the source: its rows lie one behind the other in memory, or the one element of each, or it is the same in every row.
constexpr bool lies_in_rows(mixed_facts const& f, int c) {
  i64 const beside = axis_beside(f).steps[c], down = f.columns.reduced[0].steps[c];
  bool const passes = beside == 1 && down == axis_beside(f).extent, along = beside == 0 && down == 1;
  return (beside == 1 && down == 0) || ((passes || along) && f.of.sources[c].address_alignment >= bytes_of_piece);
}

/// Whether threads can have rows: a matrix alone, all of whose columns lie in rows, no wider than a leaf has lanes, and whose open lanes fit into registers.
constexpr bool can_have_rows(mixed_facts const& f) {
  if (f.batched || f.columns.reduced_axes != 1 || f.columns.kept_axes != 1 || f.of.target.compute_major < 9 || f.bytes_beside > 0 || !f.commutative || f.exact || f.checked)
    return false;
  grid_axis const &down = f.columns.reduced[0], &beside = axis_beside(f);
  if (beside.extent > (f.counts ? most_columns_that_count : 32 * f.of.lanes_per_group) || beside.position_step != 1 || down.position_step != beside.extent)
    return false;
  for (int c = 0; c < f.of.source_count; ++c)
    if (f.of.sources[c].bytes_per_element > 0 && !lies_in_rows(f, c))
      return false;
  bool const fills = f.columns.extent > (f.of.target.multiprocessors - 1) * f.of.elements_per_leaf(); // a band for each multiprocessor
  return fills && passing_bytes(f) > 0 && open_words(f) <= 64;
}

/// Bytes of a tile that has so many rows of each lane.
constexpr i64 bytes_of_few(mixed_facts const& f, int rows_of_lane) {
  i64 of_row = 0;
  for (int c = 0; c < f.of.source_count; ++c)
    of_row += f.columns.reduced[0].steps[c] == 0 ? 0 : f.of.sources[c].bytes_per_element * (passes(f, c) ? axis_beside(f).extent : 1);
  return i64(shape_of_few(f).bands_beside()) * rows_of_lane * 32 * f.of.lanes_per_group * of_row;
}
/// Bytes of the states of columns of a unit of so many bands: one of each warp, of two turns, and one of each band.
constexpr i64 bytes_that_meet(mixed_facts const& f, i64 bands) { return (2 * (mixed_folding_threads / 32) + bands) * axis_beside(f).extent * f.column_bytes; }
/// The same at most: what tiles leave.
constexpr i64 most_bytes_that_meet(mixed_facts const& f) {
  i64 const least = bytes_that_meet(f, shape_of_few(f).bands_beside());
  return least > (i64(16) << 10) ? least : i64(16) << 10;
}

/// Bands of a unit, a power of two: as many as leave the chip's places full until the end, where few blocks begin, and groups of parts of the whole end where units do.
constexpr int choose_bands_of_unit(mixed_facts const& f, mixed_plan const& p) {
  i64 const columns = axis_beside(f).extent, bands = (f.columns.extent - 1) / f.of.elements_per_leaf() + 1;
  i64 const at_once = i64(f.of.target.multiprocessors) * p.blocks_per_multiprocessor;
  i64 unit = shape_of_few(f).bands_beside();
  for (i64 more = 2 * unit; bytes_that_meet(f, more) <= most_bytes_that_meet(f) && bands >= more * at_once / 2; more *= 2) {
    i64 const units = (bands - 1) / more + 1, places = ((units - 1) / at_once + 1) * at_once;
    bool const full = 100 * units >= 92 * places;
    if (full || (p.whole != whole_from::nothing && unit * columns % parts_of_group != 0 && 4 * units >= 3 * places))
      unit = more;
  }
  return int(unit);
}

/// Tiles: enough rows for a copy to be long, and for the leaves of the whole to lie in one.
constexpr bool choose_few_columns(mixed_facts const& f, mixed_planned& out) {
  if (!can_have_rows(f))
    return false;
  i64 const columns = axis_beside(f).extent, room = f.of.target.shared_bytes_per_block - 2048;
  mixed_plan p = out.plan;
  p.few_columns = int(columns);
  choose_standing(f, p);
  auto const fits = [&](int rows_of_lane, int blocks) { return (room / blocks - standing_bytes(f.of, p, columns) - most_bytes_that_meet(f)) / bytes_of_few(f, rows_of_lane) >= 2; };
  int rows_of_lane = 1;
  if (!fits(rows_of_lane, 1))
    return false;
  while (rows_of_lane < f.of.rows_per_leaf && bytes_of_few(f, 2 * rows_of_lane) <= (i64(32) << 10))
    rows_of_lane *= 2;
  int of_leaves = rows_of_lane; // rows of a lane that hold whole leaves
  while (of_leaves * columns % f.of.rows_per_leaf != 0)
    of_leaves *= 2;
  bool const apart = (p.standing_down | p.standing_along) != 0 && columns % f.of.lanes_per_group != 0, total = f.total && !apart && fits(of_leaves, 1);
  if (f.total && apart)
    out.why_not.add("total in the same read", "neighbours of a leaf are of two rows of {0} elements, and a column stands in one of them", -1, columns);
  else if (f.total && !total)
    out.why_not.add("total in the same read", "a row of {0} elements is no whole leaves, and two tiles of rows that are take {1} bytes of shared memory", -1, columns, 2 * bytes_of_few(f, of_leaves));
  p.rows_of_lane = total ? of_leaves : rows_of_lane;
  p.whole = total ? whole_from::leaves : whole_from::nothing;
  p.blocks_per_multiprocessor = fits(p.rows_of_lane, 2) && open_words(f) <= 32 ? 2 : 1;
  out.plan = p;
  return true;
}

/// Units, and the stages that fit beside what meets of one.
constexpr void cut_few_columns(mixed_facts const& f, mixed_planned& out) {
  mixed_cut& cut = out.cut;
  i64 const width = f.of.elements_per_leaf(), room = f.of.target.shared_bytes_per_block - 2048;
  cut.matrices = 1;
  cut.rows = f.columns.extent;
  cut.columns = axis_beside(f).extent;
  cut.bands = int((cut.rows - 1) / width + 1);
  cut.chunks = cut.chunks_in_front = cut.splits = 1;
  cut.bands_of_unit = choose_bands_of_unit(f, out.plan);
  cut.slots_of_group = group_of_slots(cut.slots());
  cut.chunks_of_group = group_of_slots(1);
  cut.wholes = 1;
  cut.parts_of_wholes = out.plan.whole == whole_from::nothing ? 0 : (cut.rows * cut.columns - 1) / width + 1;
  cut.groups_of_whole = (cut.parts_of_wholes - 1) / parts_of_group + 1;
  cut.make_runs_of(cut.bands_of_unit * int(width));
  i64 const tile = bytes_of_few(f, out.plan.rows_of_lane), beside = standing_bytes(f.of, out.plan, cut.columns) + bytes_that_meet(f, cut.bands_of_unit);
  i64 const fit = (room / out.plan.blocks_per_multiprocessor - beside) / tile;
  out.plan.stages = int(least_of(fit, 6));
  out.shared_bytes = out.plan.stages * tile + beside;
}

} // namespace tally::v0::planning
