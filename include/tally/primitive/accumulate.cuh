// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ladder: fold a tile of rows into the rows of a table that their keys name, by the widest instruction the type, the
// operation and the chip have. Layer 2. Columns, strides and alignments are numbers of the run and cost no other kernel.
// The order of the additions is nobody's: sums of floats differ in their last bits from run to run (contract `fast`);
// integers, min and max do not.
#pragma once

#include <tally/primitive/store_sum_ring.cuh>
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

  /// The same in the running block's copy of the table: many rows to few keys wait for each other, and less so when
  /// blocks spread them over copies (fold_copies brings them together).
  __device__ __forceinline__ rows_by_key spread(T* copies, int number, i64 elements_per_copy) const {
    return {copies + i64(blockIdx.x % unsigned(number)) * elements_per_copy, stride, keys};
  }
};

/// Threads that share the work: the rank of this one among how many; whole warps.
struct crew {
  i64 rank, size;
  __device__ __forceinline__ static crew of_grid() {
    return {i64(blockIdx.x) * blockDim.x + threadIdx.x, i64(gridDim.x) * blockDim.x};
  }
  __device__ __forceinline__ static crew of_block() { return {i64(threadIdx.x), i64(blockDim.x)}; }
};

namespace verbs {
template <operation Op, class T, bool OneByOne>
inline constexpr int window_elements = OneByOne ? 1 : red_elements<Op, T, compiled_for>;

/// Every row of a table is aligned to N bytes, and so is every row of the tile.
template <int N, class T, class Key>
__device__ __forceinline__ bool all_aligned(rows_by_key<T, Key> const& to, tile_of_rows<T> const& from) {
  return (u64(to.table) | u64(to.stride * i64(sizeof(T))) | u64(from.first) | u64(from.stride * i64(sizeof(T)))) % N == 0;
}

/// The binary logarithm of the lanes that share a row of so many windows, 0 to 5.
__device__ __forceinline__ int lanes_log(int windows) {
  return windows <= 1 ? 0 : windows > 16 ? 5 : 32 - __clz(windows - 1);
}

/// Rows through registers, by red. A group of lanes takes a row; a few rows are on their way at once.
template <operation Op, int V, bool Aligned, int Batch, class T, class Key, class Hint>
__device__ __forceinline__ void rows_by_red(rows_by_key<T, Key> to, tile_of_rows<T> from, crew who, Hint hint) {
  int const windows = (from.columns + (Aligned ? 0 : V - 1) + V - 1) / V;
  int const log = lanes_log(windows), step = 1 << log;
  i64 const groups = who.size >> log;
  int const lane = int(who.rank) & (step - 1);
  for (i64 first = who.rank >> log; first < from.rows; first += Batch * groups) {
    T* into[Batch];
    T const* out[Batch];
    int shift[Batch];
    int live = 0;
#pragma unroll
    for (int k = 0; k < Batch; ++k) {
      i64 const r = first + k * groups;
      if (r < from.rows) live = k + 1;
      i64 const safe = r < from.rows ? r : first;
      into[k] = to.table + i64(to.keys[safe]) * to.stride;
      out[k] = from.first + safe * from.stride;
      shift[k] = Aligned ? 0 : shift_of<V>(into[k]);
    }
    for (int w = lane; w < windows; w += step) {
      lanes<T, V> window[Batch];
#pragma unroll
      for (int k = 0; k < Batch; ++k) {
        int const begin = w * V - shift[k];
        if (k < live) window[k] = load_window<V, true>(out[k] + begin, -begin, from.columns - begin);
      }
#pragma unroll
      for (int k = 0; k < Batch; ++k) {
        int const begin = w * V - shift[k];
        if (k < live) fold_window<Op, V>(into[k] + begin, window[k], -begin, from.columns - begin, hint);
      }
    }
  }
}

template <operation Op, bool OneByOne, class T, class Key, class Hint>
__device__ __forceinline__ void rows_by_some_red(rows_by_key<T, Key> to, tile_of_rows<T> from, crew who, Hint hint) {
  constexpr int V = window_elements<Op, T, OneByOne>;
  if (V == 1 || all_aligned<int(V * sizeof(T))>(to, from))
    rows_by_red<Op, V, true, 4>(to, from, who, hint);
  else
    rows_by_red<Op, V, false, 2>(to, from, who, hint);
}

/// Columns [from, from + count) of both sides.
template <class T, class Key>
__device__ __forceinline__ void skip_columns(rows_by_key<T, Key>& to, tile_of_rows<T>& from, int columns) {
  to.table += columns;
  from.first += columns;
}

/// Rows through shared memory, whole 16-byte windows by the bulk engine, the ends by red; each warp has a ring.
template <operation Op, int Stages, class T, class Key>
__device__ __forceinline__ void rows_by_bulk(rows_by_key<T, Key> to, tile_of_rows<T> from, crew who, unsigned char* room,
                                             bulk_bytes per_stage) {
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
            T* const into = to.table + i64(to.keys[first + r]) * to.stride;
            T const* const out = from.first + (first + r) * from.stride;
            int const shift = shift_of<V>(into);
            for (int w = lane & (step - 1); w < slot_windows; w += step) {
              int const begin = w * V - shift, low = -begin, high = from.columns - begin;
              auto const window = load_window<V, true>(out + begin, low, high);
              if (low <= 0 && high >= V)
                *reinterpret_cast<uint4*>(at + (r * slot_windows + w) * 16) = __builtin_bit_cast(uint4, window);
              else
                fold_lanes<Op, V>(into + begin, window, low, high);
            }
          }
        },
        [&](unsigned char* at) {
          if (lane >= rows) return;
          T* const into = to.table + i64(to.keys[first + lane]) * to.stride;
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
} // namespace verbs

/// Folds every row of a tile into the row of the table that its key names, through registers: by vectors where there are
/// some, else element by element. All threads of the crew call it; sums are seen when the kernel is over.
template <operation Op, class T, class Key, class Hint = no_policy>
  requires accumulable<Op, T>
__device__ __forceinline__ void accumulate(rows_by_key<T, Key> to, tile_of_rows<T> from, crew who = crew::of_grid(),
                                           Hint hint = {}) {
  verbs::rows_by_some_red<Op, false>(to, from, who, hint);
}

/// The same, element by element.
template <operation Op, class T, class Key, class Hint = no_policy>
  requires accumulable<Op, T>
__device__ __forceinline__ void accumulate_by_words(rows_by_key<T, Key> to, tile_of_rows<T> from,
                                                    crew who = crew::of_grid(), Hint hint = {}) {
  verbs::rows_by_some_red<Op, true>(to, from, who, hint);
}

/// The same through shared memory and the bulk engine; `room` is aligned to 16 bytes and holds `bytes_per_warp` for each
/// warp of the block, at least 96. Rows longer than a stage are cut.
template <operation Op, class T, class Key>
  requires bulk_reducible<Op, T>
__device__ __forceinline__ void accumulate_in_bulk(rows_by_key<T, Key> to, tile_of_rows<T> from, unsigned char* room,
                                                   int bytes_per_warp, crew who = crew::of_grid()) {
  constexpr int stages = 2, V = 16 / int(sizeof(T));
  bulk_bytes const per_stage = bulk_bytes::within(bytes_per_warp / stages);
  room += threadIdx.x / 32 * (stages * per_stage.count());
  int const columns = from.columns, most = (int(per_stage.count()) / 16 - 2) * V + 1;
  for (int begun = 0; begun < columns; begun += most) {
    from.columns = columns - begun < most ? columns - begun : most;
    verbs::rows_by_bulk<Op, stages>(to, from, who, room, per_stage);
    verbs::skip_columns(to, from, most);
  }
}

/// Folds the copies of a table, in their order, into the table, and leaves every copy at the identity for the next time.
/// Nobody else may touch either meanwhile. `elements`: of the table and of each copy.
template <operation Op, class T>
__device__ __forceinline__ void fold_copies(T* table, T* copies, int number, i64 elements, T identity,
                                            crew who = crew::of_grid()) {
  for (i64 i = who.rank; i < elements; i += who.size) {
    auto value = widen(table[i]);
    for (int c = 0; c < number; ++c) {
      auto const other = widen(copies[c * elements + i]);
      copies[c * elements + i] = identity;
      value = verbs::folded<Op>(value, other);
    }
    table[i] = T(value);
  }
}

/// Folds `n` neighbours of shared memory, written by any thread of the block, into `to`: the aligned middle by the bulk
/// engine where both sides are aligned alike, the rest by the threads. The whole block calls it; when it returns, `from`
/// may be written again, and the sums of this block are in global memory.
template <operation Op, class T>
  requires accumulable<Op, T>
__device__ __forceinline__ void accumulate(in_global<T> to, typename verbs::itself<in_shared<T const>>::type from, int n) {
  constexpr int V = 16 / int(sizeof(T));
  constexpr bool bulk = available<verbs::bulk_reduce_form<Op, T, space::global, no_policy>>;
  int const shift = shift_of<V>(to.at);
  bool const alike = bulk && shift == shift_of<V>(from.at);
  int const begin = shift == 0 ? 0 : V - shift, end = (shift + n) / V * V - shift;
  bool const engine = alike && end > begin;
  if constexpr (bulk) {
    if (engine) show_stores_to_bulk_engine();
    __syncthreads();
    if (engine && threadIdx.x == 0) {
      reduce<Op>(to + begin, from + begin, bulk_bytes::within(i64(end - begin) * i64(sizeof(T))));
      commit_bulk_group();
    }
  } else {
    __syncthreads();
  }
  constexpr int W = verbs::window_elements<Op, T, false>;
  int const reach = shift_of<W>(to.at);
  for (int w = int(threadIdx.x); w < (n + reach + W - 1) / W; w += int(blockDim.x)) {
    int const at = w * W - reach, low = -at, high = n - at;
    if (engine && at >= begin && at < end) continue;
    fold_window<Op, W>(to.at + at, load_window<W, false>(from.at + at, low, high), low, high, no_policy{});
  }
  if constexpr (bulk) {
    if (engine && threadIdx.x == 0) wait_bulk_groups();
  }
  __syncthreads();
}

} // namespace tally::inline v0::primitive
