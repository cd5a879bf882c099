// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of a tile, the rows of a table that keys name, and the threads that share them: what the rungs of the ladder have in
// common. Layer 2.
#pragma once

#include <tally/primitive/window.cuh>

namespace tally::inline v0::primitive {

/// Rows in memory: row r begins at first + r * stride; lengths and strides in elements.
template <class T>
struct tile_of_rows {
  T const* first;
  i64 rows;
  i64 stride;
  int columns;
};

/// Where rows go: row r of the tile is folded into the row at table + keys[r] * stride.
template <class T, class Key>
struct rows_by_key {
  T* table;
  i64 stride;
  Key const* keys;
  bool larger_than_l2 = false; ///< the lines of the table are asked for while the tile is loaded

  /// The same in the running block's copy of the table: many rows to few keys wait for each other, and less so when
  /// blocks spread them over copies (fold_copies brings them together).
  __device__ __forceinline__ rows_by_key spread(T* copies, int number, i64 elements_per_copy) const {
    return {copies + i64(blockIdx.x % unsigned(number)) * elements_per_copy, stride, keys};
  }
};

/// Threads that share the work: the rank of this one among how many; whole warps.
struct crew {
  i64 rank, size;
  __device__ static __forceinline__ crew of_grid() {
    return {i64(blockIdx.x) * blockDim.x + threadIdx.x, i64(gridDim.x) * blockDim.x};
  }
  __device__ static __forceinline__ crew of_block() { return {i64(threadIdx.x), i64(blockDim.x)}; }
};

namespace verbs {
template <operation Op, class T, bool OneByOne>
inline constexpr int window_elements = OneByOne ? 1 : red_elements<Op, T, compiled_for>;

/// Every row of a table is aligned to N bytes, and so is every row of the tile.
template <int N, class T, class Key>
__device__ __forceinline__ bool all_aligned(rows_by_key<T, Key> const& to, tile_of_rows<T> const& from) {
  return (u64(to.table) | u64(to.stride * i64(sizeof(T))) | u64(from.first) | u64(from.stride * i64(sizeof(T)))) % N ==
         0;
}

/// The binary logarithm of the lanes that share a row of so many windows, 0 to 5.
__device__ __forceinline__ int lanes_log(int windows) {
  return windows <= 1 ? 0 : windows > 16 ? 5 : 32 - __clz(windows - 1);
}

} // namespace verbs

} // namespace tally::inline v0::primitive
