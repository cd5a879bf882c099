// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of a tile, the rows of a table that keys name, and the threads that share them: what the rungs of the ladder have in
// common. Layer 2.
#pragma once

#include <tally/primitive/window.cuh>

namespace tally::v0::primitive {

/// Rows in memory: row r begins at first + r * stride; lengths and strides in elements.
template <class T>
struct tile_of_rows {
  T const* first;
  i64 rows;
  i64 stride;
  int columns;
};

/// Where rows go: row r of the tile is folded into the row at table + keys[r] * stride, in global memory.
template <class T, integer Key>
struct rows_by_key {
  using element = T;
  static constexpr space where = space::global;
  T* table;
  i64 stride;
  Key const* keys;
  bool larger_than_l2 = false; ///< the lines of the table are asked for while the tile is loaded

  /// The same in the running block's copy of the table: many rows to few keys wait for each other, and less so when
  /// blocks spread them over copies (fold_copies brings them together).
  __device__ __forceinline__ rows_by_key spread(T* copies, int number, i64 elements_per_copy) const {
    return {copies + i64(blockIdx.x % unsigned(number)) * elements_per_copy, stride, keys};
  }
  __device__ __forceinline__ T* row(i64 r) const { return table + i64(keys[r]) * stride; }
  __device__ __forceinline__ bool is_far() const { return larger_than_l2; }
};

/// The same in the shared memory of the block, whose threads alone are the crew: a table of its own, to be brought to
/// global memory afterwards.
template <class T, integer Key>
struct rows_of_block {
  using element = T;
  static constexpr space where = space::shared_cta;
  T* table;
  i64 stride;
  Key const* keys;
  __device__ __forceinline__ T* row(i64 r) const { return table + i64(keys[r]) * stride; }
  __device__ __forceinline__ bool is_far() const { return false; }
};

/// The same in the shared memory of all blocks of the cluster, each of which has so many rows of the table, at the same
/// place: the row of key k is row k % rows_per_block of block k / rows_per_block. sm_90.
template <class T, integer Key>
struct rows_of_cluster {
  using element = T;
  static constexpr space where = space::shared_cluster;
  T* table;
  i64 stride;
  Key const* keys;
  int rows_per_block;
  __device__ __forceinline__ T* row(i64 r) const {
    i64 const key = i64(keys[r]);
    u32 const block = u32(key) / u32(rows_per_block);
    return in_cluster(table + (key - i64(block) * rows_per_block) * stride, block).at;
  }
  __device__ __forceinline__ bool is_far() const { return false; }
};

/// A table whose rows keys name.
template <class To>
concept keyed_table = requires { typename To::element; } && requires(To to) { to.row(0); };

/// Threads that share the work: the rank of this one among how many; whole warps.
struct crew {
  i64 rank, size;
  __device__ static __forceinline__ crew of_grid() {
    return {i64(blockIdx.x) * blockDim.x + threadIdx.x, i64(gridDim.x) * blockDim.x};
  }
  __device__ static __forceinline__ crew of_block() { return {i64(threadIdx.x), i64(blockDim.x)}; }
  __device__ static __forceinline__ crew of_cluster() {
    return {i64(own_rank()) * blockDim.x + threadIdx.x, i64(cluster_blocks()) * blockDim.x};
  }
  /// Those that can look into a space.
  template <space S>
  __device__ static __forceinline__ crew of() {
    if constexpr (S == space::shared_cta)
      return of_block();
    else if constexpr (S == space::shared_cluster)
      return of_cluster();
    else
      return of_grid();
  }
};

namespace verbs {
template <operation Op, class T, space To, int Bytes = 16>
inline constexpr int window_elements = red_elements<Op, T, compiled_for, To, Bytes>;

/// Every row of a table is aligned to N bytes, and so is every row of the tile.
template <int N, class To, class T>
__device__ __forceinline__ bool all_aligned(To const& to, tile_of_rows<T> const& from) {
  return (u64(to.table) | u64(to.stride * i64(sizeof(T))) | u64(from.first) | u64(from.stride * i64(sizeof(T)))) % N ==
         0;
}

/// The binary logarithm of the lanes that share a row of so many windows, 0 to 5.
__device__ __forceinline__ int lanes_log(int windows) {
  return windows <= 1 ? 0 : windows > 16 ? 5 : 32 - __clz(windows - 1);
}

} // namespace verbs

} // namespace tally::v0::primitive
