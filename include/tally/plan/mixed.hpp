// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The planner of reads that fold rows, columns and total of one matrix together: whether one read does it, by which tiles, and how
// the work is cut. Layer 3.
#pragma once

#include <tally/plan/few_columns.hpp>
#include <tally/plan/keys_beside.hpp>

namespace tally::v0 {

namespace planning {

/// Columns of the last chunk.
constexpr i64 columns_of_last_chunk(mixed_facts const& f) { return (axis_beside(f).extent - 1) % f.of.elements_per_leaf() + 1; }
/// Into how many shares a unit of the last chunk can split its lanes, where a share of the columns of a tile is all that the chunk has. No less than a warp folds a share,
/// and the columns' states of all meet where two tiles were.
constexpr int most_shares(mixed_facts const& f) {
  i64 const width = f.of.elements_per_leaf();
  int shares = 1;
  if (f.of.target.compute_major >= 9 && f.columns.extent >= width && f.column_bytes <= 2 * f.of.rows_per_leaf * passing_bytes(f))
    while (shares * 2 * columns_of_last_chunk(f) <= width && shares < mixed_folding_threads / 32)
      shares *= 2;
  return shares;
}
/// Columns that the tiles of a matrix have places for.
constexpr i64 columns_of_tiles(mixed_facts const& f) {
  i64 const width = f.of.elements_per_leaf();
  return (axis_beside(f).extent - 1) / width * width + width / most_shares(f);
}

/// Whether a row fills enough of the columns of a tile, or of a share of it: half, three quarters of small elements whose rows begin anywhere or that fold in shares, all where a
/// share is a warp's. Us, in one read and in a read for each domain: f32 500000 x 512 375, 695; 340000 x 784 409, 729; 500000 x 513 527, 711, its rows and columns 412, 481, columns
/// and whole 480, 484; bf16 260000 x 1027 627, 435, its rows and columns 431, 305. Of rows that fold in shares, columns and rows: f32
/// 2097152 x 128 351, 503, with the whole 566, 729, 2684352 x 100 with the whole 941, 738; bf16 262144 x 1023 193, 295, 524288 x 512 149, 268
/// (H200, 2026-11-29, docs/measured/mixed_h200.md).
constexpr bool fills_row_of_tiles(mixed_facts const& f, bool anywhere) {
  i64 const width = f.of.elements_per_leaf(), columns = axis_beside(f).extent;
  int const shares = most_shares(f);
  bool const small = f.of.lanes_per_group > 4;
  if (columns >= width)
    return true;
  if (small && anywhere && shares > 2)
    return false;
  int const quarters = shares == mixed_folding_threads / 32 ? 4 : small && (anywhere || shares > 1) ? 3 : 2;
  return 4 * columns >= quarters * width / shares;
}

/// Rows that the tiles of a matrix have places for: its own where it is short, or as long as a leaf; else lanes are a power of two long.
constexpr i64 rows_of_tiles(mixed_facts const& f) {
  i64 const lanes = 32 * f.of.lanes_per_group, rows = f.columns.extent, width = f.of.elements_per_leaf();
  return rows <= lanes || rows >= width ? rows : least_of(width, power_of_two_from((rows - 1) / lanes + 1) * lanes);
}
/// Whether rows and columns fill enough of the tiles of a batch or of a matrix with few rows: half of the lanes have one, and half of the tiles' places too of
/// small elements, which take more instructions. Sums of rows, of columns and of all in one read and in a read for each, us: f32 1024 x 64 x 4096 392, 718, 2048 x 32 x 4096 665, 738;
/// bf16 512 x 128 x 4096 196, 367, 1024 x 64 x 4096 285, 379; bf16 512 x 512 x 1024 346, 369, 300 x 720 x 1280 413, 378; f32 300 x 720 x 1280 476, 731, 300 x 720 x 1279 542, 758
/// (H200, 2026-11-29, docs/measured/mixed_h200.md).
constexpr bool fills_tiles(mixed_facts const& f) {
  i64 const lanes = 32 * f.of.lanes_per_group, rows = f.columns.extent;
  return 2 * rows >= lanes && (f.of.lanes_per_group <= 4 || 2 * rows * axis_beside(f).extent >= rows_of_tiles(f) * columns_of_tiles(f));
}

/// Whether folds that divide by how many elements they have seen do so in little of the matrix only: in rows of a chunk that is not full that is no number the compiler knows. Us, means
/// and variances of columns and rows of f32 in one read and in two: 65536 x 4097 418, 693, 59648 x 4500 625, 701, 107328 x 2500 954, 746, 178944 x 1500 1036, 826, 262144 x 1000 1590, 612,
/// 524288 x 512 799, 559 (H200, 2026-11-29, docs/measured/mixed_h200.md).
constexpr bool counts_in_little(mixed_facts const& f) {
  i64 const last = columns_of_last_chunk(f);
  return !f.counts || last == f.of.elements_per_leaf() || 8 * last <= axis_beside(f).extent;
}

/// Whether one read can do it.
constexpr bool can_mix(mixed_facts const& f, why_not_list& why) {
  i64 const width = f.of.elements_per_leaf();
  auto const no = [&](char const* sentence, i64 a = 0, i64 b = 0) {
    why.add("one read", sentence, -1, a, b);
    return false;
  };
  if (f.columns.reduced_axes != 1 || f.columns.kept_axes != (f.batched ? 2 : 1))
    return no(f.batched ? "the axes do not make matrices" : "the axes do not make a matrix");
  grid_axis const &down = f.columns.reduced[0], &beside = axis_beside(f);
  if (beside.position_step != 1 || (is_by_matrix(f) ? down : f.columns.kept[0]).position_step != beside.extent)
    return no("the rows are not the inner axis");
  bool anywhere = false;
  for (int c = 0; c < f.of.source_count; ++c)
    if (f.of.sources[c].bytes_per_element > 0) {
      if (beside.steps[c] != 1 && beside.steps[c] != 0)
        return no("neighbours of a row lie {0} elements apart", beside.steps[c]);
      anywhere = anywhere || (beside.steps[c] != 0 && beside.extent * f.of.sources[c].bytes_per_element % bytes_of_piece != 0);
    }
  if (passing_bytes(f) == 0)
    return no("no column has an element for each row and column");
  if (!f.commutative)
    return no("a fold that does not commute folds every row of a leaf before the next");
  if (f.exact)
    return no("exact sums have windows, not lanes");
  if (f.checked)
    return no("checked sums tell of their overflow beside their answers");
  if (!fills_row_of_tiles(f, anywhere) || !fills_tiles(f))
    return no("{0} rows of {1} elements leave most of a tile empty", down.extent, beside.extent);
  if (!counts_in_little(f))
    return no("too many of {0} columns are in a chunk that is not full, where a fold divides by how many elements it has seen", beside.extent);
  if (width < mixed_folding_threads)
    return no("a leaf of {0} elements is less than one for each thread", width);
  return true;
}

/// Bytes of a tile: a leaf's rows of a leaf's width, and a piece more of each row that begins anywhere, which the shares of a last chunk have as many more of.
constexpr i64 mixed_tile_bytes(mixed_facts const& f, mixed_plan const& p) {
  i64 of_row = passing_bytes(f) * f.of.elements_per_leaf();
  for (int c = 0; p.begins_anywhere && c < f.of.source_count; ++c)
    of_row += passes(f, c) ? bytes_of_piece * p.shares_of_last_chunk : 0;
  return of_row * f.of.rows_per_leaf;
}
/// Bytes of the rows of a unit, whose states stay beside the tiles until the last: as many rows as a leaf has elements at the most. Leaves of the whole that
/// begin in them stay behind them.
constexpr i64 mixed_row_bytes(mixed_facts const& f, mixed_plan const& p) {
  return p.whole == whole_from::leaves ? i64(f.apart_bytes) * f.of.elements_per_leaf() + bytes_of_piece : i64(f.along_bytes) * f.of.elements_per_leaf();
}

/// Bands of a batch whose parts of the whole reach from one into the next, at most: what one block folds of them in the end is short beside the read (reckoned).
inline constexpr int most_ragged_bands = 1024;

/// What the folds of the whole are made of, if they can join. Leaves that begin anywhere beside columns of small elements, whose kernel is bound by instructions,
/// take longer than a read of their own: sums of 65536 x 4097 bf16 421 us, apart 406, without the columns 233 and 261; f32 396 and 556. So do those of short
/// rows: f32 2097152 x 128 columns and all 532, apart 490, 2080832 x 129 columns, rows and all 882, the whole apart 678, 1052688 x 255 534, 550 (docs/measured/mixed_h200.md).
constexpr bool choose_whole(mixed_facts const& f, mixed_plan& p, why_not_list& why) {
  i64 const width = f.of.elements_per_leaf(), columns = axis_beside(f).extent, rows = f.columns.extent, chunks = (columns - 1) / width + 1;
  auto const no = [&](char const* sentence, i64 b = 0) {
    p.whole_of_each = false;
    why.add("total in the same read", sentence, -1, columns, b);
    return false;
  };
  p.whole_of_each = f.batched && f.whole_of_each;
  if (!p.whole_of_each && !is_by_matrix(f) && !f.whole_in_any_order)
    return no("the rows of a matrix are not those that lie one behind the other");
  if (i64 const bands = matrices_of(f) * ((rows - 1) / width + 1); !p.whole_of_each && rows % parts_of_group != 0 && f.batched && bands > most_ragged_bands)
    return no("in {1} bands parts of the whole reach from one into the next, and one block would fold those", bands);
  bool const whole_leaves = columns % width == 0;
  p.whole = f.whole_in_any_order || (whole_leaves && (chunks & (chunks - 1)) == 0) ? whole_from::rows : whole_leaves ? whole_from::leaves_of_rows : whole_from::leaves;
  if (p.whole != whole_from::leaves)
    return true;
  if (p.whole_of_each && (!is_by_matrix(f) || rows * columns % width != 0))
    return no("a row of {0} elements is no whole leaves, and matrices do not begin where leaves of all do");
  if (16 * columns < 3 * width)
    return no("a row of {0} elements is no whole leaves, and so short that its leaves take longer than in a read of their own");
  if (f.of.lanes_per_group > 4 && (f.folds_columns || (columns < width && most_shares(f) > 1)))
    return no("a row of {0} elements is no whole leaves, and beside columns of elements so small, or in short rows, its leaves take longer than in a read of their own");
  for (int c = 0; c < f.of.source_count; ++c)
    if (i64 const size = f.of.sources[c].bytes_per_element; size > 0) {
      if (p.stands_beside(c) || f.columns.reduced[0].steps[c] != columns || (f.batched && f.columns.kept[0].steps[c] != rows * columns))
        return no("a row of {0} elements is no whole leaves, and not every column has one row behind the other");
      if (f.of.sources[c].address_alignment < least_of(16, size * f.of.lanes_per_group))
        return no("a row of {0} elements is no whole leaves, and a column begins where none is aligned");
    }
  return true;
}

/// Tiles of a block, at most; where two blocks share a multiprocessor two each, because more that are asked for come later and blocks end further
/// apart (docs/measured/mixed_h200.md, 2026-11-23), or three of rows that begin anywhere in one chunk, whose whole finds what lies behind a tile in the next one: us, columns,
/// rows and all of f32, with two and with three, 262144 x 1023 337, 321, 500000 x 513 498, 483; of several chunks 65536 x 4097 364, 412; of aligned rows 262144 x 1024 265, 270;
/// columns and rows of bf16 130000 x 2000 159, 171 (H200, 2026-11-29 13:02 and 13:08, build/bench/domains_of_matrix).
constexpr int most_mixed_stages(mixed_facts const& f, mixed_plan const& p) {
  bool const one_chunk = axis_beside(f).extent <= f.of.elements_per_leaf();
  return p.blocks_per_multiprocessor == 1 ? 6 : p.begins_anywhere && one_chunk && f.of.lanes_per_group <= 4 ? 3 : 2;
}

/// Bytes of a copy of rows, a power of two up to 16 that divides where every row begins and ends, in every column that does not stand.
constexpr i64 bytes_of_row_copies(mixed_facts const& f, mixed_plan const& p) {
  axes_facts const grid{f.of, f.columns};
  i64 bytes = 16;
  for (int c = 0; c < f.of.source_count; ++c)
    if (i64 const size = f.of.sources[c].bytes_per_element; size > 0 && !p.stands_beside(c))
      while (alignment_in_grid(grid, c) < bytes || axis_beside(f).extent * size % bytes != 0)
        bytes /= 2;
  return bytes;
}

/// How many lanes a tile has: where a matrix has fewer rows than a leaf has elements as many as fill it.
constexpr void choose_lanes_of_tile(mixed_facts const& f, mixed_plan& p) {
  i64 const width = f.of.elements_per_leaf(), rows = f.columns.extent, lanes = 32 * f.of.lanes_per_group;
  while (rows < width && i64(p.lanes_of_tile) * 2 * ((rows - 1) / lanes + 1) <= f.of.rows_per_leaf)
    p.lanes_of_tile *= 2;
}

/// Whether the units of a last chunk that is not full come behind those of all others, to end with the last of them, and fold in shares where they can. Leaves of the whole that
/// begin in other chunks find less in L2 then, which only a chunk of few columns makes up for: us, columns, rows and all of f32 in a row and with the last chunk behind, 65536 x 4097 352,
/// 304, 244032 x 1100 402, 363, 178944 x 1500 350, 405, 59648 x 4500 335, 360 (H200, 2026-11-29, docs/measured/mixed_h200.md).
constexpr bool is_last_chunk_behind(mixed_facts const& f, mixed_plan const& p) {
  i64 const last = columns_of_last_chunk(f), width = f.of.elements_per_leaf();
  return last < width && (p.whole != whole_from::leaves || 8 * last <= width || axis_beside(f).extent < width);
}

/// Who copies rows, how many tiles are on their way, and the blocks that share a multiprocessor: two where their tiles and the open lanes of their columns fit,
/// which hides where each begins and ends.
constexpr bool choose_mixed_tiles(mixed_facts const& f, mixed_planned& out) {
  choose_standing(f, out.plan);
  i64 const copies = bytes_of_row_copies(f, out.plan);
  bool const engine = f.of.target.compute_major >= 9;
  if (copies < 4 && !engine) {
    out.why_not.add("one read", "rows begin at multiples of {0} bytes, and threads copy 4 ahead at the least", -1, copies);
    return false;
  }
  out.plan.bytes_per_copy = engine ? 0 : int(copies);
  out.plan.begins_anywhere = engine && copies < bytes_of_piece;
  if (!f.total || !choose_whole(f, out.plan, out.why_not))
    out.plan.whole = whole_from::nothing;
  choose_lanes_of_tile(f, out.plan);
  if (is_last_chunk_behind(f, out.plan))
    out.plan.shares_of_last_chunk = most_shares(f);
  i64 const tile = mixed_tile_bytes(f, out.plan), room = f.of.target.shared_bytes_per_block - 2048;
  i64 const own_beside = mixed_row_bytes(f, out.plan) + standing_bytes(f.of, out.plan, f.of.elements_per_leaf()), beside = own_beside + f.bytes_beside;
  bool const two_fit = 6 * tile <= room && (f.bytes_beside == 0 || 4 * tile + 2 * begin_of_tables(beside) <= room);
  out.plan.blocks_per_multiprocessor = two_fit && f.column_words <= 64 && f.along_bytes <= 16 ? 2 : 1;
  i64 const fit = (room / out.plan.blocks_per_multiprocessor - beside) / tile;
  if (fit < 2) {
    out.why_not.add("one read", "two tiles and what is beside them take {0} bytes of shared memory, a block has {1}", -1, 2 * tile + beside, room);
    return false;
  }
  out.plan.stages = int(least_of(fit, most_mixed_stages(f, out.plan)));
  i64 const own = out.plan.stages * tile + own_beside;
  out.begin_of_tables = begin_of_tables(own);
  out.shared_bytes = f.bytes_beside > 0 ? out.begin_of_tables + f.bytes_beside : own;
  out.plan.batched = f.batched;
  out.plan.reads_ahead = f.of.queued && f.of.target.compute_major >= 9;
  return true;
}

/// Hundredths of the time of a chip that units take: so many full ones, and behind them others that take so many eighths of their time.
constexpr i64 percent_of_chip(i64 full, i64 others, i64 eighths, i64 at_once) {
  i64 const waves = (full + at_once - 1) / at_once, beside = (waves * at_once - full) * (8 / eighths); // others that are done when the last full one is
  i64 const behind = others > beside ? (others - beside - 1) / at_once + 1 : 0;
  return 100 * (8 * full + eighths * others) / (at_once * (8 * waves + eighths * behind));
}

/// Units: whole bands where they fill the chip evenly, else halves of them and so on.
constexpr void cut_mixed(mixed_facts const& f, mixed_planned& out) {
  mixed_cut& cut = out.cut;
  i64 const width = f.of.elements_per_leaf(), all_lanes = 32 * f.of.lanes_per_group;
  cut.matrices = matrices_of(f);
  cut.rows = f.columns.extent;
  cut.columns = axis_beside(f).extent;
  for (int c = 0; c < f.of.source_count; ++c) {
    cut.row_steps[c] = f.columns.reduced[0].steps[c];
    cut.matrix_steps[c] = f.batched ? f.columns.kept[0].steps[c] : 0;
  }
  cut.row_apart = is_by_matrix(f) ? 1 : cut.matrices;
  cut.matrix_apart = is_by_matrix(f) ? cut.rows : 1;
  cut.bands = int((cut.rows - 1) / width + 1);
  cut.chunks = int((cut.columns - 1) / width + 1);
  i64 const at_once = i64(f.of.target.multiprocessors) * out.plan.blocks_per_multiprocessor;
  i64 const lanes = cut.bands == 1 ? least_of(power_of_two_from(cut.rows), all_lanes) : all_lanes;
  cut.chunks_in_front = is_last_chunk_behind(f, out.plan) ? cut.chunks - 1 : cut.chunks;
  i64 const eighths = (8 * columns_of_last_chunk(f) - 1) / width + 1;
  i64 splits = 1;
  for (; splits * 16 < lanes; splits *= 2) {
    i64 const slots = cut.matrices * cut.bands * splits;
    if (slots * cut.chunks >= 4 * at_once || percent_of_chip(slots * cut.chunks_in_front, slots * (cut.chunks - cut.chunks_in_front), eighths, at_once) >= 85)
      break;
  }
  cut.lanes_of_band = int(lanes);
  cut.splits = int(splits);
  cut.lanes_of_unit = int(lanes / splits);
  cut.slots_of_group = group_of_slots(cut.slots());
  cut.chunks_of_group = group_of_slots(cut.chunks);
  i64 const rows = cut.matrices * cut.rows;
  cut.wholes = out.plan.whole_of_each ? cut.matrices : 1;
  cut.parts_of_wholes = out.plan.whole == whole_from::nothing          ? 0
                        : out.plan.whole == whole_from::rows           ? rows
                        : out.plan.whole == whole_from::leaves_of_rows ? rows * cut.chunks
                                                                       : (rows * cut.columns - 1) / width + 1;
  cut.groups_of_whole = (cut.parts_of_wholes / cut.wholes - 1) / parts_of_group + 1;
  i64 const parts_of_lanes = cut.parts_of_wholes / rows * cut.lanes_of_unit, ragged = cut.matrices * ((cut.rows - 1) / cut.lanes_of_unit);
  bool const by_units = cut.splits > 1 && parts_of_lanes >= 8 * parts_of_group && ragged <= most_ragged_bands; // few groups reach out of a run (reckoned)
  cut.make_runs_of(by_units ? cut.lanes_of_unit : int(width));
}

/// Whether one read is worth it: there are two domains at least, and, where the columns are none of them, more than the second finds in L2. H200,
/// 2026-11-25, tests/bench/together.py, us together and apart: rows and whole of 64 MiB 63, 73, of 1 GiB 319, 544; rows and a histogram of 1024 bins of
/// 64 MiB 123, 113, of 1 GiB 580, 697.
constexpr bool is_worth_tiles(mixed_facts const& f, mixed_planned& out) {
  int const domains = int(f.folds_columns) + int(f.rows) + int(out.total_joins()) + int(f.bytes_beside > 0);
  i64 const bytes = out.cut.matrices * out.cut.rows * out.cut.columns * passing_bytes(f), in_l2 = f.of.target.l2_bytes * (f.bytes_beside > 0 ? 2 : 1);
  bool const found = f.rows && !f.folds_columns && bytes <= in_l2;
  if (domains > 1 && found)
    out.why_not.add("one read", "{0} bytes of rows are read along them, and again while L2 holds most", -1, bytes);
  bool const few = out.plan.few_columns == 0 && out.cut.columns < f.of.elements_per_leaf() && out.blocks() < f.of.target.multiprocessors; // nothing shorter was measured
  if (domains > 1 && few)
    out.why_not.add("one read", "{0} blocks of rows that leave a part of their tiles empty do not fill the chip", -1, out.blocks());
  return domains > 1 && !found && !few;
}

} // namespace planning

/// Plans the read of a matrix of at least one element.
constexpr mixed_planned make_mixed_plan(mixed_facts const& f) {
  mixed_planned out{};
  out.joins = planning::choose_few_columns(f, out);
  if (out.joins) {
    planning::cut_few_columns(f, out);
  } else {
    out.joins = planning::can_mix(f, out.why_not) && planning::choose_mixed_tiles(f, out);
    if (out.joins)
      planning::cut_mixed(f, out);
  }
  out.joins = out.joins && planning::is_worth_tiles(f, out) && out.blocks() < 0x7fffffff;
  return out;
}

} // namespace tally::v0
