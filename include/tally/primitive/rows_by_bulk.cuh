// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of a tile through shared memory into the rows of a table: whole windows of 16 bytes by the bulk engine, the ends of a
// row by red; each warp has a ring. Layer 2.
#pragma once

#include <tally/primitive/rows.cuh>
#include <tally/primitive/store_sum_ring.cuh>

namespace tally::v0::primitive::verbs {

/// Rows of at most a stage; the warps of the crew take turns of up to 32 rows.
template <operation Op, int Stages, class T, class Key>
__device__ __forceinline__ void rows_by_bulk(rows_by_key<T, Key> to, tile_of_rows<T> from, crew who,
                                             unsigned char* room, bulk_bytes per_stage) {
  constexpr int V = 16 / int(sizeof(T));
  int const slot_windows = (from.columns + V - 1 + V - 1) / V;
  int const fit = int(per_stage.count()) / (slot_windows * 16);
  int const rows_per_turn = fit < 32 ? fit : 32;
  int const log = lanes_log(slot_windows), step = 1 << log;
  int const lane = int(threadIdx.x % 32);
  i64 const warps = who.size / 32;
  store_sum_ring<Stages, circle::warp> ring(room, per_stage);
  for (i64 first = who.rank / 32 * rows_per_turn; first < from.rows; first += warps * rows_per_turn) {
    i64 const left = from.rows - first;
    int const rows = left < rows_per_turn ? int(left) : rows_per_turn;
    ring.turn(
        [&](unsigned char* at) {
          for (int r = lane >> log; r < rows; r += 32 >> log) {
            T* const into = to.row(first + r);
            T const* const out = from.first + (first + r) * from.stride;
            int const shift = shift_of<V>(into);
            for (int w = lane & (step - 1); w < slot_windows; w += step) {
              int const begin = w * V - shift, low = -begin, high = from.columns - begin;
              auto const window = load_window<V, true>(out + begin, low, high);
              if (low <= 0 && high >= V)
                *reinterpret_cast<uint4*>(at + (r * slot_windows + w) * 16) = window;
              else
                fold_window<folding<Op>, V>(into + begin, window, low, high);
            }
          }
        },
        [&](unsigned char* at) {
          if (lane >= rows) return;
          T* const into = to.row(first + lane);
          int const shift = shift_of<V>(into);
          int const begin = shift == 0 ? 0 : 1, end = (shift + from.columns) / V;
          if (end > begin)
            reduce<Op>(in_global(into + (begin * V - shift)),
                       in_shared(reinterpret_cast<T const*>(at + (lane * slot_windows + begin) * 16)),
                       bulk_bytes::within(i64(end - begin) * 16));
        });
  }
  ring.finish();
}

} // namespace tally::v0::primitive::verbs
