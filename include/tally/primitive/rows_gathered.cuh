// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exact sums of rows where the table is large and few rows meet: rows are filed under their keys first, then one group of
// threads reads all rows of a key and adds them up in registers, so that no table of lanes is read and written. Layer 2. A key
// has room for so many rows; further ones go to lanes, as in rows_exact.cuh, and are taken in with the key. Filing is in
// nobody's order, and the sums show none.
#pragma once

#include <tally/primitive/rows_exact.cuh>

namespace tally::v0::primitive {

/// Which rows of a tile have a key: its first `per_key` of them are at rows + key * per_key.
struct filed_rows {
  u32* counts;     ///< of each key; zero before, and after the rows were gathered
  u32* rows;       ///< aligned to 16 bytes
  u32 per_key;     ///< a multiple of 4
};

/// Files every row of a tile of fewer than 2^32; those that find no room are added to lanes. All threads of the crew call it.
template <floating T, class Key>
__device__ __forceinline__ void file_rows(filed_rows file, exact_rows_by_key<T, Key> rest, tile_of_rows<T> from,
                                          crew who = crew::of_grid()) {
  int const lane = int(threadIdx.x % 32);
  i64 const stride = lanes_of_row(from.columns);
  u32 marks = 0;
  for (i64 first = who.rank - lane; first < from.rows; first += who.size) {
    i64 const r = first + lane;
    i64 key = 0;
    bool late = false;
    if (r < from.rows) {
      key = i64(rest.keys[r]);
      u32 const rank = atomicAdd(file.counts + key, 1u);
      late = rank >= file.per_key;
      if (!late) file.rows[key * file.per_key + rank] = u32(r);
    }
    for (u32 left = __ballot_sync(0xffffffffu, late); left != 0; left &= left - 1) {
      int const other = __ffs(int(left)) - 1;
      i64* const into = rest.lanes + __shfl_sync(0xffffffffu, key, other) * stride;
      T const* const row = from.first + (first + other) * from.stride;
      for (int c = lane; c < from.columns; c += 32)
        red<operation::add>(in_global(reinterpret_cast<u64*>(into + c)), u64(rest.unit.lane(widen(row[c]), marks)));
    }
  }
  verbs::leave_marks(rest.marks, marks);
}

namespace verbs {
/// The filed rows of one key in the columns of one window.
template <int V, class T>
__device__ __forceinline__ lanes<i64, V> sum_of_filed(u32 const* filed, int rows, tile_of_rows<T> const& from, int column,
                                                      exact_unit<accumulator_t<T>> const& unit, u32& marks) {
  constexpr int Batch = 4;
  lanes<i64, V> sum{};
  for (int first = 0; first < rows; first += Batch) {
    uint4 const which = *reinterpret_cast<uint4 const*>(filed + first);
    u32 const row[Batch] = {which.x, which.y, which.z, which.w};
    window_t<T, V> window[Batch];
#pragma unroll
    for (int k = 0; k < Batch; ++k)
      if (first + k < rows) window[k] = load_whole<V, true>(from.first + i64(row[k]) * from.stride + column);
#pragma unroll
    for (int k = 0; k < Batch; ++k) {
      if (first + k >= rows) continue;
      auto const more = exact_lanes_of<V, T>(window[k], V, unit, marks);
#pragma unroll
      for (int i = 0; i < V; ++i) sum.at[i] += more.at[i];
    }
  }
  return sum;
}

/// A warp takes a turn of neighbouring keys: it asks for all their counts at once, then for what is filed under those that have rows and for
/// where they go, so that a key without rows costs no wait of its own, and one with rows waits for L2. A group of lanes adds up one of them.
template <int V, class T, class Key>
__device__ __forceinline__ void gather_keys(T* table, i64 stride, i64 table_rows, filed_rows file,
                                            exact_rows_by_key<T, Key> rest, tile_of_rows<T> from, crew who) {
  int const windows = from.columns / V, log = lanes_log(windows), step = 1 << log, groups = 32 >> log;
  int const lane = int(threadIdx.x % 32), w0 = lane & (step - 1);
  u32 const of_groups = u32((u64(1) << groups) - 1);
  i64 const warps = who.size / 32;
  int keys_per_turn = groups;
  while (keys_per_turn < 32 && warps * keys_per_turn < table_rows) keys_per_turn *= 2;
  u32 marks = 0;
  for (i64 first = who.rank / 32 * keys_per_turn; first < table_rows; first += warps * keys_per_turn) {
    i64 const own = first + lane;
    u32 count = 0;
    if (lane < keys_per_turn && own < table_rows) count = file.counts[own];
    if (count != 0) {
      prefetch_line(in_global(file.rows + own * file.per_key));
      file.counts[own] = 0;
    }
    u32 const filled = __ballot_sync(0xffffffffu, count != 0);
    for (int k = 0; k < keys_per_turn; k += groups) {
      if (((filled >> k) & of_groups) == 0) continue;
      int const of = k + (lane >> log);
      i64 const key = first + of;
      u32 const filed = __shfl_sync(0xffffffffu, count, of);
      int const rows = int(filed < file.per_key ? filed : file.per_key);
      for (int w = w0; w < windows && filed != 0; w += step) {
        auto const to = reinterpret_cast<window_t<T, V>*>(table + key * stride + w * V);
        prefetch_line(in_global(to));
        auto sum = sum_of_filed<V>(file.rows + key * file.per_key, rows, from, w * V, rest.unit, marks);
        if (filed > file.per_key) {
          i64* const late = rest.lanes + key * lanes_of_row(from.columns) + w * V;
#pragma unroll
          for (int i = 0; i < V; ++i) sum.at[i] += late[i], late[i] = 0;
        }
        auto numbers = __builtin_bit_cast(lanes<T, V>, *to);
#pragma unroll
        for (int i = 0; i < V; ++i) add_lane(numbers.at[i], sum.at[i], rest.unit, marks);
        *to = __builtin_bit_cast(window_t<T, V>, numbers);
      }
    }
  }
  if (marks != 0) red<operation::bit_or>(in_global(rest.marks), marks);
}
} // namespace verbs

/// Adds the rows that were filed to a table, each sum rounded once to nearest even, and leaves counts and lanes zero. A kernel
/// of its own; refuse_rows afterwards. Row k of the table begins at table + k * stride.
template <floating T, class Key>
__device__ __forceinline__ void gather_exactly(T* table, i64 stride, i64 table_rows, filed_rows file,
                                               exact_rows_by_key<T, Key> rest, tile_of_rows<T> from,
                                               crew who = crew::of_grid()) {
  constexpr int V = 16 / int(sizeof(T));
  u64 const any = u64(table) | u64(from.first) | u64(stride * i64(sizeof(T))) | u64(from.stride * i64(sizeof(T)));
  if (from.columns % V == 0 && any % 16 == 0)
    verbs::gather_keys<V>(table, stride, table_rows, file, rest, from, who);
  else
    verbs::gather_keys<1>(table, stride, table_rows, file, rest, from, who);
}

} // namespace tally::v0::primitive
