// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements partitioned by slot in one read. Layer 4. A block takes a tile of the source: every thread counts its elements among those of their
// partition, a sum over partitions says where each begins, and the tile is put together in shared memory, from where the bulk engine writes it
// (protocol::store_ring). No order within a partition is kept.
#pragma once

#include <tally/fold/folds.hpp>
#include <tally/fold/key_table.hpp>
#include <tally/fold/keys.hpp>
#include <tally/fold/keyed_cells.hpp>
#include <tally/fold/partitions.hpp>
#include <tally/kernel/bin_of.cuh>
#include <tally/kernel/keyed_walk.cuh>
#include <tally/kernel/sum_of_block.cuh>
#include <tally/plan/partitioned_keys_plan.hpp>
#include <tally/primitive/store_ring.cuh>

namespace tally::v0::kernel {

/// The columns that travel with an element: those that folds look at. Each has its bytes behind those of the columns in front of it.
template <class Program>
struct travelling_columns;
template <class... Columns, class... Leaves>
struct travelling_columns<program<pack<Columns...>, Leaves...>> {
  static constexpr u32 named = columns_folded<program<pack<Columns...>, Leaves...>>;
  static constexpr int count = int(sizeof...(Columns));
  static constexpr bool has(int c) { return (named >> c & 1) != 0; }
  static constexpr int bytes_before(int c) {
    constexpr int bytes[] = {int(sizeof(typename Columns::value_type))..., 0};
    int before = 0;
    for (int k = 0; k < c; ++k)
      before += has(k) ? bytes[k] : 0;
    return before;
  }
  static constexpr int bytes = bytes_before(count);
};

template <partitioned_keys_plan P, class Where, class Program>
class partitioner;
template <partitioned_keys_plan P, class Where, class... Columns, class... Leaves>
class partitioner<P, Where, program<pack<Columns...>, Leaves...>> {
  using Program = program<pack<Columns...>, Leaves...>;
  using travelling = travelling_columns<Program>;
  static constexpr int threads = P.threads_per_block, each = P.elements_per_thread, V = P.elements_per_load, elements = P.elements_of_tile();
  static constexpr u32 looked_at = travelling::named | columns_of_key<Where>;
  static constexpr unsigned nobody = ~0u;
  static_assert(threads == threads_of_partitions && elements < 1 << 16, "a thread for every partition, and places of a tile in 16 bits");

public:
  Where const& where;
  Program const& p;
  slot_partitions const& to;
  u64* stray;
  char* room; ///< shared: a stage, then counts of two tiles, then a word for each warp

  __device__ __forceinline__ void run() const {
    if (*to.in_runs != 0)
      return;
    partitioned_tile const tile{to.partitions, elements, travelling::bytes};
    i64 const bytes = tile.bytes(), tiles = (to.end - to.first - 1) / elements + 1;
    primitive::store_ring<1> ring(reinterpret_cast<unsigned char*>(room), primitive::bulk_bytes::exactly(bytes + 16));
    u32 *counts = reinterpret_cast<u32*>(room + bytes + 16), *next_counts = counts + to.partitions;
    u32(&sums)[threads / 32] = reinterpret_cast<u32(&)[threads / 32]>(counts[2 * to.partitions]);
    bool const has_partition = int(threadIdx.x) < to.partitions;
    u32 all = 0; // of this thread's partition
    bool strays = false;
    if (has_partition)
      counts[threadIdx.x] = 0;
    __syncthreads();
    for (i64 t = blockIdx.x; t < tiles; t += gridDim.x) {
      rows_beside<V, 0, 0, Columns...> rows[each / V];
      unsigned slot[each], number[each];
      strays |= find_slots(to.first + t * elements + threadIdx.x * V, rows, slot);
#pragma unroll
      for (int k = 0; k < each; ++k)
        number[k] = slot[k] != nobody ? atomicAdd(counts + slot[k] / P.slots_of_partition, 1u) : 0;
      __syncthreads();
      u32 const own = has_partition ? counts[threadIdx.x] : 0, begin = sum_in_front(own, sums);
      all += own;
      if (has_partition) {
        counts[threadIdx.x] = begin;
        next_counts[threadIdx.x] = 0;
      }
      ring.turn(primitive::in_global<unsigned char>(to.tiles + t * bytes), int(bytes), [&](unsigned char* stage) {
        if (has_partition) {
          u16* const begins = reinterpret_cast<u16*>(stage);
          begins[threadIdx.x] = static_cast<u16>(begin);
          if (int(threadIdx.x) == to.partitions - 1)
            begins[to.partitions] = static_cast<u16>(begin + own);
        }
#pragma unroll
        for (int k = 0; k < each; ++k)
          if (slot[k] != nobody) {
            unsigned const partition = slot[k] / P.slots_of_partition, at = counts[partition] + number[k];
            reinterpret_cast<u16*>(stage + tile.slots_at())[at] = static_cast<u16>(slot[k] - partition * P.slots_of_partition);
            put(rows[k / V], k % V, stage + tile.columns_at(), at);
          }
      });
      u32* const counted = counts;
      counts = next_counts;
      next_counts = counted;
    }
    ring.finish();
    if constexpr (!Where::drops_strays)
      if (__syncthreads_or(strays))
        for (i64 t = blockIdx.x; t < tiles; t += gridDim.x)
          tell_strays(to.first + t * elements);
    if (all != 0)
      atomicAdd(to.counts + threadIdx.x, all);
  }

private:
  /// Loads the elements of a thread, and finds their slots, from the first of all partitions on. True where one has a key that names none: they are told in a second walk.
  template <class Rows>
  __device__ __forceinline__ bool find_slots(i64 first, Rows (&rows)[each / V], unsigned (&slot)[each]) const {
    bool strays = false;
    unsigned const slots = unsigned(to.partitions) * P.slots_of_partition;
#pragma unroll
    for (int g = 0; g < each / V; ++g) {
      bool const is_there = first + g * threads * V < to.end;
      i64 const e = is_there ? first + g * threads * V : to.end - V; // loads without a branch around them
      rows[g].template load<looked_at>(p.columns, [=](int, int v) { return e + v; });
#pragma unroll
      for (int v = 0; v < V; ++v) {
        row_in_bins const in = look_at(where, rows[g].row_at(p.columns, v, e + v));
        unsigned const s = static_cast<unsigned>(in.bin) - to.first_slot;
        slot[g * V + v] = is_there && in.inside && s < slots ? s : nobody;
        strays |= is_there && in.strays;
      }
    }
    return strays;
  }
  __device__ void tell_strays(i64 first) const {
    for (i64 e = first + threadIdx.x; e < first + elements && e < to.end; e += threads)
      bin_of(where, p.row_at(e), stray);
  }
  /// Puts neighbour v of the columns to element `at` of a tile.
  template <class Rows>
  __device__ __forceinline__ void put(Rows const& rows, int v, unsigned char* columns, unsigned at) const {
    for_each_index<travelling::count>([&](auto c) {
      if constexpr (travelling::has(c)) {
        using T = typename nth_t<c, Columns...>::value_type;
        reinterpret_cast<T*>(columns + i64(elements) * travelling::bytes_before(c))[at] = get<c>(rows.of).at(get<c>(p.columns), v, 0);
      }
    });
  }
};

template <partitioned_keys_plan P, class Where, class Program>
__global__ void __launch_bounds__(P.threads_per_block, 1)
    partition(__grid_constant__ Where const where, __grid_constant__ Program const p, __grid_constant__ slot_partitions const to, u64* stray) {
  extern __shared__ __align__(16) char table[];
  partitioner<P, Where, Program>{where, p, to, stray, table}.run();
}

} // namespace tally::v0::kernel
