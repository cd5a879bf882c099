// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The routes of folds by key: every element goes to the cells of its slot, in shared memory of its block first or at once to
// global memory, or to copies of them that meet afterwards. Layer 4. What each phase of a read does.
#pragma once

#include <tally/fold/key_table.hpp>
#include <tally/kernel/answers.cuh>
#include <tally/kernel/bin_of.cuh>
#include <tally/kernel/keyed_table.cuh>
#include <tally/kernel/keyed_walk.cuh>
#include <tally/primitive/prefetch.cuh>

namespace tally::v0::kernel {

/// Whether the values of an expression are made, one by one, of numbers of another type than the word that is folded: each has a register of its own
/// then, and goes to `red` alone; what was loaded as it is stands in pairs. Instructions of the machine code of sm_90, in pairs and alone, 2026-11-25:
/// rows of f32 kept in f16 or bf16 2464 and 2408, their greatest 2552 and 2496, of u8 2728 and 2736; squares of bf16 kept in bf16 2584 and 2608.
template <class Word, class Value, class E>
inline constexpr bool is_converted = !cuda::std::is_same_v<Word, Value>;
template <class Word, class Value, class To, class E>
inline constexpr bool is_converted<Word, Value, call<op::cast<To>, E>> = true;

template <keys_plan P, class Where, class Program, int SlotsOfPartition = 0>
class keyed_read;
template <keys_plan P, class Where, class... Columns, class... Leaves, int SlotsOfPartition>
class keyed_read<P, Where, program<pack<Columns...>, Leaves...>, SlotsOfPartition> : protected keyed_table<P, program<pack<Columns...>, Leaves...>, SlotsOfPartition> {
protected:
  using Table = keyed_table<P, program<pack<Columns...>, Leaves...>, SlotsOfPartition>;
  template <int I, owner Of>
  using cell = typename Table::template cell<I, Of>;
  using Table::p, Table::to, Table::slots, Table::table, Table::folds, Table::shared, Table::hot, Table::nobody, Table::one_count;
  using Table::cells_of, Table::stride, Table::own_cells, Table::own_cell, Table::own_slots, Table::first_own, Table::block, Table::blocks;
  using Table::add;

public:
  using Program = program<pack<Columns...>, Leaves...>;
  static constexpr int columns = int(sizeof...(Columns));
  static constexpr bool copied = P.copies > 1;

  Where const& where;
  axes_layout const& at;
  __device__ __forceinline__ keyed_read(Where const& bins, Program const& folded, axes_layout const& lies, keyed_memory const& memory, char* of_block)
      : Table{folded, memory, bins.bins * lies.groups, of_block}, where(bins), at(lies) {}

  /// Finds windows, before the read where it takes no more than them.
  __device__ void aim_at_sample() const {
    if constexpr (P.sums_in_windows)
      aim_windows(to.windows, reinterpret_cast<unsigned*>(table), where, p, at.extent, [&](i64 e) { return walk().row_of_number(e); });
  }
  __device__ void open(i64 thread, i64 threads) {
    if (to.claimed != nullptr)
      Table::aim();
    for (i64 g = thread; g < slots; g += threads)
      for_each_index<folds>([&](auto i) { this->template open_of_all<i>(g); });
    if constexpr (copied)
      for (i64 g = thread; g < copied_slots(); g += threads)
        for_each_index<folds>([&](auto i) { cell<i, owner::all>::open(copies_of(i), copied_slots(), g, get<i>(p.leaves).monoid); });
    if constexpr (P.hot_keys > 0)
      if (blockIdx.x == 0)
        find_hot_keys<P.hot_keys>(to.hot, reinterpret_cast<unsigned*>(table), at.extent, [&](i64 r) { return P.threads_per_row > 0 ? bin_of_row<false>(r) : bin_of_element(r); });
    if (to.claimed == nullptr && blockIdx.x == gridDim.x - 1)
      aim_at_sample();
    if constexpr (Table::are_marked)
      for (i64 k = thread; k < folds * words_of_bits(slots); k += threads) {
        to.beyond[k] = 0;
        if (to.claimed != nullptr)
          to.claimed[k] = 0;
      }
    if (thread == 0)
      to.stray[0] = ~u64(0), to.stray[2] = 0;
  }
  __device__ __forceinline__ void fold() {
    Table::aim();
    if constexpr (Table::lanes_have_cells)
      if (!Table::hot_list().fill(to.hot))
        return keyed_read<without_hot_keys(P), Where, Program, SlotsOfPartition>{where, p, at, to, table}.fold();
    if constexpr (P.turns_of_table > 0)
      fold_table_by_table();
    else
      fold_into_table(walk());
  }
  /// Adds copies to the slots that they are copies of.
  __device__ void meet(i64 thread, i64 threads) const {
    if constexpr (copied) {
      constexpr i64 keys = P.hot_keys > 0 ? hot_places(P.hot_keys) : 1;
      i64 const row = P.hot_keys > 0 ? at.groups : slots;
      for (i64 t = thread; t < keys * P.copies * row; t += threads) {
        i64 const copy = t / row % P.copies, k = t % row;
        i64 from = copy * slots_of_copy(slots) + k, slot = k;
        if constexpr (P.hot_keys > 0) {
          u64 const key = to.hot[t / row / P.copies];
          if (key == no_hot_key)
            continue;
          from = (copy * P.hot_keys + hot_number(key)) * row + k;
          slot = i64(hot_bin(key)) * row + k;
        }
        for_each_index<folds>([&](auto i) { cell<i, owner::all>::give(copies_of(i), copied_slots(), from, cells_of(i), slots, slot, get<i>(p.leaves).monoid); });
      }
    }
  }
  template <class Nodes>
  __device__ void close(i64 thread, i64 threads, Nodes const& nodes, answer_arrays const& out) {
    Table::aim();
    if constexpr (!P.in_place)
      for (i64 g = thread; g < slots; g += threads) {
        if constexpr (Table::are_marked && answers::all_take_near_sums<Nodes>)
          if (Table::is_in_windows(g)) {
            answer(Table::states_of_windows(g), nodes, out, g);
            continue;
          }
        typename Program::states s;
        for_each_index<folds>([&](auto i) { get<i>(s) = this->template state_of_slot<i>(g); });
        answer(s, nodes, out, g);
      }
    if (thread == 0 && to.stray[0] != ~u64(0))
      to.stray[1] = key_at(static_cast<i64>(to.stray[0]));
  }

protected:
  /// Writes the answers of slot g, whose states are these, and tells of overflow.
  template <class States, class Nodes>
  __device__ __forceinline__ void answer(States const& s, Nodes const& nodes, answer_arrays const& out, i64 g) const {
    for_each_index<folds>([&](auto i) {
      auto const& m = get<i>(p.leaves).monoid;
      auto const& of = get<i>(s);
      if constexpr (requires { m.overflowed(of); })
        if (m.overflowed(of))
          this->to.stray[2] = 1;
    });
    write_answers(p, nodes, s, 1, out, g);
  }
  /// The key at a position of the source.
  __device__ u64 key_at(i64 position) const { return static_cast<u64>(where.key.eval(walk().row_at_position(position))); }
  using Walk = keyed_walk<P.elements_per_load, P.loads_in_flight, ~u32(0), Program, P.on_rows, P.standing, P.apart>;
  __device__ __forceinline__ Walk walk() const { return {p, at, block(), blocks()}; }
  /// Feeds every element of a walk to the slot of its key.
  __device__ __forceinline__ void feed_all(Walk const& elements) const {
    if constexpr (P.threads_per_row > 0)
      by_rows();
    else
      by_elements(elements);
  }

private:
  /// Folds the elements of a walk, in a table of the block where it has one.
  __device__ __forceinline__ void fold_into_table(Walk const& elements) const {
    if constexpr (shared || hot)
      Table::open_own();
    if constexpr (copied && P.hot_keys > 0)
      Table::hot_list().fill(to.hot);
    feed_all(elements);
    if constexpr (shared || hot)
      Table::give_own();
  }
  /// Folds neighbouring turns in one table after the other, as many tables by each block, and as many turns in each.
  __device__ __forceinline__ void fold_table_by_table() const {
    constexpr i64 of_turn = P.elements_of_turn();
    i64 const turns = (at.extent + of_turn - 1) / of_turn, most = blocks() * P.turns_of_table;
    i64 const tables = (turns + most - 1) / most * blocks(), of_table = (turns + tables - 1) / tables;
    for (i64 turn = block() * of_table; turn < turns; turn += blocks() * of_table) {
      fold_into_table(Walk{p, at, turn, 1, (turn + of_table) * of_turn});
      __syncthreads(); // other threads gave what this one empties next
    }
  }
  __device__ __forceinline__ char* copies_of(int i) const { return static_cast<char*>(to.copies[i]); }
  __device__ __forceinline__ i64 copied_slots() const { return tally::v0::copied_slots(P, slots, at.groups); }

  /// A slot in the cells of all, or in copies of them.
  struct place_of_slot {
    bool in_copies;
    i64 slot;
  };
  template <class Row>
  __device__ __forceinline__ void add_to_all(Row const& r, place_of_slot to_slot) const {
    Table::template add_to<owner::all>(r, to_slot.in_copies ? copied_slots() : slots, to_slot.slot, [&](int i) { return home_of(to_slot, i); }, to_slot.slot);
  }
  __device__ __forceinline__ char* home_of(place_of_slot to_slot, int i) const { return to_slot.in_copies ? copies_of(i) : cells_of(i); }
  /// Strays are told in a second walk, so that the first one has no branch for them: they end in an error.
  __device__ __forceinline__ void by_elements(Walk const& elements) const {
    bool strays = false;
    [[maybe_unused]] u32 const counts = one_count ? kept_address(own_cells(0) + sizeof(unsigned) * own_cell(0, threadIdx.x)) : 0;
    auto const feed = [&](auto const& r, i64 groups, i64 kept) {
      row_in_bins const in = look_at(where, r);
      strays |= in.strays;
      i64 const g = in.bin * groups + kept;
      if constexpr (one_count) {
        unsigned const s = static_cast<unsigned>(g) - first_own();
        count_at(counts + s * u32(sizeof(unsigned) * P.replicas), in.inside & (P.ranges == 1 || s < own_slots()));
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
      Table::add_rows(row_at, slot, whole_block);
    };
    if constexpr (P.in_order && Table::looks_for_few_slots)
      elements.in_order(feed_one, feed_load, to_the_end{});
    else if constexpr (P.in_order)
      elements.in_order(feed_one, to_the_end{});
    else
      elements.place_by_place([&](auto const& r, i64 kept) { feed(r, at.groups, kept); }, to_the_end{});
    if constexpr (!Where::drops_strays)
      if (__syncthreads_or(strays))
        elements.once_more([&](auto const& r) { bin_of(where, r, to.stray); });
  }

  /// The bin of the element at a position of the source, or -1.
  __device__ i64 bin_of_element(i64 position) const {
    row_in_bins const in = look_at(where, walk().row_at_position(position));
    return in.inside ? i64(in.bin) : -1;
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
      return {true, blockIdx.x % P.copies * slots_of_copy(slots) + i64(bin) * at.groups};
    if constexpr (P.hot_keys > 0)
      if (int const number = Table::hot_list().number_of(bin); number >= 0)
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
        rows_beside<V, 0, 0, Columns...> rows[U];
#pragma unroll
        for (int u = 0; u < U; ++u)
          if (bin[u] >= 0) {
            auto const place = place_of_row(first + u * rows_of_grid);
            rows[u].template load<columns_folded<Program>>(p.columns, [&](int c, int) { return place.offset[c] + k * at.kept[0].steps[c]; });
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
          using Word = neighbour_of<typename nth_t<i, Leaves...>::monoid_type>;
          auto const value = [&](int j) { return l.values.first.eval(rows.row_at(p.columns, j, position + j * position_step)); };
          Word v[V];
#pragma unroll
          for (int j = 0; j < V; ++j)
            v[j] = cell<i, owner::all>::neighbour(l.monoid, value(j));
          constexpr bool converted = is_converted<Word, decltype(value(0)), cuda::std::remove_cvref_t<decltype(l.values.first)>>;
          cell<i, owner::all>::template add_neighbours<converted ? halves::alone : halves::in_pairs>(home_of(to_slot, i), to_slot.slot, v);
        });
      } else {
#pragma unroll
        for (int j = 0; j < V; ++j)
          add_to_all(rows.row_at(p.columns, j, position + j * position_step), {to_slot.in_copies, to_slot.slot + j});
      }
    }
  }
};

} // namespace tally::v0::kernel
