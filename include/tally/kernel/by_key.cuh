// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The routes of folds by key: every element goes to the cells of its slot, in shared memory of its block first or at once to
// global memory. Layer 4. One kernel in three launches: cells are opened, elements are folded, answers are written.
#pragma once

#include <tally/fold/folds.hpp>
#include <tally/fold/key_table.hpp>
#include <tally/fold/keys.hpp>
#include <tally/kernel/answers.cuh>
#include <tally/kernel/keyed_cells.cuh>
#include <tally/kernel/keyed_walk.cuh>
#include <tally/plan/keys_plan.hpp>

namespace tally::inline v0::kernel {

template <keys_plan P, class Where, class Program>
class keyed_read;
template <keys_plan P, class Where, class... Columns, class... Leaves>
class keyed_read<P, Where, program<pack<Columns...>, Leaves...>> {
public:
  using Program = program<pack<Columns...>, Leaves...>;
  static constexpr int columns = int(sizeof...(Columns)), folds = int(sizeof...(Leaves));
  static constexpr bool shared = P.route == keys_route::in_shared_memory, hot = P.hot_slots > 0;

  Where const& where;
  Program const& p;
  axes_layout const& at;
  keyed_memory const& to;
  char* table; ///< of this block, where it has one
  __device__ __forceinline__ i64 slots() const { return where.bins * at.groups; }

  __device__ void open(i64 thread, i64 threads) const {
    for (i64 g = thread; g < slots(); g += threads) {
      for_each_index<folds>([&](auto i) { cell<i, false>::open(cells_of(i), slots(), g, get<i>(p.leaves).monoid); });
      if (to.locks != nullptr)
        to.locks[g] = 0;
    }
    if (thread == 0)
      to.stray[0] = ~u64(0), to.stray[2] = 0;
  }
  __device__ __forceinline__ void fold() const {
    if constexpr (shared || hot) {
      for (unsigned g = threadIdx.x; g < own_cell_count(); g += blockDim.x) {
        for_each_index<folds>([&](auto i) { cell<i, true>::open(own_cells(i), own_cell_count(), g, get<i>(p.leaves).monoid); });
        if constexpr (hot)
          tags()[g] = nobody;
      }
      __syncthreads();
    }
    if constexpr (P.threads_per_row > 0)
      by_rows();
    else if constexpr (P.in_order)
      walk().in_order([&](auto const& r) { feed_in_order(r); }, to_the_end{});
    else
      walk().place_by_place([&](auto const& r, i64 kept) { feed(r, kept); }, to_the_end{});
    if constexpr (shared || hot) {
      __syncthreads();
      for (unsigned g = threadIdx.x; g < own_cell_count(); g += blockDim.x) {
        i64 const slot = hot ? i64(tags()[g]) : i64(first_own()) + g / P.replicas;
        if (slot < slots())
          for_each_index<folds>([&](auto i) { cell<i, true>::give(own_cells(i), own_cell_count(), g, cells_of(i), slots(), slot); });
      }
    }
  }
  template <class Nodes>
  __device__ void close(i64 thread, i64 threads, Nodes const& nodes, answer_arrays const& out) const {
    if constexpr (!P.in_place)
      for (i64 g = thread; g < slots(); g += threads) {
        typename Program::states s;
        for_each_index<folds>([&](auto i) { get<i>(s) = cell<i, false>::read(cells_of(i), slots(), g, get<i>(p.leaves).monoid); });
        for_each_index<folds>([&](auto i) {
          auto const& m = get<i>(p.leaves).monoid;
          auto const& of = get<i>(s);
          if constexpr (requires { m.overflowed(of); })
            if (m.overflowed(of))
              to.stray[2] = 1;
        });
        write_answers(p, nodes, s, 1, out, g);
      }
    if (thread == 0 && to.stray[0] != ~u64(0))
      to.stray[1] = static_cast<u64>(where.key.eval(walk().row_at_position(static_cast<i64>(to.stray[0]))));
  }

private:
  static constexpr unsigned nobody = ~0u;
  template <int I, bool Own>
  using cell = keyed_cell<typename nth_t<I, Leaves...>::monoid_type, Own>;
  __device__ __forceinline__ char* cells_of(int i) const { return static_cast<char*>(to.cells[i]); }
  /// How many slots a block has to itself, and which is the first.
  __device__ __forceinline__ unsigned own_slots() const {
    return P.ranges == 1 ? static_cast<unsigned>(slots()) : static_cast<unsigned>((slots() - 1) / P.ranges + 1);
  }
  __device__ __forceinline__ unsigned first_own() const { return P.ranges == 1 ? 0u : (blockIdx.x % P.ranges) * own_slots(); }
  __device__ __forceinline__ unsigned own_cell_count() const { return hot ? unsigned(P.hot_slots) : own_slots() * unsigned(P.replicas); }
  static constexpr int own_bytes(int i) {
    constexpr int bytes[] = {keyed_cell<typename Leaves::monoid_type, true>::bytes..., 0};
    return bytes[i];
  }
  /// Bytes of a slot in front of the cells of fold i: those of 8 bytes come first, so that every table is aligned.
  static constexpr int own_bytes_before(int i) {
    int before = 0;
    for (int k = 0; k < folds; ++k)
      if ((own_bytes(k) % 8 == 0) == (own_bytes(i) % 8 == 0) ? k < i : own_bytes(k) % 8 == 0)
        before += own_bytes(k);
    return before;
  }
  static constexpr int all_own_bytes() {
    int n = 0;
    for (int k = 0; k < folds; ++k)
      n += own_bytes(k);
    return n;
  }
  __device__ __forceinline__ char* own_cells(int i) const { return table + unsigned(own_bytes_before(i)) * own_cell_count(); }
  /// Whose the hot slots are.
  __device__ __forceinline__ unsigned* tags() const { return reinterpret_cast<unsigned*>(table + unsigned(all_own_bytes()) * own_cell_count()); }
  /// The blocks that share the elements of one range of slots, and which of them this is.
  __device__ __forceinline__ i64 block() const { return blockIdx.x / P.ranges; }
  __device__ __forceinline__ i64 blocks() const { return gridDim.x / P.ranges; }

  __device__ __forceinline__ auto walk() const {
    return keyed_walk<P.elements_per_load, P.loads_in_flight, ~u32(0), Program>{p, at, block(), blocks()};
  }

  /// Feeds one row to a slot.
  template <class Row>
  __device__ __forceinline__ void add(Row const& r, i64 g) const {
    if constexpr (shared) {
      unsigned const s = static_cast<unsigned>(g) - first_own();
      if (P.ranges == 1 || s < own_slots())
        add_to<true>(r, own_cell_count(), s * P.replicas + (threadIdx.x & (P.replicas - 1)));
    } else if constexpr (hot) {
      unsigned const slot = static_cast<unsigned>(g), here = slot & (P.hot_slots - 1);
      unsigned owner = tags()[here];
      if (owner == nobody)
        owner = atomicCAS(tags() + here, nobody, slot), owner = owner == nobody ? slot : owner;
      if (owner == slot)
        add_to<true>(r, unsigned(P.hot_slots), here);
      else
        add_to<false>(r, slots(), g);
    } else {
      add_to<false>(r, slots(), g);
    }
  }
  template <bool Own, class Row, class I>
  __device__ __forceinline__ void add_to(Row const& r, I count, I slot) const {
    for_each_index<folds>([&](auto i) {
      using to_cell = cell<i, Own>;
      auto const& l = get<i>(p.leaves);
      char* base;
      if constexpr (Own)
        base = own_cells(i);
      else
        base = cells_of(i);
      if (l.mask.eval(r))
        unpack([&](auto const&... v) { to_cell::add(base, count, slot, to.locks, l.monoid, r.position, v.eval(r)...); }, l.values);
    });
  }
  /// The bin of a row that passes, -1 where it has none.
  template <class Row>
  __device__ __forceinline__ i64 bin_of(Row const& r) const {
    if (!where.mask.eval(r))
      return -1;
    auto const key = where.key.eval(r);
    if (is_in_bins(key, where.bins))
      return static_cast<i64>(key);
    if constexpr (!Where::drops_strays)
      atomicMin(reinterpret_cast<cells::word64*>(to.stray), static_cast<cells::word64>(r.position));
    return -1;
  }
  template <class Row>
  __device__ __forceinline__ void feed_in_order(Row const& r) const {
    if (i64 const bin = bin_of(r); bin >= 0)
      add(r, bin);
  }
  template <class Row>
  __device__ __forceinline__ void feed(Row const& r, i64 kept) const {
    if (i64 const bin = bin_of(r); bin >= 0)
      add(r, at.groups == 1 ? bin : bin * at.groups + kept);
  }

  /// Threads beside each other hold neighbours of one row, which have one key.
  __device__ __forceinline__ void by_rows() const {
    constexpr int V = P.elements_per_load, U = P.loads_in_flight, T = P.threads_per_row;
    grid_axis const& across = at.kept[0];
    int const x = int(threadIdx.x) % T;
    i64 const rows_of_block = blockDim.x / T, rows_of_grid = rows_of_block * blocks();
    for (i64 first = rows_of_block * block() + threadIdx.x / T; first < at.extent; first += rows_of_grid * U) {
      i64 bin[U];
      grid_place<columns> place[U];
#pragma unroll
      for (int u = 0; u < U; ++u) {
        i64 const r = first + u * rows_of_grid;
        bin[u] = -1;
        place[u] = {};
        if (r < at.extent) {
          move_along(place[u], at.reduced, at.reduced_axes, r);
          bin[u] = bin_of(row_at_place(p.columns, place[u], place[u].position));
        }
      }
      for (i64 k = i64(x) * V; k < at.groups; k += T * V) {
        rows_beside<V, Columns...> rows[U];
#pragma unroll
        for (int u = 0; u < U; ++u)
          if (bin[u] >= 0)
            rows[u].template load<columns_folded<Program>>(p.columns, [&](int c) { return place[u].offset[c] + k * across.steps[c]; });
#pragma unroll
        for (int u = 0; u < U; ++u)
          if (bin[u] >= 0)
            add_neighbours<V>(rows[u], bin[u] * at.groups + k, place[u].position + k * across.position_step, across.position_step);
      }
    }
  }
  template <int V, class Rows>
  __device__ __forceinline__ void add_neighbours(Rows const& rows, i64 g, i64 position, i64 position_step) const {
    if constexpr (V == 4 && !shared && all_added) {
      for_each_index<folds>([&](auto i) {
        auto const& l = get<i>(p.leaves);
        float v[4];
#pragma unroll
        for (int j = 0; j < 4; ++j)
          v[j] = l.monoid.lift(0, l.values.first.eval(rows.row_at(p.columns, j, position + j * position_step)));
        cell<i, false>::add_four(cells_of(i), g, v);
      });
    } else {
#pragma unroll
      for (int j = 0; j < V; ++j)
        add(rows.row_at(p.columns, j, position + j * position_step), g + j);
    }
  }
  static constexpr bool all_added =
      (true && ... && (cuda::std::same_as<typename Leaves::monoid_type, sum_monoid<float>> && cuda::std::same_as<decltype(Leaves::mask), in_a_bin>));
};

/// Phase 0 opens the cells, phase 1 folds all elements, phase 2 writes the answers of every slot.
template <keys_plan P, class Where, class Program, class Nodes>
__global__ void __launch_bounds__(P.threads_per_block)
    by_key(__grid_constant__ Where const where, __grid_constant__ Program const p, __grid_constant__ axes_layout const at,
           __grid_constant__ Nodes const nodes, __grid_constant__ keyed_memory const to, answer_arrays const out, int phase) {
  extern __shared__ __align__(16) char table[];
  keyed_read<P, Where, Program> const read{where, p, at, to, table};
  i64 const thread = i64(blockIdx.x) * blockDim.x + threadIdx.x, threads = i64(blockDim.x) * gridDim.x;
  if (phase == 0)
    read.open(thread, threads);
  else if (phase == 1)
    read.fold();
  else
    read.close(thread, threads, nodes, out);
}

} // namespace tally::inline v0::kernel
