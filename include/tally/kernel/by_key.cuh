// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The routes of folds by key: every element goes to the cells of its slot, in shared memory of its block first or at once to
// global memory. Layer 4. One kernel in three launches: cells are opened, elements are folded, answers are written.
#pragma once

#include <tally/fold/folds.hpp>
#include <tally/fold/keys.hpp>
#include <tally/kernel/answers.cuh>
#include <tally/kernel/keyed_cells.cuh>
#include <tally/kernel/load.cuh>
#include <tally/plan/keys_plan.hpp>

namespace tally::inline v0::kernel {

/// Neighbouring elements of one column.
template <int V, class Column>
struct neighbours {
  __device__ __forceinline__ void load(Column const&, i64) {}
  __device__ __forceinline__ auto at(Column const& c, int, i64 position) const { return c.at(position); }
};
template <int V, memory_column Column>
struct neighbours<V, Column> {
  using T = typename Column::value_type;
  static constexpr int bytes = V * int(sizeof(T)), of_load = bytes < 16 ? bytes : 16;
  alignas(16) unsigned char held[bytes];
  __device__ __forceinline__ void load(Column const& c, i64 offset) {
    auto const* const from = reinterpret_cast<unsigned char const*>(c.data + offset);
    if constexpr (V == 1) {
      T const one = c.data[offset];
      memcpy(held, &one, sizeof one);
    } else {
#pragma unroll
      for (int b = 0; b < bytes; b += of_load)
        load_streaming<of_load>(held + b, from + b);
    }
  }
  __device__ __forceinline__ T at(Column const&, int v, i64) const {
    T one;
    memcpy(&one, held + v * sizeof(T), sizeof(T));
    return one;
  }
};

/// Neighbouring elements of all columns.
template <int V, class... Columns>
struct rows_beside {
  pack<neighbours<V, Columns>...> of;
  /// Loads the columns whose bits are set.
  template <u32 Wanted, class OffsetOf>
  __device__ __forceinline__ void load(pack<Columns...> const& columns, OffsetOf const& offset_of) {
    for_each_index<int(sizeof...(Columns))>([&](auto c) {
      if constexpr ((Wanted >> c & 1) != 0)
        get<c>(of).load(get<c>(columns), offset_of(int(c)));
    });
  }
  __device__ __forceinline__ auto row_at(pack<Columns...> const& columns, int v, i64 position) const {
    return row_of(columns, v, position, indices_up_to<int(sizeof...(Columns))>{});
  }

private:
  template <int... I>
  __device__ __forceinline__ auto row_of(pack<Columns...> const& columns, int v, i64 position, index_list<I...>) const {
    return group_row<typename Columns::value_type...>{make_pack(get<I>(of).at(get<I>(columns), v, position)...), position, position};
  }
};

template <keys_plan P, class Where, class Program>
class keyed_read;
template <keys_plan P, class Where, class... Columns, class... Leaves>
class keyed_read<P, Where, program<pack<Columns...>, Leaves...>> {
public:
  using Program = program<pack<Columns...>, Leaves...>;
  static constexpr int columns = int(sizeof...(Columns)), folds = int(sizeof...(Leaves));
  static constexpr bool own = P.route == keys_route::in_shared_memory;

  Where const& where;
  Program const& p;
  axes_layout const& at;
  keyed_memory const& to;
  char* table; ///< of this block, where it has one
  __device__ __forceinline__ i64 slots() const { return where.bins * at.groups; }
  __device__ __forceinline__ i64 own_slots() const { return slots() * P.replicas; }

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
    if constexpr (own) {
      for (i64 g = threadIdx.x; g < own_slots(); g += blockDim.x)
        for_each_index<folds>([&](auto i) { cell<i, true>::open(own_cells(i), own_slots(), g, get<i>(p.leaves).monoid); });
      __syncthreads();
    }
    if constexpr (P.route == keys_route::rows_to_global)
      by_rows();
    else if constexpr (P.in_order)
      in_order();
    else
      place_by_place();
    if constexpr (own) {
      __syncthreads();
      for (i64 g = threadIdx.x; g < own_slots(); g += blockDim.x)
        for_each_index<folds>([&](auto i) { cell<i, true>::give(own_cells(i), own_slots(), g, cells_of(i), slots(), g / P.replicas); });
    }
  }
  template <class Nodes>
  __device__ void close(i64 thread, i64 threads, Nodes const& nodes, answer_arrays const& out) const {
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
      to.stray[1] = static_cast<u64>(where.key.eval(row_at_position(static_cast<i64>(to.stray[0]))));
  }

private:
  template <int I, bool Own>
  using cell = keyed_cell<typename nth_t<I, Leaves...>::monoid_type, Own>;
  __device__ __forceinline__ char* cells_of(int i) const { return static_cast<char*>(to.cells[i]); }
  /// The widest cells come first, so that every table is aligned.
  template <int I>
  __device__ __forceinline__ char* own_cells(index_constant<I>) const {
    constexpr int bytes[] = {cell<0, true>::bytes, keyed_cell<typename Leaves::monoid_type, true>::bytes...};
    int before = 0;
    for (int k = 0; k < folds; ++k)
      before += bytes[k + 1] % 8 == 0 ? (bytes[I + 1] % 8 == 0 ? (k < I ? bytes[k + 1] : 0) : bytes[k + 1])
                                     : (bytes[I + 1] % 8 == 0 ? 0 : (k < I ? bytes[k + 1] : 0));
    return table + before * own_slots();
  }

  /// Feeds one row to a slot.
  template <class Row>
  __device__ __forceinline__ void add(Row const& r, i64 g) const {
    for_each_index<folds>([&](auto i) {
      using to_cell = cell<i, own>;
      auto const& l = get<i>(p.leaves);
      char* base;
      if constexpr (own)
        base = own_cells(i);
      else
        base = cells_of(i);
      i64 const n = own ? own_slots() : slots();
      i64 const slot = own ? g * P.replicas + (threadIdx.x & (P.replicas - 1)) : g;
      if (l.mask.eval(r))
        unpack([&](auto const&... v) { to_cell::add(base, n, slot, to.locks, l.monoid, r.position, v.eval(r)...); }, l.values);
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
  __device__ __forceinline__ void feed(Row const& r, i64 kept) const {
    if (i64 const bin = bin_of(r); bin >= 0)
      add(r, at.groups == 1 ? bin : bin * at.groups + kept);
  }

  __device__ __forceinline__ void in_order() const {
    constexpr int V = P.elements_per_load, U = P.loads_in_flight;
    i64 const tile = i64(blockDim.x) * V;
    i64 const step = tile * U * gridDim.x, whole = at.extent - at.extent % V;
    for (i64 first = tile * U * blockIdx.x + threadIdx.x * V; first < at.extent; first += step) {
      rows_beside<V, Columns...> rows[U];
#pragma unroll
      for (int u = 0; u < U; ++u) {
        i64 const e = first + u * tile;
        if (e < whole)
          rows[u].template load<~u32(0)>(p.columns, [&](int) { return e; });
      }
#pragma unroll
      for (int u = 0; u < U; ++u) {
        i64 const e = first + u * tile;
        if (e < whole)
#pragma unroll
          for (int v = 0; v < V; ++v)
            feed(rows[u].row_at(p.columns, v, e + v), 0);
      }
    }
    if constexpr (V > 1)
      if (blockIdx.x == 0 && threadIdx.x < at.extent - whole)
        feed(row_at_position(whole + threadIdx.x), 0);
  }
  __device__ __forceinline__ void place_by_place() const {
    i64 const elements = at.extent * at.groups, step = i64(blockDim.x) * gridDim.x;
    for (i64 t = i64(blockIdx.x) * blockDim.x + threadIdx.x; t < elements; t += step) {
      i64 const r = at.groups == 1 ? t : t / at.groups, k = t - r * at.groups;
      grid_place<columns> here = group_origin<columns>(at, k);
      move_along(here, at.reduced, at.reduced_axes, r);
      feed(row_at_place(p.columns, here, here.position), k);
    }
  }
  /// Threads beside each other hold neighbours of one row, which have one key.
  __device__ __forceinline__ void by_rows() const {
    constexpr int V = P.elements_per_load, U = P.loads_in_flight, T = P.threads_per_row;
    grid_axis const& across = at.kept[0];
    int const x = int(threadIdx.x) % T;
    i64 const rows_of_block = blockDim.x / T, rows_of_grid = rows_of_block * gridDim.x;
    for (i64 first = rows_of_block * blockIdx.x + threadIdx.x / T; first < at.extent; first += rows_of_grid * U) {
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
    for_each_index<folds>([&](auto i) {
      auto const& l = get<i>(p.leaves);
      using M = typename nth_t<i, Leaves...>::monoid_type;
      using to_cell = cell<i, false>;
      char* const base = cells_of(i);
      if constexpr (V == 4 && cuda::std::same_as<M, sum_monoid<float>> && cuda::std::same_as<decltype(l.mask), in_a_bin>) {
        float v[4];
#pragma unroll
        for (int j = 0; j < 4; ++j)
          v[j] = l.monoid.lift(0, l.values.first.eval(rows.row_at(p.columns, j, position + j * position_step)));
        to_cell::add_four(base, g, v);
      } else {
#pragma unroll
        for (int j = 0; j < V; ++j) {
          auto const r = rows.row_at(p.columns, j, position + j * position_step);
          if (l.mask.eval(r))
            unpack([&](auto const&... v) { to_cell::add(base, slots(), g + j, to.locks, l.monoid, r.position, v.eval(r)...); }, l.values);
        }
      }
    });
  }
  /// The row at a position of the source.
  __device__ auto row_at_position(i64 position) const {
    grid_place<columns> here{};
    for (int k = 0; k < at.kept_axes; ++k)
      here.move(at.kept[k], position / at.kept[k].position_step % at.kept[k].extent);
    for (int k = 0; k < at.reduced_axes; ++k)
      here.move(at.reduced[k], position / at.reduced[k].position_step % at.reduced[k].extent);
    return row_at_place(p.columns, here, here.position);
  }
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
