// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ladder: fold a tile of rows into the rows of a table that their keys name, by the widest instruction the type, the
// operation and the chip have. Layer 2. Columns, strides and alignments are numbers of the run and cost no other kernel.
// The order of the additions is nobody's: sums of floats differ in their last bits from run to run (contract `fast`);
// integers, min and max do not.
#pragma once

#include <tally/primitive/rows_by_bulk.cuh>
#include <tally/primitive/rows_by_red.cuh>

namespace tally::inline v0::primitive {

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
    to.table += most;
    from.first += most;
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

namespace verbs {
template <operation Op, class T>
__device__ constexpr void refuse_to_accumulate() {
  (void)sizeof(because::nothing_accumulates_it<refused_form<reduction<Op, T>(space::global)>>);
}
} // namespace verbs

/// What no rung takes: refused.
template <operation Op, class T, class Key, class... Rest>
  requires(!accumulable<Op, T>)
__device__ void accumulate(rows_by_key<T, Key>, tile_of_rows<T>, Rest&&...) {
  verbs::refuse_to_accumulate<Op, T>();
}
template <operation Op, class T, class... Rest>
  requires(!accumulable<Op, T>)
__device__ void accumulate(in_global<T>, Rest&&...) {
  verbs::refuse_to_accumulate<Op, T>();
}
template <operation Op, class T, class Key, class... Rest>
  requires(!accumulable<Op, T>)
__device__ void accumulate_by_words(rows_by_key<T, Key>, tile_of_rows<T>, Rest&&...) {
  verbs::refuse_to_accumulate<Op, T>();
}
template <operation Op, class T, class Key, class... Rest>
  requires(!bulk_reducible<Op, T>)
__device__ void accumulate_in_bulk(rows_by_key<T, Key>, tile_of_rows<T>, Rest&&...) {
  constexpr form f = verbs::bulk_reduce_form<Op, T, space::global, no_policy>;
  refuse<f>();
}

} // namespace tally::inline v0::primitive
