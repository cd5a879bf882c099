// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The route "mixed": columns, rows and total of one matrix in one read, to the bits that each would have alone. Layer 4. Every block folds one unit; units that share rows or
// columns meet.
#pragma once

#include <tally/kernel/answers.cuh>
#include <tally/kernel/mixed_meeting.cuh>
#include <tally/kernel/mixed_unit.cuh>
#include <tally/kernel/narrow_unit.cuh>
#include <tally/kernel/shared_room.cuh>

namespace tally::v0::kernel {

/// The folds of the whole, or none of them.
template <bool All, class Columns, class... Leaves>
__device__ __forceinline__ auto folds_if(program<Columns, Leaves...> const& total) {
  if constexpr (All)
    return total;
  else
    return program<Columns>{total.columns, 0, 0, {}};
}

/// Columns, rows and total of a matrix, as far as their programs have leaves. The result says where the total goes. Keys: folds by key beside them, whose tables are in shared memory behind tiles and rows.
template <mixed_plan P, class Columns, class ColumnNodes, class Rows, class RowNodes, class Total, class Result, class... Keys>
__global__ void __launch_bounds__(mixed_threads, P.blocks_per_multiprocessor)
    mixed(__grid_constant__ Columns const down, __grid_constant__ ColumnNodes const column_nodes, __grid_constant__ Rows const rows,
          __grid_constant__ RowNodes const row_nodes, __grid_constant__ Total const total, __grid_constant__ mixed_cut const cut,
          answer_arrays const to_columns, answer_arrays const to_rows, __grid_constant__ Result const to_total, mixed_places const at,
          [[maybe_unused]] launch_order const order, __grid_constant__ Keys const... keys) {
  static_assert(sizeof...(Keys) == 0 || !P.reads_ahead, "the tables of all are emptied by the launch in front");
  unsigned char* const room = room_of_block();
  tables_beside<Keys...> const tables(room, keys...);
  tables.open();
  constexpr leaf_shape shape = shape_of<Columns>;
  auto const along = beside_each_other(down.columns, rows, folds_if<P.whole == whole_from::rows || P.whole == whole_from::leaves_of_rows>(total));
  using Along = cuda::std::remove_cvref_t<decltype(along)>;
  static_assert(Along::leaf_count > 0 || P.whole == whole_from::leaves || sizeof...(Keys) > 0, "columns alone are folded by threads across groups");
  int const block = int(blockIdx.x), in_front = int(matrices_of<P>(cut)) * cut.slots() * cut.chunks_in_front;
  int const chunk = block < in_front ? block % cut.chunks_in_front : cut.chunks_in_front, slot_of_all = block < in_front ? block / cut.chunks_in_front : block - in_front;
  i64 const matrix = P.batched ? slot_of_all / cut.slots() : 0;
  int const slot = P.batched ? slot_of_all % cut.slots() : slot_of_all;
  auto const room_for = mixed_room<Columns, Along, Total>(cut, at, matrices_of<P>(cut), matrix, P.whole_of_each ? cut.matrices : 1);
  if constexpr (P.reads_ahead)
    begins_ahead(order, P.bytes_per_copy == 0);
  i64 const rows_left = cut.rows - i64(slot / cut.splits) * shape.elements(); // from the first of the band on
  int const lanes_to_end = (slot % cut.splits + 1) * cut.lanes_of_unit;
  bool const has_rows = rows_left >= (shape.rows / P.lanes_of_tile - 1) * shape.lanes() + lanes_to_end;
  if (has_rows && (i64(chunk) + 1) * shape.elements() <= cut.columns) {
    fold_unit<P, true, Rows::leaf_count>(down, along, total, cut, matrix, slot, chunk, room_for, room, tables);
  } else if (P.shares_of_last_chunk > 1 && has_rows) {
    if constexpr (P.shares_of_last_chunk > 1)
      fold_narrow_unit<P, Rows::leaf_count>(down, along, total, cut, matrix, slot, chunk, room_for, room, tables);
  } else
    fold_unit<P, false, Rows::leaf_count>(down, along, total, cut, matrix, slot, chunk, room_for, room, tables);
  tables.give();
  slot_meeting const below{slot, cut.slots(), cut.slots_of_group, room_for.column_arrivals + i64(chunk) * (cut.slot_groups() + 1)};
  slot_meeting const beside{chunk, cut.chunks, cut.chunks_of_group, room_for.row_arrivals + i64(slot) * (cut.chunk_groups() + 1)};
  constexpr int meetings = P.whole == whole_from::leaves || P.whole == whole_from::leaves_of_rows ? 3 : 2;
  arrival comes[meetings] = {below.of_group(), beside.of_group()};
  if constexpr (meetings > 2)
    comes[2] = {room_for.run_arrivals + slot / cut.slots_of_run, cut.slots_of_run * cut.chunks};
  bool last[meetings]{};
  come(comes, last);
  auto const meet_total = [&](int runs) {
    if constexpr (P.whole != whole_from::nothing)
      meet_whole<P>(total, cut, room_for, matrix, runs, room, to_total);
  };
  if constexpr (Along::leaf_count > 0)
    if (last[1])
      meet_rows<Rows>(along, folds_if<P.whole == whole_from::rows>(total), cut, room_for, beside, slot, matrix * cut.rows,
                      [&](typename Rows::states const& s, i64 row) {
                        if constexpr (Rows::leaf_count > 0)
                          write_answers(rows, row_nodes, s, cut.columns, to_rows, row_of_source<P>(cut, matrix, row));
                      },
                      meet_total);
  if constexpr (Columns::leaf_count > 0)
    if (last[0])
      meet_columns(down, cut, room_for, below, chunk,
                   [&](typename Columns::states s, i64 column) {
                     if constexpr (P.lanes_of_tile > 1)
                       for (int lanes = cut.lanes_of_band; lanes < shape.lanes(); lanes *= 2)
                         s = down.combine(s, down.identity());
                     write_answers(down, column_nodes, s, cut.rows, to_columns, matrix * cut.columns + column);
                   });
  if constexpr (meetings > 2)
    if (last[2])
      meet_total(slot / cut.slots_of_run);
}

} // namespace tally::v0::kernel
