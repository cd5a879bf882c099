// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The route "mixed" of a matrix of few columns: columns, rows and total in one read, to the bits that each would have alone. Layer 4. Every block folds the rows of one unit to their
// answers; units meet in the columns and in the total.
#pragma once

#include <tally/fold/folds.hpp>
#include <tally/kernel/answers.cuh>
#include <tally/kernel/few_columns_unit.cuh>
#include <tally/kernel/launch_order.cuh>
#include <tally/kernel/mixed_meeting.cuh>
#include <tally/kernel/shared_room.cuh>

namespace tally::v0::kernel {

/// Takes what `mixed` does, of a matrix alone.
template <mixed_plan P, class Columns, class ColumnNodes, class Rows, class RowNodes, class Total, class Result>
__global__ void __launch_bounds__(mixed_threads, P.blocks_per_multiprocessor)
    few_columns(__grid_constant__ Columns const down, __grid_constant__ ColumnNodes const column_nodes, __grid_constant__ Rows const rows,
                __grid_constant__ RowNodes const row_nodes, __grid_constant__ Total const total, __grid_constant__ mixed_cut const cut, answer_arrays const to_columns,
                answer_arrays const to_rows, __grid_constant__ Result const to_total, mixed_places const at, launch_order const) {
  static_assert(!P.batched && !P.reads_ahead && (P.whole == whole_from::nothing || P.whole == whole_from::leaves));
  constexpr leaf_shape shape = shape_of<Columns>;
  unsigned char* const room = room_of_block();
  int const slot = int(blockIdx.x);
  auto const room_for = mixed_room<Columns, Rows, Total>(cut, at, 1, 0, 1);
  auto const row_done = [&]([[maybe_unused]] typename Rows::states const& s, [[maybe_unused]] i64 row) {
    if constexpr (Rows::leaf_count > 0)
      write_answers(rows, row_nodes, s, cut.columns, to_rows, row);
  };
  if ((i64(slot) + 1) * cut.bands_of_unit * shape.elements() <= cut.rows)
    fold_few_columns<P, true>(down, rows, total, cut, slot, room_for, room, row_done);
  else
    fold_few_columns<P, false>(down, rows, total, cut, slot, room_for, room, row_done);
  slot_meeting const below{slot, cut.slots(), cut.slots_of_group, room_for.column_arrivals};
  [[maybe_unused]] bool const last = comes_last(below.of_group());
  if constexpr (Columns::leaf_count > 0)
    if (last)
      meet_slots(
          down, room_for.columns, room_for.column_groups, cut.columns, below, int(cut.columns), [](int c) { return i64(c); },
          [&](i64 column, typename Columns::states const& s) { write_answers(down, column_nodes, s, cut.rows, to_columns, column); });
  if constexpr (P.whole != whole_from::nothing)
    meet_whole<P>(total, cut, room_for, 0, slot, room, to_total);
}

} // namespace tally::v0::kernel
