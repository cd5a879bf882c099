// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of a tile through registers into the rows of a table, by `red` of vectors or of words. Layer 2. Loads are issued
// before the first red; where the table is larger than L2, its lines are asked for meanwhile.
#pragma once

#include <tally/primitive/prefetch.cuh>
#include <tally/primitive/rows.cuh>

namespace tally::v0::primitive::verbs {

/// Whether this lane asks for the line of L2 that a window lies in: the first of the line, or any of a short row.
template <int V, class T>
__device__ __forceinline__ bool asks_for_line(int window, int step) {
  constexpr int per_line = 128 / int(V * sizeof(T));
  return window % per_line == 0 || step < per_line;
}

/// One window of a row: whole windows of aligned rows take no questions.
template <class How, int V, bool Whole, class T, class Hint>
struct row_window {
  T* to;
  int low, high; ///< the elements that exist
  window_t<T, V> value;

  row_window() = default;
  /// The window `w` of the row at `row`.
  __device__ __forceinline__ row_window(T* row, int w, int columns) {
    int const begin = w * V - (Whole ? 0 : shift_of<V>(row));
    to = row + begin;
    low = -begin;
    high = columns - begin;
  }
  /// Its values are where `row` of the tile begins.
  __device__ __forceinline__ void load(T const* row) {
    if constexpr (Whole)
      value = load_whole<V, true>(row - low);
    else
      value = load_window<V, true>(row - low, low, high);
  }
  /// Its line of the table is asked for.
  __device__ __forceinline__ void ask() const {
    if constexpr (How::to == space::global) prefetch_line(in_global(to));
  }
  __device__ __forceinline__ void fold(Hint hint) const {
    if constexpr (Whole)
      fold_whole<How, V>(to, value, hint);
    else
      fold_window<How, V>(to, value, low, high, hint);
  }
};

/// Rows of at most 32 windows through registers, by red. A group of lanes takes a row, and a few rows are on their way.
template <class How, int V, bool Whole, int Batch, class To, class T, class Hint>
__device__ __forceinline__ void short_rows_by_red(To to, tile_of_rows<T> from, int windows, crew who,
                                                  Hint hint) {
  int const log = lanes_log(windows), step = 1 << log;
  i64 const groups = who.size >> log;
  int const w = int(who.rank) & (step - 1);
  if (w >= windows) return;
  bool const asks = to.is_far() && asks_for_line<V, T>(w, step);
  for (i64 first = who.rank >> log; first < from.rows; first += Batch * groups) {
    row_window<How, V, Whole, T, Hint> window[Batch];
    int live = 0;
#pragma unroll
    for (int k = 0; k < Batch; ++k) {
      i64 const r = first + k * groups;
      if (r < from.rows) live = k + 1;
      window[k] = {to.row(r < from.rows ? r : first), w, from.columns};
    }
#pragma unroll
    for (int k = 0; k < Batch; ++k) {
      if (k >= live) continue;
      if (asks) window[k].ask();
      window[k].load(from.first + (first + k * groups) * from.stride);
    }
#pragma unroll
    for (int k = 0; k < Batch; ++k)
      if (k < live) window[k].fold(hint);
  }
}

/// Longer rows: a warp takes a row, and a few windows of it are on their way.
template <class How, int V, bool Whole, int Batch, class To, class T, class Hint>
__device__ __forceinline__ void long_rows_by_red(To to, tile_of_rows<T> from, int windows, crew who,
                                                 Hint hint) {
  int const lane = int(who.rank) & 31;
  bool const asks = to.is_far() && asks_for_line<V, T>(lane, 32);
  for (i64 r = who.rank >> 5; r < from.rows; r += who.size >> 5) {
    T* const into = to.row(r);
    T const* const out = from.first + r * from.stride;
    for (int first = lane; first < windows; first += Batch * 32) {
      row_window<How, V, Whole, T, Hint> window[Batch];
#pragma unroll
      for (int k = 0; k < Batch; ++k) {
        if (first + k * 32 >= windows) continue;
        window[k] = {into, first + k * 32, from.columns};
        if (asks) window[k].ask();
        window[k].load(out);
      }
#pragma unroll
      for (int k = 0; k < Batch; ++k)
        if (first + k * 32 < windows) window[k].fold(hint);
    }
  }
}

/// `Whole`: the rows of both sides are aligned to windows, and have nothing but whole ones.
template <class How, int V, bool Whole, int Batch, class To, class T, class Hint>
__device__ __forceinline__ void rows_by_red(To to, tile_of_rows<T> from, crew who, Hint hint) {
  int const windows = Whole ? from.columns / V : (from.columns + V - 1 + V - 1) / V;
  if (windows <= 32)
    short_rows_by_red<How, V, Whole, Batch>(to, from, windows, who, hint);
  else
    long_rows_by_red<How, V, Whole, Batch>(to, from, windows, who, hint);
}

/// Rows that are one red narrower than V elements, all of them aligned to it: positions, pairs. Whether they were.
template <class How, int V, class To, class T, class Hint>
__device__ __forceinline__ bool narrow_rows_by_red(To to, tile_of_rows<T> from, crew who, Hint hint) {
  if constexpr (V > 2) {
    constexpr int H = V / 2;
    if (from.columns == H && all_aligned<int(H * sizeof(T))>(to, from)) {
      short_rows_by_red<How, H, true, 4>(to, from, 1, who, hint);
      return true;
    }
    return narrow_rows_by_red<How, H>(to, from, who, hint);
  }
  return false;
}

template <class How, int Bytes, class To, class T, class Hint>
__device__ __forceinline__ void rows_by_some_red(To to, tile_of_rows<T> from, crew who, Hint hint) {
  constexpr int V = window_elements<How::op, T, How::to, Bytes>;
  if constexpr (V > 1) {
    if (from.columns % V != 0 || !all_aligned<int(V * sizeof(T))>(to, from)) {
      if (!narrow_rows_by_red<How, V>(to, from, who, hint)) rows_by_red<How, V, false, 2>(to, from, who, hint);
      return;
    }
  }
  rows_by_red<How, V, true, 4>(to, from, who, hint);
}

} // namespace tally::v0::primitive::verbs
