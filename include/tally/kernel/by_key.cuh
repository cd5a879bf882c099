// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The routes of folds by key: every element goes to the cells of its slot, in shared memory of its block first or at once to
// global memory, or to copies of them that meet afterwards. Layer 4. One kernel in a launch for each phase.
#pragma once

#include <tally/fold/folds.hpp>
#include <tally/fold/key_table.hpp>
#include <tally/fold/keys.hpp>
#include <tally/kernel/answers.cuh>
#include <tally/kernel/bin_of.cuh>
#include <tally/kernel/counts_in_shared.cuh>
#include <tally/kernel/hot_keys.cuh>
#include <tally/kernel/keyed_cells.cuh>
#include <tally/kernel/keyed_walk.cuh>
#include <tally/kernel/warp_of_one_slot.cuh>
#include <tally/plan/keys_plan.hpp>
#include <tally/primitive/prefetch.cuh>

namespace tally::inline v0::kernel {

template <keys_plan P, class Where, class Program>
class keyed_read;
template <keys_plan P, class Where, class... Columns, class... Leaves>
class keyed_read<P, Where, program<pack<Columns...>, Leaves...>> {
public:
  using Program = program<pack<Columns...>, Leaves...>;
  static constexpr int columns = int(sizeof...(Columns)), folds = int(sizeof...(Leaves));
  static constexpr bool shared = P.route == keys_route::in_shared_memory, hot = P.hot_slots > 0, copied = P.copies > 1;

  Where const& where;
  Program const& p;
  axes_layout const& at;
  keyed_memory const& to;
  char* table; ///< of this block, where it has one
  __device__ __forceinline__ i64 slots() const { return where.bins * at.groups; }

  __device__ void open(i64 thread, i64 threads) const {
    for (i64 g = thread; g < slots(); g += threads) {
      for_each_index<folds>([&](auto i) { cell<i, false>::open(cells_of(i), stride(), g, get<i>(p.leaves).monoid); });
      if (to.locks != nullptr)
        to.locks[g] = 0;
    }
    if constexpr (copied)
      for (i64 g = thread; g < copied_slots(); g += threads)
        for_each_index<folds>([&](auto i) { cell<i, false>::open(copies_of(i), copied_slots(), g, get<i>(p.leaves).monoid); });
    if constexpr (P.hot_keys > 0)
      if (blockIdx.x == 0)
        find_hot_keys<P.hot_keys>(to.hot, reinterpret_cast<unsigned*>(table), at.extent, [&](i64 r) { return bin_of_row<false>(r); });
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
    if constexpr (P.hot_keys > 0)
      hot_list().fill(to.hot);
    if constexpr (P.threads_per_row > 0)
      by_rows();
    else
      by_elements();
    if constexpr (shared || hot)
      give_own();
  }
  /// Adds copies to the slots that they are copies of.
  __device__ void meet(i64 thread, i64 threads) const {
    if constexpr (copied) {
      constexpr i64 keys = P.hot_keys > 0 ? hot_places(P.hot_keys) : 1;
      i64 const row = P.hot_keys > 0 ? at.groups : slots();
      for (i64 t = thread; t < keys * P.copies * row; t += threads) {
        i64 const copy = t / row % P.copies, k = t % row;
        i64 from = copy * slots_of_copy(slots()) + k, slot = k;
        if constexpr (P.hot_keys > 0) {
          u64 const key = to.hot[t / row / P.copies];
          if (key == no_hot_key)
            continue;
          from = (copy * P.hot_keys + hot_number(key)) * row + k;
          slot = i64(hot_bin(key)) * row + k;
        }
        for_each_index<folds>([&](auto i) { cell<i, false>::give(copies_of(i), copied_slots(), from, cells_of(i), slots(), slot, get<i>(p.leaves).monoid); });
      }
    }
  }
  template <class Nodes>
  __device__ void close(i64 thread, i64 threads, Nodes const& nodes, answer_arrays const& out) const {
    if constexpr (!P.in_place)
      for (i64 g = thread; g < slots(); g += threads) {
        typename Program::states s;
        for_each_index<folds>([&](auto i) { get<i>(s) = cell<i, false>::read(cells_of(i), stride(), g, get<i>(p.leaves).monoid); });
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
  template <class M, bool Own>
  using cell_as = keyed_cell<M, Own, typename kept_word<M, P.folds_neighbours(), P.counts_in_32>::type>;
  template <int I, bool Own>
  using cell = cell_as<typename nth_t<I, Leaves...>::monoid_type, Own>;
  __device__ __forceinline__ char* cells_of(int i) const { return static_cast<char*>(to.cells[i]); }
  __device__ __forceinline__ char* copies_of(int i) const { return static_cast<char*>(to.copies[i]); }
  __device__ __forceinline__ i64 copied_slots() const { return tally::copied_slots(P, slots(), at.groups); }
  __device__ __forceinline__ auto hot_list() const { return hot_keys<P.hot_keys>{reinterpret_cast<u64*>(table)}; }
  /// Slots between two words of a cell of all.
  __device__ __forceinline__ i64 stride() const { return P.gives_in_bulk ? slots_given_in_bulk(slots()) : slots(); }
  /// How many slots a block has to itself, and which is the first.
  __device__ __forceinline__ unsigned own_slots() const {
    i64 const own = P.ranges == 1 ? slots() : (slots() - 1) / P.ranges + 1;
    return static_cast<unsigned>(P.gives_in_bulk ? slots_given_in_bulk(own) : own);
  }
  __device__ __forceinline__ unsigned first_own() const { return P.ranges == 1 ? 0u : (blockIdx.x % P.ranges) * own_slots(); }
  __device__ __forceinline__ unsigned own_cell_count() const { return hot ? unsigned(P.hot_slots) : own_slots() * unsigned(P.replicas); }
  static constexpr int own_bytes(int i) {
    constexpr int bytes[] = {cell_as<typename Leaves::monoid_type, true>::bytes..., 0};
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

  template <class M>
  static constexpr bool given_in_bulk = P.gives_in_bulk && is_of_words<M> && (cell_of<M>::kind != cell_kind::counted || P.counts_in_32);

  /// Folds the block's own cells into those of all.
  __device__ __forceinline__ void give_own() const {
    if constexpr (P.gives_in_bulk)
      show_own_words();
    __syncthreads();
    if constexpr (P.gives_in_bulk) {
      i64 const left = stride() - first_own();
      unsigned const n = left < own_slots() ? unsigned(left < 0 ? 0 : left) : own_slots(), turned = unsigned(i64(n / 4) * block() / blocks()) * 4;
      for_each_index<folds>([&](auto i) {
        if constexpr (given_in_bulk<typename nth_t<i, Leaves...>::monoid_type>)
          cell<i, true>::give_in_bulk(own_cells(i), own_cell_count(), cells_of(i), stride(), first_own(), n, turned);
      });
    }
    if constexpr (!(true && ... && given_in_bulk<typename Leaves::monoid_type>))
      for (unsigned g = threadIdx.x; g < own_cell_count(); g += blockDim.x) {
        i64 const slot = hot ? i64(tags()[g]) : i64(first_own()) + g / P.replicas;
        if (slot < slots())
          for_each_index<folds>([&](auto i) {
            if constexpr (!given_in_bulk<typename nth_t<i, Leaves...>::monoid_type>)
              cell<i, true>::give(own_cells(i), own_cell_count(), g, cells_of(i), stride(), slot, get<i>(p.leaves).monoid);
          });
      }
    if constexpr (P.gives_in_bulk)
      wait_for_words();
  }

  __device__ __forceinline__ auto walk() const {
    return keyed_walk<P.elements_per_load, P.loads_in_flight, ~u32(0), Program>{p, at, block(), blocks()};
  }

  /// Where slot s of a block's own is, in the replica of this turn.
  __device__ __forceinline__ static unsigned own_cell(unsigned s, unsigned turn) { return s * P.replicas + (turn & (P.replicas - 1)); }

  /// Says to `give` where slot g is: in the block's own table (a true_type) or in that of all, among how many, and where a fold's cells are.
  template <class Give>
  __device__ __forceinline__ void at_slot(i64 g, unsigned turn, Give const& give) const {
    auto const own = [&](unsigned cell) { give(cuda::std::true_type{}, own_cell_count(), cell, [&](int i) { return own_cells(i); }); };
    auto const all = [&] { give(cuda::std::false_type{}, slots(), g, [&](int i) { return cells_of(i); }); };
    if constexpr (shared) {
      unsigned const s = static_cast<unsigned>(g) - first_own();
      if (P.ranges == 1 || s < own_slots())
        own(own_cell(s, turn));
    } else if constexpr (hot) {
      unsigned const slot = static_cast<unsigned>(g), here = slot & (P.hot_slots - 1);
      unsigned owner = tags()[here];
      if (owner == nobody)
        owner = atomicCAS(tags() + here, nobody, slot), owner = owner == nobody ? slot : owner;
      if (owner == slot)
        own(here);
      else
        all();
    } else {
      all();
    }
  }
  /// Feeds one row to a slot.
  template <class Row>
  __device__ __forceinline__ void add(Row const& r, i64 g) const {
    at_slot(g, threadIdx.x, [&](auto own, auto count, auto slot, auto const& base_of) { add_to<decltype(own)::value>(r, count, slot, base_of); });
  }
  /// Feeds the rows of a warp, V a lane, to a slot that all of them have.
  template <int V, class RowAt>
  __device__ __forceinline__ void add_of_warp(RowAt const& row_at, i64 g) const {
    at_slot(g, threadIdx.x / 32, [&](auto own, auto count, auto slot, auto const& base_of) {
      constexpr bool Own = decltype(own)::value;
      for_each_index<folds>([&](auto i) {
        auto const& l = get<i>(p.leaves);
        if constexpr (adds_once_a_warp<typename nth_t<i, Leaves...>::monoid_type>) {
          auto const s = fold_warp<V>(l, row_at);
          if (threadIdx.x % 32 == 0)
            cell<i, Own>::add_state(base_of(i), count, slot, to.locks, l.monoid, s);
        } else {
          for (int v = 0; v < V; ++v)
            add_one<i, Own>(row_at(v), count, slot, base_of(i));
        }
      });
    });
  }
  /// A slot in the cells of all, or in copies of them.
  struct place_of_slot {
    bool in_copies;
    i64 slot;
  };
  template <class Row>
  __device__ __forceinline__ void add_to_all(Row const& r, place_of_slot to_slot) const {
    add_to<false>(r, to_slot.in_copies ? copied_slots() : slots(), to_slot.slot, [&](int i) { return home_of(to_slot, i); });
  }
  __device__ __forceinline__ char* home_of(place_of_slot to_slot, int i) const { return to_slot.in_copies ? copies_of(i) : cells_of(i); }
  template <bool Own, class Row, class I, class CellsOf>
  __device__ __forceinline__ void add_to(Row const& r, I count, I slot, CellsOf const& base_of) const {
    for_each_index<folds>([&](auto i) { add_one<i, Own>(r, count, slot, base_of(i)); });
  }
  template <int K, bool Own, class Row, class I>
  __device__ __forceinline__ void add_one(Row const& r, I count, I slot, char* base) const {
    auto const& l = get<K>(p.leaves);
    if (l.mask.eval(r))
      unpack([&](auto const&... v) { cell<K, Own>::add(base, count, slot, to.locks, l.monoid, r.position, v.eval(r)...); }, l.values);
  }
  /// Strays are told in a second walk, so that the first one has no branch for them: they end in an error.
  __device__ __forceinline__ void by_elements() const {
    bool strays = false;
    [[maybe_unused]] u32 const counts = one_count ? kept_address(own_cells(0) + sizeof(unsigned) * own_cell(0, threadIdx.x)) : 0;
    auto const feed = [&](auto const& r, i64 groups, i64 kept) {
      row_in_bins const in = look_at(where, r);
      strays |= in.strays;
      i64 const g = in.bin * groups + kept;
      if constexpr (one_count) {
        unsigned const s = static_cast<unsigned>(g) - first_own();
        if (in.inside & (P.ranges == 1 || s < own_slots()))
          count_at(counts + s * u32(sizeof(unsigned) * P.replicas));
      } else if (in.inside) {
        add(r, g);
      }
    };
    auto const feed_one = [&](auto const& r) { feed(r, 1, 0); };
    auto const feed_load = [&](auto const& row_at, bool whole_block) {
      constexpr int V = P.elements_per_load;
      unsigned slot[V];
#pragma unroll
      for (int v = 0; v < V; ++v) {
        row_in_bins const in = look_at(where, row_at(v));
        strays |= in.strays;
        slot[v] = in.inside ? static_cast<unsigned>(in.bin) : nobody;
      }
      if (whole_block && warp_has_one(slot)) {
        if (slot[0] != nobody)
          add_of_warp<V>(row_at, slot[0]);
      } else {
#pragma unroll
        for (int v = 0; v < V; ++v)
          if (slot[v] != nobody)
            add(row_at(v), slot[v]);
      }
    };
    if constexpr (P.in_order && (shared || hot) && (false || ... || adds_once_a_warp<typename Leaves::monoid_type>))
      walk().in_order(feed_one, feed_load, to_the_end{});
    else if constexpr (P.in_order)
      walk().in_order(feed_one, to_the_end{});
    else
      walk().place_by_place([&](auto const& r, i64 kept) { feed(r, at.groups, kept); }, to_the_end{});
    if constexpr (!Where::drops_strays)
      if (__syncthreads_or(strays))
        walk().once_more([&](auto const& r) { bin_of(where, r, to.stray); });
  }

  /// The bin of a row of neighbours that have one key.
  template <bool Tells>
  __device__ __forceinline__ i64 bin_of_row(i64 r) const {
    auto const place = place_of_row(r);
    return bin_of<Tells>(where, row_at_place(p.columns, place, place.position), to.stray);
  }
  __device__ __forceinline__ grid_place<columns> place_of_row(i64 r) const {
    grid_place<columns> place{};
    if constexpr (P.in_order)
      place.move(at.reduced[0], r);
    else
      move_along(place, at.reduced, at.reduced_axes, r);
    return place;
  }
  /// Where the first slot of a bin is.
  __device__ __forceinline__ place_of_slot slots_of_bin(int bin) const {
    if constexpr (copied && P.hot_keys == 0)
      return {true, blockIdx.x % P.copies * slots_of_copy(slots()) + i64(bin) * at.groups};
    if constexpr (P.hot_keys > 0)
      if (int const number = hot_list().number_of(bin); number >= 0)
        return {true, (i64(blockIdx.x % P.copies) * P.hot_keys + number) * at.groups};
    return {false, i64(bin) * at.groups};
  }
  /// Threads beside each other hold neighbours of one row, which have one key.
  __device__ __forceinline__ void by_rows() const {
    constexpr int V = P.elements_per_load, U = P.loads_in_flight, T = P.threads_per_row;
    int const x = int(threadIdx.x) % T;
    i64 const rows_of_block = blockDim.x / T, rows_of_grid = rows_of_block * blocks();
    for (i64 first = rows_of_block * block() + threadIdx.x / T; first < at.extent; first += rows_of_grid * U) {
      int bin[U];
#pragma unroll
      for (int u = 0; u < U; ++u)
        bin[u] = first + u * rows_of_grid < at.extent ? static_cast<int>(bin_of_row<true>(first + u * rows_of_grid)) : -1;
      if constexpr (P.asks_ahead)
        ask_for(bin);
      for (i64 k = i64(x) * V; k < at.groups; k += T * V) {
        rows_beside<V, Columns...> rows[U];
#pragma unroll
        for (int u = 0; u < U; ++u)
          if (bin[u] >= 0) {
            auto const place = place_of_row(first + u * rows_of_grid);
            rows[u].template load<columns_folded<Program>>(p.columns, [&](int c) { return place.offset[c] + k * at.kept[0].steps[c]; });
          }
#pragma unroll
        for (int u = 0; u < U; ++u)
          if (bin[u] >= 0) {
            i64 const step = at.kept[0].position_step;
            add_neighbours<V>(rows[u], bin[u], k, place_of_row(first + u * rows_of_grid).position + k * step, step);
          }
      }
    }
  }
  /// Asks for the lines of the slots of some rows.
  template <int U>
  __device__ __forceinline__ void ask_for(int const (&bin)[U]) const {
#pragma unroll
    for (int u = 0; u < U; ++u)
      for_each_index<folds>([&](auto i) {
        using word = neighbour_of<typename nth_t<i, Leaves...>::monoid_type>;
        constexpr int of_line = 128 / int(sizeof(word));
        for (i64 k = i64(threadIdx.x % P.threads_per_row) * of_line; bin[u] >= 0 && k < at.groups; k += P.threads_per_row * of_line)
          primitive::prefetch_line(primitive::in_global(reinterpret_cast<word const*>(cells_of(i)) + i64(bin[u]) * at.groups + k));
      });
  }
  template <int V, class Rows>
  __device__ __forceinline__ void add_neighbours(Rows const& rows, int bin, i64 k, i64 position, i64 position_step) const {
    if constexpr (shared) {
#pragma unroll
      for (int j = 0; j < V; ++j)
        add(rows.row_at(p.columns, j, position + j * position_step), i64(bin) * at.groups + k + j);
    } else {
      place_of_slot to_slot = slots_of_bin(bin);
      to_slot.slot += k;
      if constexpr (P.folds_neighbours()) {
        for_each_index<folds>([&](auto i) {
          auto const& l = get<i>(p.leaves);
          neighbour_of<typename nth_t<i, Leaves...>::monoid_type> v[V];
#pragma unroll
          for (int j = 0; j < V; ++j)
            v[j] = cell<i, false>::neighbour(l.monoid, l.values.first.eval(rows.row_at(p.columns, j, position + j * position_step)));
          cell<i, false>::add_neighbours(home_of(to_slot, i), to_slot.slot, v);
        });
      } else {
#pragma unroll
        for (int j = 0; j < V; ++j)
          add_to_all(rows.row_at(p.columns, j, position + j * position_step), {to_slot.in_copies, to_slot.slot + j});
      }
    }
  }
  /// One count of every element of a slot, in shared memory: no condition stands before its add.
  static constexpr bool one_count =
      shared && folds == 1 && (false || ... || (cell_of<typename Leaves::monoid_type>::kind == cell_kind::counted && cuda::std::same_as<decltype(Leaves::mask), in_a_bin>));
};

template <keys_plan P, class Where, class Program, class Nodes>
__global__ void __launch_bounds__(P.threads_per_block, P.blocks_per_multiprocessor)
    by_key(__grid_constant__ Where const where, __grid_constant__ Program const p, __grid_constant__ axes_layout const at,
           __grid_constant__ Nodes const nodes, __grid_constant__ keyed_memory const to, answer_arrays const out, keyed_phase phase) {
  extern __shared__ __align__(16) char table[];
  keyed_read<P, Where, Program> const read{where, p, at, to, table};
  i64 const thread = i64(blockIdx.x) * blockDim.x + threadIdx.x, threads = i64(blockDim.x) * gridDim.x;
  if (phase == keyed_phase::open)
    read.open(thread, threads);
  else if (phase == keyed_phase::fold)
    read.fold();
  else if (phase == keyed_phase::meet)
    read.meet(thread, threads);
  else
    read.close(thread, threads, nodes, out);
}

} // namespace tally::inline v0::kernel
