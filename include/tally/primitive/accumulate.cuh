// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ladder: fold a tile of rows into the rows of a table that their keys name, by the widest instruction the type, the
// operation, the place and the chip have. Layer 2. Columns, strides and alignments are numbers of the run and cost no other kernel.
// The order of the additions is nobody's: sums of floats differ in their last bits from run to run (contract `fast`);
// integers, min and max do not.
#pragma once

#include <tally/primitive/red_async.cuh>
#include <tally/primitive/rows_by_bulk.cuh>
#include <tally/primitive/rows_by_red.cuh>

namespace tally::v0::primitive {

/// Folds every row of a tile into the row of the table that its key names, through registers: by vectors of at most
/// `Widest` where there are some, else element by element. All threads of the crew call it; sums are seen when the kernel
/// is over, those of a table in shared memory after the block or the cluster has met.
template <operation Op, red_width Widest = red_width{}, keyed_table To, class T, class Hint = no_policy>
  requires cuda::std::same_as<T, typename To::element> && accumulable<Op, T, To::where>
__device__ __forceinline__ void accumulate(To to, tile_of_rows<T> from, crew who, Hint hint = {}) {
  verbs::rows_by_some_red<folding<Op, To::where, Widest.travel>, Widest.bytes>(to, from, who, hint);
  if constexpr (To::where != space::global) __syncwarp(); // lanes that swapped for longer: a meeting comes next
}

/// The same by the threads that share the table: those of the grid, of the cluster or of the block.
template <operation Op, red_width Widest = red_width{}, keyed_table To, class T>
  requires cuda::std::same_as<T, typename To::element> && accumulable<Op, T, To::where>
__device__ __forceinline__ void accumulate(To to, tile_of_rows<T> from) {
  accumulate<Op, Widest>(to, from, crew::of<To::where>());
}

/// The same, element by element.
template <operation Op, keyed_table To, class T, class Hint = no_policy>
  requires cuda::std::same_as<T, typename To::element> && accumulable<Op, T, To::where>
__device__ __forceinline__ void accumulate_by_words(To to, tile_of_rows<T> from, crew who, Hint hint = {}) {
  accumulate<Op, red_width{int(sizeof(T))}>(to, from, who, hint);
}
template <operation Op, keyed_table To, class T>
  requires cuda::std::same_as<T, typename To::element> && accumulable<Op, T, To::where>
__device__ __forceinline__ void accumulate_by_words(To to, tile_of_rows<T> from) {
  accumulate_by_words<Op>(to, from, crew::of<To::where>());
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

namespace verbs {
/// Folds the windows of `n` neighbours of shared memory into `to` by the threads of the block, but for those that begin at
/// an element from `skipped` up to `resumed`.
template <operation Op, space To, class T>
__device__ __forceinline__ void fold_windows(T* to, T const* from, int n, int skipped = 0, int resumed = 0) {
  constexpr int W = window_elements<Op, T, To>;
  int const reach = shift_of<W>(to);
  for (int w = int(threadIdx.x); w < (n + reach + W - 1) / W; w += int(blockDim.x)) {
    int const at = w * W - reach, low = -at, high = n - at;
    if (at >= skipped && at < resumed) continue;
    fold_window<folding<Op, To>, W>(to + at, load_window<W, false>(from + at, low, high), low, high);
  }
}
} // namespace verbs

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
  verbs::fold_windows<Op, space::global>(to.at, from.at, n, begin, engine ? end : begin);
  if constexpr (bulk) {
    if (engine && threadIdx.x == 0) wait_bulk_groups();
  }
  __syncthreads();
}

/// The same into the shared memory of the block or of a block of the cluster, by red of words and of pairs of halves. The
/// whole block calls it; the sums are seen when the block, or the cluster, has met.
template <operation Op, template <class> class Place, class T>
  requires accumulable<Op, T, verbs::space_of<Place<T>>> && (verbs::space_of<Place<T>> == space::shared_cta ||
                                                             verbs::space_of<Place<T>> == space::shared_cluster)
__device__ __forceinline__ void accumulate(Place<T> to, typename verbs::itself<in_shared<T const>>::type from, int n) {
  __syncthreads();
  verbs::fold_windows<Op, verbs::space_of<Place<T>>>(to.at, from.at, n);
  __syncwarp(); // lanes that swapped for longer: a meeting comes next
}

/// The same into another block, where a barrier hears of n * sizeof(T) bytes whatever the alignment: the aligned middle by
/// the bulk engine, the ends by red.async, so integers only. `from` may be written again when that barrier says so, and
/// until then this block stays (the others' half of protocol::cluster_sum and cluster_words).
template <operation Op, class T>
  requires accumulable<Op, T, space::shared_cluster>
__device__ __forceinline__ void accumulate(in_cluster<T> to, typename verbs::itself<in_shared<T const>>::type from, int n,
                                           in_cluster<barrier> announced) {
  if constexpr (!available<verbs::red_async_form<Op, T>>) {
    refuse<verbs::red_async_form<Op, T>>();
  } else {
    constexpr int V = 16 / int(sizeof(T));
    int const shift = shift_of<V>(to.at);
    int const begin = shift == 0 ? 0 : V - shift, end = (shift + n) / V * V - shift;
    bool const engine = shift == shift_of<V>(from.at) && end > begin;
    if (engine) show_stores_to_bulk_engine();
    __syncthreads();
    if (engine && threadIdx.x == 0)
      reduce<Op>(to + begin, from + begin, bulk_bytes::within(i64(end - begin) * i64(sizeof(T))), announced);
    for (int i = int(threadIdx.x); i < n; i += int(blockDim.x))
      if (!engine || i < begin || i >= end) red_async<Op>(to + i, from.at[i], announced);
  }
}

/// What no rung takes: refused.
template <operation Op, red_width Widest = red_width{}, keyed_table To, class T, class... Rest>
  requires cuda::std::same_as<T, typename To::element> && (!accumulable<Op, T, To::where>)
__device__ void accumulate(To, tile_of_rows<T>, Rest&&...) {
  verbs::refuse_to_accumulate<Op, T, To::where>();
}
template <operation Op, template <class> class Place, class T, class... Rest>
  requires(!accumulable<Op, T, verbs::space_of<Place<T>>>)
__device__ void accumulate(Place<T>, Rest&&...) {
  verbs::refuse_to_accumulate<Op, T, verbs::space_of<Place<T>>>();
}
template <operation Op, keyed_table To, class T, class... Rest>
  requires cuda::std::same_as<T, typename To::element> && (!accumulable<Op, T, To::where>)
__device__ void accumulate_by_words(To, tile_of_rows<T>, Rest&&...) {
  verbs::refuse_to_accumulate<Op, T, To::where>();
}
template <operation Op, class T, class Key, class... Rest>
  requires(!bulk_reducible<Op, T>)
__device__ void accumulate_in_bulk(rows_by_key<T, Key>, tile_of_rows<T>, Rest&&...) {
  constexpr form f = verbs::bulk_reduce_form<Op, T, space::global, no_policy>;
  refuse<f>();
}

} // namespace tally::v0::primitive
