// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The slots of a fold by key and their cells: in a table that a block has to itself, in that of all, or where both are, and how a row gets
// to its slot. Layer 4. The order is: all threads of a block open its table, add their rows, and give the table to that of all.
#pragma once

#include <tally/fold/folds.hpp>
#include <tally/fold/keys.hpp>
#include <tally/kernel/counts_in_shared.cuh>
#include <tally/kernel/keyed_cells.cuh>
#include <tally/kernel/warp_of_one_slot.cuh>
#include <tally/plan/keys_plan.hpp>

namespace tally::inline v0::kernel {

template <keys_plan P, class Program>
class keyed_table;
template <keys_plan P, class Columns, class... Leaves>
class keyed_table<P, program<Columns, Leaves...>> {
public:
  using Program = program<Columns, Leaves...>;
  static constexpr int folds = int(sizeof...(Leaves));
  static constexpr bool shared = P.route == keys_route::in_shared_memory, hot = P.hot_slots > 0;
  /// One count of every element of a slot, in shared memory: no condition stands before its add.
  static constexpr bool one_count =
      shared && folds == 1 && (false || ... || (cell_of<typename Leaves::monoid_type>::kind == cell_kind::counted && cuda::std::same_as<decltype(Leaves::mask), in_a_bin>));
  /// Says that a slot of a block is nobody's yet, and that an element has none.
  static constexpr unsigned nobody = ~0u;

  Program const& p;
  keyed_memory const& to;
  i64 slots;
  char* table; ///< of this block, where it has one

  template <class M, bool Own>
  using cell_as = keyed_cell<M, Own, typename kept_word<M, P.folds_neighbours(), P.counts_in_32>::type>;
  template <int I, bool Own>
  using cell = cell_as<typename nth_t<I, Leaves...>::monoid_type, Own>;
  __device__ __forceinline__ char* cells_of(int i) const { return static_cast<char*>(to.cells[i]); }
  /// Slots between two words of a cell of all.
  __device__ __forceinline__ i64 stride() const { return P.gives_in_bulk ? slots_given_in_bulk(slots) : slots; }
  /// How many slots a block has to itself, and which is the first.
  __device__ __forceinline__ unsigned own_slots() const {
    i64 const own = P.ranges == 1 ? slots : (slots - 1) / P.ranges + 1;
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

  /// Empties the block's table. All threads call it.
  __device__ __forceinline__ void open_own() const {
    for (unsigned g = threadIdx.x; g < own_cell_count(); g += blockDim.x) {
      for_each_index<folds>([&](auto i) { cell<i, true>::open(own_cells(i), own_cell_count(), g, get<i>(p.leaves).monoid); });
      if constexpr (hot)
        tags()[g] = nobody;
    }
    __syncthreads();
  }

  template <class M>
  static constexpr bool given_in_bulk = P.gives_in_bulk && is_of_words<M> && (cell_of<M>::kind != cell_kind::counted || P.counts_in_32);

  /// Folds the block's cells into those of all. All threads call it.
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
        if (slot < slots)
          for_each_index<folds>([&](auto i) {
            if constexpr (!given_in_bulk<typename nth_t<i, Leaves...>::monoid_type>)
              cell<i, true>::give(own_cells(i), own_cell_count(), g, cells_of(i), stride(), slot, get<i>(p.leaves).monoid);
          });
      }
    if constexpr (P.gives_in_bulk)
      wait_for_words();
  }

  /// Where slot s of a block's own is, in the replica of this turn.
  __device__ __forceinline__ static unsigned own_cell(unsigned s, unsigned turn) { return s * P.replicas + (turn & (P.replicas - 1)); }

  /// Says to `give` where slot g is: in the block's own table (a true_type) or in that of all, among how many, and where a fold's cells are.
  template <class Give>
  __device__ __forceinline__ void at_slot(i64 g, unsigned turn, Give const& give) const {
    auto const own = [&](unsigned cell) { give(cuda::std::true_type{}, own_cell_count(), cell, [&](int i) { return own_cells(i); }); };
    auto const all = [&] { give(cuda::std::false_type{}, slots, g, [&](int i) { return cells_of(i); }); };
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
  /// Whether a warp whose elements have one slot adds them once.
  static constexpr bool looks_for_one_slot = (shared || hot) && (false || ... || adds_once_a_warp<typename Leaves::monoid_type>);
  /// Feeds V rows of a lane to their slots, or nobody's; whole: all lanes of the warp have some.
  template <int V, class RowAt>
  __device__ __forceinline__ void add_rows(RowAt const& row_at, unsigned const (&slot)[V], bool whole) const {
    if (whole && warp_has_one(slot)) {
      if (slot[0] != nobody)
        add_of_warp<V>(row_at, slot[0]);
    } else {
#pragma unroll
      for (int v = 0; v < V; ++v)
        if (slot[v] != nobody)
          add(row_at(v), slot[v]);
    }
  }
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
};

} // namespace tally::inline v0::kernel
