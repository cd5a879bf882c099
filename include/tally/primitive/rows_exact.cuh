// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of floats into rows of 64-bit lanes, whose sums have the same bits in every order: by red lane by lane, or through
// shared memory and one bulk reduction a row; then the lanes into a table of floats, rounded once. Layer 2. What the unit and the
// bound of exact_unit do not let in is marked, and refuse_rows leaves nothing but NaN where there are marks.
#pragma once

#include <tally/base/exact_unit.hpp>
#include <tally/primitive/prefetch.cuh>
#include <tally/primitive/rows.cuh>
#include <tally/primitive/store_sum_ring.cuh>

namespace tally::v0::primitive {

/// Where rows go exactly: row r of the tile is added to the lanes at lanes + keys[r] * lanes_of_row(columns).
template <class T, integer Key>
struct exact_rows_by_key {
  i64* lanes; ///< aligned to 16 bytes, zeros before the first tile
  Key const* keys;
  exact_unit<accumulator_t<T>> unit;
  u32* marks; ///< zero before the first tile
  bool larger_than_l2 = false;
};

namespace verbs {
/// Leaves the marks of a warp; all its threads come.
__device__ __forceinline__ void leave_marks(u32* at, u32 marks) {
  marks = __reduce_or_sync(0xffffffffu, marks);
  if (marks != 0 && threadIdx.x % 32 == 0) red<operation::bit_or>(in_global(at), marks);
}

/// V elements of a row as lanes, of which those in [0, high) exist; the others are 0.
template <int V, class T>
__device__ __forceinline__ lanes<i64, V> exact_lanes_of(window_t<T, V> window, int high,
                                                        exact_unit<accumulator_t<T>> unit, u32& marks) {
  auto const elements = __builtin_bit_cast(lanes<T, V>, window);
  lanes<i64, V> sum;
#pragma unroll
  for (int i = 0; i < V; ++i) sum.at[i] = i < high ? unit.lane(widen(elements.at[i]), marks) : 0;
  return sum;
}

/// Element by element through registers; a group of lanes takes a row or a piece of it, and a few are on their way.
template <int Batch, class T, class Key>
__device__ __forceinline__ void exact_rows_by_red(exact_rows_by_key<T, Key> to, tile_of_rows<T> from, crew who,
                                                  u32& marks) {
  int const log = lanes_log(from.columns), step = 1 << log, per_row = (from.columns + step - 1) >> log;
  i64 const stride = lanes_of_row(from.columns), groups = who.size >> log, group = who.rank >> log;
  i64 const rows_on = groups / per_row, mine = group / per_row;
  int const pieces_on = int(groups - rows_on * per_row), begin = int(who.rank) & (step - 1);
  bool const asks = to.larger_than_l2 && (begin % 16 == 0 || step < 16);
  int piece = int(group - mine * per_row);
  for (i64 r = mine; r < from.rows;) {
    i64* into[Batch];
    T value[Batch];
#pragma unroll
    for (int k = 0; k < Batch; ++k) {
      int const c = piece * step + begin;
      into[k] = nullptr;
      if (r < from.rows && c < from.columns) {
        into[k] = to.lanes + i64(to.keys[r]) * stride + c;
        if (asks) prefetch_line(in_global(into[k]));
        value[k] = from.first[r * from.stride + c];
      }
      r += rows_on;
      piece += pieces_on;
      if (piece >= per_row) piece -= per_row, ++r;
    }
#pragma unroll
    for (int k = 0; k < Batch; ++k)
      if (into[k] != nullptr)
        red<operation::add>(in_global(reinterpret_cast<u64*>(into[k])), u64(to.unit.lane(widen(value[k]), marks)));
  }
}

/// Some columns of rows, from the `begun`th on, by the bulk engine: all the rows of a turn in one stage.
template <int Stages, int V, class T, class Key>
__device__ __forceinline__ void exact_rows_in_bulk(exact_rows_by_key<T, Key> to, tile_of_rows<T> from, i64 row_lanes,
                                                   crew who, unsigned char* room, bulk_bytes per_stage, u32& marks) {
  constexpr int Batch = V > 1 ? 4 : 8;
  int const windows = (from.columns + V - 1) / V, slot = int(lanes_of_row(windows * V));
  int const fit = int(per_stage.count()) / (slot * 8), rows_per_turn = fit < 32 ? fit : 32;
  int const log = lanes_log(windows), step = 1 << log, lane = int(threadIdx.x % 32), w0 = lane & (step - 1);
  int const per_row = (windows + step - 1) >> log, groups = 32 >> log; // windows that a lane takes, rows at a time
  auto const bytes = bulk_bytes::around(i64(from.columns) * 8);
  store_sum_ring<Stages, circle::warp> ring(room, per_stage);
  for (i64 first = who.rank / 32 * rows_per_turn; first < from.rows; first += who.size / 32 * rows_per_turn) {
    i64 const left = from.rows - first;
    int const rows = left < rows_per_turn ? int(left) : rows_per_turn;
    i64 const key = lane < rows ? i64(to.keys[first + lane]) : 0;
    int const items = ((rows + groups - 1) >> (5 - log)) * per_row;
    ring.turn(
        [&](unsigned char* at) {
          for (int item = 0; item < items; item += Batch) {
            window_t<T, V> window[Batch];
            int row[Batch], column[Batch];
#pragma unroll
            for (int k = 0; k < Batch; ++k) {
              int const i = item + k, turn = per_row == 1 ? i : i / per_row, w = (i - turn * per_row) * step + w0;
              row[k] = turn * groups + (lane >> log);
              column[k] = w * V;
              if (i >= items || w >= windows) row[k] = rows;
              if (row[k] >= rows) continue;
              T const* const p = from.first + (first + row[k]) * from.stride + column[k];
              window[k] = load_window<V, true>(p, 0, from.columns - column[k]);
            }
#pragma unroll
            for (int k = 0; k < Batch; ++k) {
              if (row[k] >= rows) continue;
              auto const sums = exact_lanes_of<V, T>(window[k], from.columns - column[k], to.unit, marks);
              i64* const into = reinterpret_cast<i64*>(at) + row[k] * slot + column[k];
              if constexpr (V == 1)
                *into = sums.at[0];
              else
#pragma unroll
                for (int i = 0; i < V; i += 2)
                  *reinterpret_cast<longlong2*>(into + i) = {sums.at[i], sums.at[i + 1]};
              if (V == 1 && column[k] + 1 == from.columns && from.columns % 2 != 0) into[1] = 0;
            }
          }
        },
        [&](unsigned char* at) {
          if (lane < rows)
            reduce<operation::add>(in_global(reinterpret_cast<u64*>(to.lanes + key * row_lanes)),
                                   in_shared(reinterpret_cast<u64 const*>(at) + lane * slot), bytes);
        });
  }
  ring.finish();
}
} // namespace verbs

/// Adds every row of a tile to the lanes that its key names, by red. All threads of the crew call it; lanes and marks are
/// seen when the kernel is over. The bits do not depend on the order of rows, nor on the crew.
template <floating T, class Key>
__device__ __forceinline__ void accumulate_exactly(exact_rows_by_key<T, Key> to, tile_of_rows<T> from,
                                                   crew who = crew::of_grid()) {
  u32 marks = 0;
  verbs::exact_rows_by_red<8>(to, from, who, marks);
  verbs::leave_marks(to.marks, marks);
}

/// The same through shared memory and the bulk engine, one reduction a row: `room` is aligned to 16 bytes and holds
/// `bytes_per_warp` for each warp of the block, at least 256. Rows longer than a stage are cut. sm_90.
template <floating T, class Key>
  requires bulk_reducible<operation::add, u64>
__device__ __forceinline__ void accumulate_exactly_in_bulk(exact_rows_by_key<T, Key> to, tile_of_rows<T> from,
                                                           unsigned char* room, int bytes_per_warp,
                                                           crew who = crew::of_grid()) {
  constexpr int stages = 2, V = 16 / int(sizeof(T));
  bulk_bytes const per_stage = bulk_bytes::within(bytes_per_warp / stages);
  room += threadIdx.x / 32 * (stages * per_stage.count());
  int const columns = from.columns, most = int(per_stage.count()) / 8 / 16 * 16;
  bool const aligned = (u64(from.first) | u64(from.stride * i64(sizeof(T)))) % 16 == 0;
  u32 marks = 0;
  for (int begun = 0; begun < columns; begun += most) {
    from.columns = columns - begun < most ? columns - begun : most;
    if (aligned)
      verbs::exact_rows_in_bulk<stages, V>(to, from, lanes_of_row(columns), who, room, per_stage, marks);
    else
      verbs::exact_rows_in_bulk<stages, 1>(to, from, lanes_of_row(columns), who, room, per_stage, marks);
    to.lanes += most;
    from.first += most;
  }
  verbs::leave_marks(to.marks, marks);
}

/// The lanes added to a table, each sum rounded once to nearest even, and the lanes zero again. A kernel of its own, after
/// those that add. Row k of the table begins at table + k * stride; a number of it whose sum is not zero must itself be a
/// multiple of the unit, of at most 2^62 of them.
template <floating T>
__device__ __forceinline__ void finish_exactly(T* table, i64 stride, i64 table_rows, int columns, i64* lanes,
                                               exact_unit<accumulator_t<T>> unit, u32* marks,
                                               crew who = crew::of_grid()) {
  i64 const pairs = lanes_of_row(columns) / 2;
  bool const dense = stride == 2 * pairs;
  u32 found = 0;
  for (i64 i = who.rank; i < table_rows * pairs; i += who.size) {
    i64 const k = dense ? 0 : i / pairs, c = 2 * (i - k * pairs);
    auto const at = reinterpret_cast<longlong2*>(lanes) + i;
    longlong2 const sum = __ldcs(at);
    if (sum.x == 0 && sum.y == 0) continue;
    __stcs(at, longlong2{0, 0});
    T* const to = table + k * stride + c;
    add_lane(to[0], sum.x, unit, found);
    if (sum.y != 0) add_lane(to[1], sum.y, unit, found);
  }
  if (found != 0) red<operation::bit_or>(in_global(marks), found);
}

/// Where marks were left, every number of a table becomes NaN: no sum is wrong in silence. A kernel of its own, the last.
template <floating T>
__device__ __forceinline__ void refuse_rows(T* table, i64 stride, i64 table_rows, int columns, u32 const* marks,
                                            crew who = crew::of_grid()) {
  if (*marks == 0) return;
  T const nan = T(cuda::std::numeric_limits<accumulator_t<T>>::quiet_NaN());
  for (i64 i = who.rank; i < table_rows * columns; i += who.size)
    table[i / columns * stride + i % columns] = nan;
}

/// The bits of the largest size of a tile's elements as accumulator_t<T> (zero before), by max: what exact_unit::of takes as its
/// bound where nobody declares one. Those of infinity and NaN are above those of every number. The order is nobody's.
template <floating T>
__device__ __forceinline__ void find_largest(u64* bits, tile_of_rows<T> from, crew who = crew::of_grid()) {
  u64 largest = 0;
  for (i64 i = who.rank; i < from.rows * from.columns; i += who.size) {
    i64 const r = i / from.columns;
    auto const x = widen(from.first[r * from.stride + (i - r * from.columns)]);
    constexpr int unsigned_bits = int(sizeof x) * 8 - 1;
    u64 const size = u64(bits_of(x)) & ((u64(1) << unsigned_bits) - 1);
    largest = size > largest ? size : largest;
  }
#pragma unroll
  for (int far = 16; far > 0; far /= 2) {
    u64 const other = __shfl_xor_sync(0xffffffffu, largest, far);
    largest = other > largest ? other : largest;
  }
  if (threadIdx.x % 32 == 0) red<operation::max>(in_global(bits), largest);
}

} // namespace tally::v0::primitive
