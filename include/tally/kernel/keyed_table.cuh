// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The slots of a fold by key and their cells: in a table that a block has to itself, in one that the blocks of a cluster share, in that of all, or
// where several are, and how a row gets to its slot. Layer 4. The order is: all threads of a block, or of a cluster, open their table, add their
// rows, and give the table to that of all.
#pragma once

#include <tally/fold/folds.hpp>
#include <tally/fold/keys.hpp>
#include <tally/kernel/cluster_slots.cuh>
#include <tally/kernel/counts_in_shared.cuh>
#include <tally/kernel/aim_windows.cuh>
#include <tally/kernel/hot_keys.cuh>
#include <tally/kernel/placed_cells.cuh>
#include <tally/kernel/warp_of_few_slots.cuh>
#include <tally/plan/keys_plan.hpp>

namespace tally::v0::kernel {

/// SlotsOfPartition: that a block has to itself for a while, from `first` on; 0: it has the same for as long as it runs.
template <keys_plan P, class Program, int SlotsOfPartition = 0>
class keyed_table;
template <keys_plan P, class Columns, class... Leaves, int SlotsOfPartition>
class keyed_table<P, program<Columns, Leaves...>, SlotsOfPartition> {
public:
  using Program = program<Columns, Leaves...>;
  static constexpr int folds = int(sizeof...(Leaves));
  static constexpr bool shared = P.route != keys_route::in_global_memory, hot = P.hot_slots > 0, in_cluster = !shared && P.cluster_blocks > 1;
  static constexpr bool lanes_have_cells = cells_of_hot_keys(P) > 0; ///< of hot keys
  using together = cluster_slots<P>;
  /// One count of every element of a slot, in shared memory: no condition stands before its add.
  static constexpr bool one_count =
      shared && folds == 1 && (false || ... || (cell_of<typename Leaves::monoid_type>::kind == cell_kind::counted && cuda::std::same_as<decltype(Leaves::mask), in_a_bin>));
  /// Says that a slot of a block is nobody's yet, and that an element has none.
  static constexpr unsigned nobody = nobodys_slot;

  Program const& p;
  keyed_memory const& to;
  i64 slots;
  char* table; ///< of this block, where it has one
  unsigned first = 0; ///< slot of its partition
  int window[folds > 0 ? folds : 1] = {}; ///< the first bit that a block has of each exact sum
  u32 scattered = 0; ///< bit i is set where fold i has more in no window than is worth a mark

  template <class M, owner Of>
  static constexpr bool in_window = P.sums_in_windows && Of == owner::block && cell_of<M>::kind == cell_kind::digits;
  template <class M, owner Of>
  using cell_as = cuda::std::conditional_t<in_window<M, Of>, window_cell<M>, keyed_cell<M, Of, typename kept_word<M, P.folds_neighbours(), P.numbers_in_32>::type>>;
  template <int I, owner Of>
  using cell = cell_as<typename nth_t<I, Leaves...>::monoid_type, Of>;
  __device__ __forceinline__ char* cells_of(int i) const { return static_cast<char*>(to.cells[i]); }
  /// Of a window, in the cell of all.
  template <int I>
  __device__ __forceinline__ int first_digit() const {
    return window[I] / bits_of_digit;
  }
  /// The cells of all from the word on that the first of a block's own is given to.
  template <int I>
  __device__ __forceinline__ char* given_to() const {
    if constexpr (in_window<typename nth_t<I, Leaves...>::monoid_type, owner::block>)
      return cells_of(I) + first_digit<I>() * stride() * i64(sizeof(u64));
    else
      return cells_of(I);
  }
  /// Whether a slot says what passed its windows by: what is not marked can be read from them.
  static constexpr bool are_marked = P.sums_in_windows && (shared || hot) && P.copies == 1;
  /// Takes the windows that a sample found.
  __device__ __forceinline__ void aim() {
    if constexpr (P.sums_in_windows)
      for_each_index<folds>([&](auto i) {
        if constexpr (in_window<typename nth_t<i, Leaves...>::monoid_type, owner::block>) {
          u32 const found = this->to.windows[i];
          this->window[i] = int(found & (is_scattered - 1));
          this->scattered |= found >= is_scattered ? 1u << i : 0;
        }
      });
  }
  template <int I>
  static constexpr bool has_window = are_marked && in_window<typename nth_t<I, Leaves...>::monoid_type, owner::block>;
  template <int I>
  __device__ __forceinline__ bool is_marked() const {
    return has_window<I> && (scattered >> I & 1) == 0;
  }
  template <int I>
  __device__ __forceinline__ cell_of_all cell_beyond(i64 g) const {
    i64 const of_fold = I * words_of_bits(slots);
    if (!is_marked<I>())
      return {cells_of(I), stride(), g, first_digit<I>(), nullptr, nullptr};
    return {cells_of(I), stride(), g, first_digit<I>(), to.beyond + of_fold, to.claimed == nullptr ? nullptr : to.claimed + of_fold};
  }
  /// Before something is added to the cell of all itself.
  template <int I, owner Of>
  __device__ __forceinline__ void reach(i64 g) const {
    if constexpr (has_window<I> && Of == owner::all)
      cell<I, owner::block>::reach(cell_beyond<I>(g));
  }
  /// Whether all that fold I has of a slot is in its window.
  template <int I>
  __device__ __forceinline__ bool is_all_in_window(i64 g) const {
    return is_marked<I>() && (to.beyond[I * words_of_bits(slots) + g / 32] >> (g & 31) & 1) == 0;
  }
  /// The same of all folds that have one.
  __device__ __forceinline__ bool is_in_windows(i64 g) const {
    bool is = true;
    for_each_index<folds>([&](auto i) {
      if constexpr (has_window<i>)
        is = is && this->template is_all_in_window<i>(g);
    });
    return is;
  }
  /// The states of such a slot.
  __device__ __forceinline__ auto states_of_windows(i64 g) const {
    return [&]<int... I>(index_list<I...>) { return make_pack(state_of_window<I>(g)...); }(indices_up_to<folds>());
  }
  template <int I>
  __device__ __forceinline__ auto state_of_window(i64 g) const {
    if constexpr (has_window<I>)
      return cell<I, owner::block>::read(given_to<I>(), stride(), g, first_digit<I>());
    else
      return cell<I, owner::all>::read(cells_of(I), stride(), g, get<I>(p.leaves).monoid);
  }
  /// The whole state of any slot.
  template <int I>
  __device__ __forceinline__ auto state_of_slot(i64 g) const {
    auto const& m = get<I>(p.leaves).monoid;
    if constexpr (has_window<I>)
      if (is_all_in_window<I>(g))
        return m.whole(state_of_window<I>(g));
    return cell<I, owner::all>::read(cells_of(I), stride(), g, m);
  }
  /// Empties the cell of all that fold I has of a slot: its window, where who passes it by empties the rest.
  template <int I>
  __device__ __forceinline__ void open_of_all(i64 g) const {
    if constexpr (has_window<I>)
      if (is_marked<I>() && to.claimed != nullptr)
        return cell<I, owner::block>::open_of_all(given_to<I>(), stride(), g);
    cell<I, owner::all>::open(cells_of(I), stride(), g, get<I>(p.leaves).monoid);
  }
  /// Slots between two words of a cell of all.
  __device__ __forceinline__ i64 stride() const { return P.gives_in_bulk ? slots_given_in_bulk(slots) : slots; }
  /// How many slots a block has to itself, and which is the first.
  __device__ __forceinline__ unsigned own_slots() const {
    if constexpr (SlotsOfPartition > 0)
      return SlotsOfPartition;
    i64 const own = P.ranges == 1 ? slots : (slots - 1) / P.ranges + 1;
    return static_cast<unsigned>(P.gives_in_bulk ? slots_given_in_bulk(own) : own);
  }
  __device__ __forceinline__ unsigned first_own() const { return SlotsOfPartition > 0 ? first : P.ranges == 1 ? 0u : (blockIdx.x % P.ranges) * own_slots(); }
  /// Cells of a fold in the block's table: those of slots, then those that lanes have.
  __device__ __forceinline__ unsigned cells_of_slots() const { return hot ? unsigned(P.hot_slots) : own_slots() * unsigned(P.replicas); }
  __device__ __forceinline__ unsigned own_cell_count() const { return cells_of_slots() + unsigned(cells_of_hot_keys(P)); }
  static constexpr int own_bytes(int i) {
    constexpr int bytes[] = {cell_as<typename Leaves::monoid_type, owner::block>::bytes..., 0};
    return bytes[i];
  }
  /// Bytes of a slot in front of the cells of fold i: those of a multiple of 16 bytes come first, then of 8, so that every table is aligned.
  static constexpr int own_bytes_before(int i) {
    auto const alignment = [](int bytes) { return bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : 4; };
    int before = 0;
    for (int k = 0; k < folds; ++k)
      if (int const of_k = alignment(own_bytes(k)), of_i = alignment(own_bytes(i)); of_k > of_i || (of_k == of_i && k < i))
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
  /// The hot keys, behind the cells.
  __device__ __forceinline__ auto hot_list() const {
    return hot_keys<P.hot_keys>{reinterpret_cast<u64*>(table + (lanes_have_cells ? (unsigned(all_own_bytes()) * own_cell_count() + 7) / 8 * 8 : 0))};
  }
  /// The cell that a lane has for hot key number n.
  __device__ __forceinline__ unsigned hot_cell(unsigned lane, int n) const { return cells_of_slots() + unsigned(n) * 32 + lane % 32; }
  /// Whose the hot slots are.
  __device__ __forceinline__ unsigned* tags() const { return reinterpret_cast<unsigned*>(table + unsigned(all_own_bytes()) * own_cell_count()); }
  /// The blocks that share the elements of one range of slots, and which of them this is.
  __device__ __forceinline__ i64 block() const { return blockIdx.x / P.ranges; }
  __device__ __forceinline__ i64 blocks() const { return gridDim.x / P.ranges; }

  /// What a block keeps for its cluster, behind what it keeps to itself.
  __device__ __forceinline__ char* cluster_cells(int i) const {
    return table + P.hot_slots * (all_own_bytes() + int(sizeof(unsigned))) + unsigned(own_bytes_before(i)) * together::of_block;
  }

  /// Empties the block's table. All threads call it, of a cluster too.
  __device__ __forceinline__ void open_own() const {
    for (unsigned g = threadIdx.x; g < own_cell_count(); g += blockDim.x) {
      for_each_index<folds>([&](auto i) { cell<i, owner::block>::open(own_cells(i), own_cell_count(), g, get<i>(p.leaves).monoid); });
      if constexpr (hot)
        tags()[g] = nobody;
    }
    if constexpr (in_cluster)
      for (unsigned g = threadIdx.x; g < together::of_block; g += blockDim.x)
        for_each_index<folds>([&](auto i) { cell<i, owner::block>::open(cluster_cells(i), together::of_block, g, get<i>(p.leaves).monoid); });
    meet();
  }

  template <class M>
  static constexpr bool given_in_bulk = P.gives_in_bulk && is_of_words<M> && !in_window<M, owner::block> && (cell_of<M>::kind != cell_kind::counted || P.numbers_in_32);

  /// Folds the block's cells into those of all. All threads call it.
  __device__ __forceinline__ void give_own() const {
    if constexpr (P.gives_in_bulk)
      show_own_words();
    meet();
    if constexpr (in_cluster)
      show_own_words(); // what the other blocks added here, by who asks for it
    if constexpr (P.gives_in_bulk && shared) {
      i64 const left = stride() - first_own();
      unsigned const n = left < own_slots() ? unsigned(left < 0 ? 0 : left) : own_slots(), turned = unsigned(i64(n / 4) * block() / blocks()) * 4;
      for_each_index<folds>([&](auto i) {
        if constexpr (given_in_bulk<typename nth_t<i, Leaves...>::monoid_type>)
          cell<i, owner::block>::give_in_bulk(own_cells(i), own_cell_count(), given_to<i>(), stride(), first_own(), n, turned);
      });
    }
    if constexpr (in_cluster)
      give_pages();
    if constexpr (hot || !(true && ... && (given_in_bulk<typename Leaves::monoid_type> || summed_first<typename Leaves::monoid_type>)))
      for (unsigned k = threadIdx.x, begin = begin_of(cells_of_slots()); k < cells_of_slots(); k += blockDim.x) {
        unsigned const g = turned(k, begin, cells_of_slots());
        i64 const slot = hot ? i64(tags()[g]) : i64(first_own()) + g / P.replicas;
        if (slot < slots)
          for_each_index<folds>([&](auto i) {
            using M = typename nth_t<i, Leaves...>::monoid_type;
            if constexpr (!summed_first<M> && (hot || !given_in_bulk<M>))
              give_one<i>(g, slot);
          });
      }
    if constexpr ((false || ... || summed_first<typename Leaves::monoid_type>))
      for (unsigned k = threadIdx.x, begin = begin_of(own_slots()); k < own_slots(); k += blockDim.x)
        if (unsigned const g = turned(k, begin, own_slots()); i64(first_own()) + g < slots)
          for_each_index<folds>([&](auto i) {
            if constexpr (summed_first<typename nth_t<i, Leaves...>::monoid_type>)
              give_sum<i>(g * unsigned(P.replicas), unsigned(P.replicas), i64(first_own()) + g);
          });
    if constexpr (lanes_have_cells)
      give_hot_cells();
    if constexpr (P.gives_in_bulk)
      wait_for_words();
  }

  /// Where slot s of a block's own is, in the replica of this turn.
  __device__ __forceinline__ static unsigned own_cell(unsigned s, unsigned turn) { return s * P.replicas + (turn & (P.replicas - 1)); }

  /// Says to `give` where slot g is: whose cell it is (an owner), among how many, which, and where a fold's cells are.
  template <class Give>
  __device__ __forceinline__ void at_slot(i64 g, unsigned turn, Give const& give) const {
    auto const own = [&](unsigned cell) { give(owned_by<owner::block>{}, own_cell_count(), cell, [&](int i) { return own_cells(i); }); };
    auto const all = [&] {
      if constexpr (in_cluster)
        if (unsigned const s = static_cast<unsigned>(g); s < together::all)
          return give(owned_by<owner::cluster>{}, together::of_block, together::cell_of(s), [&](int i) { return together::with(s, cluster_cells(i)); });
      give(owned_by<owner::all>{}, stride(), g, [&](int i) { return cells_of(i); });
    };
    if constexpr (shared) {
      unsigned const s = static_cast<unsigned>(g) - first_own();
      if (P.ranges > 1 && s >= own_slots())
        return;
      if constexpr (lanes_have_cells)
        if (int const n = hot_list().number_of(int(g)); n >= 0)
          return own(hot_cell(turn, n));
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
    at_slot(g, threadIdx.x, [&](auto of, auto count, auto slot, auto const& base_of) { add_to<decltype(of)::value>(r, count, slot, base_of, g); });
  }
  /// Feeds those rows of a warp, V a lane, to slot g that takes(v).
  template <int V, class RowAt, class Takes>
  __device__ __forceinline__ void add_of_warp(RowAt const& row_at, i64 g, Takes const& takes) const {
    at_slot(g, threadIdx.x / 32, [&](auto of, auto count, auto slot, auto const& base_of) {
      constexpr owner Of = decltype(of)::value;
      for_each_index<folds>([&](auto i) {
        auto const& l = get<i>(p.leaves);
        using M = typename nth_t<i, Leaves...>::monoid_type;
        reach<i, Of>(g);
        if constexpr (!adds_once_a_warp<M, in_cluster, hot>) {
          for (int v = 0; v < V; ++v)
            if (takes(v))
              add_one<i, Of>(row_at(v), count, slot, base_of(i), g);
        } else if constexpr (in_window<M, Of>) {
          cell<i, Of>::add_of_warp(base_of(i), count, slot, window[i], [&] { return this->template cell_beyond<decltype(i)::value>(g); }, l.monoid, numbers_of<V>(l, row_at, takes));
        } else if constexpr (cell_of<M>::kind == cell_kind::digits) {
          cell<i, Of>::add_of_warp(base_of(i), count, slot, numbers_of<V>(l, row_at, takes));
        } else {
          auto const s = fold_warp<V>(l, row_at, takes);
          if (threadIdx.x % 32 == 0)
            add_state<i, Of>(s, count, slot, base_of(i), g);
        }
      });
    });
  }
  /// Whether a warp whose elements have few slots adds once to each.
  static constexpr bool looks_for_few_slots = (shared || hot) && (false || ... || adds_once_a_warp<typename Leaves::monoid_type, in_cluster, hot>);
  /// Feeds V rows of a lane to their slots, or nobody's; whole: all lanes of the warp have some.
  template <int V, class RowAt>
  __device__ __forceinline__ void add_rows(RowAt const& row_at, unsigned const (&slot)[V], bool whole) const {
    if (whole && add_few(row_at, slot))
      return;
#pragma unroll
    for (int v = 0; v < V; ++v)
      if (slot[v] != nobody) {
        if constexpr (P.turns_of_table > 0)
          add_alone(p, to, slots, table, row_at(v), slot[v]);
        else
          add(row_at(v), slot[v]);
      }
  }
  template <owner Of, class Row, class I, class CellsOf>
  __device__ __forceinline__ void add_to(Row const& r, I count, I slot, CellsOf const& base_of, i64 g) const {
    for_each_index<folds>([&](auto i) { add_one<i, Of>(r, count, slot, base_of(i), g); });
  }
  /// Feeds a row to fold K of slot g, whose cell is there.
  template <int K, owner Of, class Row, class I>
  __device__ __forceinline__ void add_one(Row const& r, I count, I slot, char* base, i64 g) const {
    auto const& l = get<K>(p.leaves);
    if (!l.mask.eval(r))
      return;
    reach<K, Of>(g);
    unpack([&](auto const&... v) {
      if constexpr (is_once<K, Of>)
        add_state<K, Of>(l.monoid.lift(r.position, v.eval(r)...), count, slot, base, g);
      else if constexpr (in_window<typename nth_t<K, Leaves...>::monoid_type, Of>)
        cell<K, Of>::add(base, count, slot, window[K], [&] { return cell_beyond<K>(g); }, l.monoid, v.eval(r)...);
      else
        cell<K, Of>::add(base, count, slot, to.locks, l.monoid, r.position, v.eval(r)...);
    }, l.values);
  }
  template <int K, owner Of>
  static constexpr bool is_once = Of == owner::cluster && is_added_once<typename nth_t<K, Leaves...>::monoid_type>;
  template <int K, owner Of, class State, class I>
  __device__ __forceinline__ void add_state(State const& s, I count, I slot, char* base, i64 g) const {
    auto const& m = get<K>(p.leaves).monoid;
    if constexpr (!is_once<K, Of>)
      cell<K, Of>::add_state(base, count, slot, to.locks, m, s);
    else if (!add_unless_taken(cells::word<float>(base, count, slot, 0), static_cast<float>(s)))
      cell<K, owner::all>::add_state(cells_of(K), stride(), g, to.locks, m, s);
  }

private:
  /// Whether it does so for several: where keys come in runs, and no exact sum is added element by element; else that would take registers that other warps need.
  static constexpr bool adds_slot_by_slot =
      hot && (true && ... && (cell_of<typename Leaves::monoid_type>::kind != cell_kind::digits || adds_once_a_warp<typename Leaves::monoid_type, in_cluster, hot>));
  /// Feeds one row to a slot where keys come in runs: in a function of its own, so that other warps go through little code and have the registers.
  template <class Row>
  __device__ __noinline__ static void add_alone(Program const& p, keyed_memory const& to, i64 slots, char* table, Row r, unsigned slot) {
    keyed_table of_row{p, to, slots, table};
    of_row.aim();
    of_row.add(r, slot);
  }
  /// Feeds V rows of every lane of a warp that have few slots, or one.
  template <int V, class RowAt>
  __device__ __forceinline__ bool add_few(RowAt const& row_at, unsigned const (&slot)[V]) const {
    if constexpr (adds_slot_by_slot) {
      if (!warp_has_few(slot))
        return false;
      for_each_slot_of_warp(slot, [&](unsigned one, auto const& takes) { add_of_warp<V>(row_at, one, takes); });
    } else {
      unsigned one = nobody;
      if (!warp_has_one(slot, one))
        return false;
      if (one != nobody)
        add_of_warp<V>(row_at, one, [&](int v) { return slot[v] != nobody; });
    }
    return true;
  }
  template <owner Of>
  using owned_by = cuda::std::integral_constant<owner, Of>;
  /// All who use the tables: what they did before is seen by all after.
  __device__ __forceinline__ static void meet() {
    if constexpr (in_cluster)
      meet_cluster();
    else
      __syncthreads();
  }
  /// Number k of so many, from where blocks begin that give the same: each elsewhere, so that they do not meet in one line of memory all along.
  __device__ __forceinline__ static unsigned turned(unsigned k, unsigned begin, unsigned count) { return k + begin < count ? k + begin : k + begin - count; }
  __device__ __forceinline__ unsigned begin_of(unsigned count) const { return count * unsigned(block()) / unsigned(blocks()); }
  /// Whether the replicas of a cell are combined before they are given: but for digits, which are many words.
  template <class M>
  static constexpr bool summed_first = P.replicas > 1 && (cell_of<M>::kind != cell_kind::digits || in_window<M, owner::block>) && cell_of<M>::kind != cell_kind::locked;
  /// Adds `count` cells of fold I, a power of two of them from `from` on, which are all of one slot, to that of all.
  template <int I>
  __device__ __forceinline__ void give_sum(unsigned from, unsigned count, i64 slot) const {
    using own = cell<I, owner::block>;
    auto const& m = get<I>(p.leaves).monoid;
    if constexpr (in_window<typename nth_t<I, Leaves...>::monoid_type, owner::block>) {
      own::give(own_cells(I), own_cell_count(), from, count, given_to<I>(), stride(), slot, window[I]);
    } else {
      auto s = m.identity();
#pragma unroll 1
      for (unsigned r = 0; r < count; ++r) // neighbouring threads look into different banks
        s = m.combine(s, own::read(own_cells(I), own_cell_count(), from + ((threadIdx.x + r) & (count - 1)), m));
      if constexpr (requires { s == s; })
        if (s == m.identity())
          return;
      cell<I, owner::all>::add_state(cells_of(I), stride(), slot, to.locks, m, s);
    }
  }
  /// The same of one cell.
  template <int I>
  __device__ __forceinline__ void give_one(unsigned from, i64 slot) const {
    if constexpr (in_window<typename nth_t<I, Leaves...>::monoid_type, owner::block>)
      give_sum<I>(from, 1, slot);
    else
      cell<I, owner::block>::give(own_cells(I), own_cell_count(), from, given_to<I>(), stride(), slot, get<I>(p.leaves).monoid);
  }
  /// Folds the cells that lanes have of hot keys into those of all.
  __device__ __forceinline__ void give_hot_cells() const {
    for (unsigned t = threadIdx.x; t < unsigned(hot_places(P.hot_keys)); t += blockDim.x)
      if (u64 const key = hot_list().places[t]; key != no_hot_key && static_cast<unsigned>(hot_bin(key)) - first_own() < own_slots())
        for_each_index<folds>([&](auto i) {
          unsigned const from = hot_cell(0, hot_number(key));
          using M = typename nth_t<i, Leaves...>::monoid_type;
          if constexpr (cell_of<M>::kind != cell_kind::digits || in_window<M, owner::block>) {
            give_sum<i>(from, 32, hot_bin(key));
          } else {
#pragma unroll 1
            for (unsigned lane = 0; lane < 32; ++lane)
              give_one<i>(from + lane, hot_bin(key));
          }
        });
  }
  /// Folds what the block keeps for its cluster into the cells of all, clusters beginning apart.
  __device__ __forceinline__ void give_pages() const {
    unsigned const begin = unsigned(i64(together::pages) * block() / blocks());
    for (unsigned t = threadIdx.x; t < together::pages; t += blockDim.x) {
      unsigned const page = (t + begin) % together::pages, from = page * together::of_page;
      i64 const first = together::first_of(page), left = stride() - first;
      unsigned const n = left < together::of_page ? unsigned(left < 0 ? 0 : left) : together::of_page;
      for_each_index<folds>([&](auto i) {
        using own = cell<i, owner::block>;
        if constexpr (given_in_bulk<typename nth_t<i, Leaves...>::monoid_type>)
          own::give_words(cluster_cells(i), together::of_block, from, cells_of(i), stride(), first, n, 0);
        else
          for (unsigned g = 0; g < n && first + g < slots; ++g)
            own::give(cluster_cells(i), together::of_block, from + g, cells_of(i), stride(), first + g, get<i>(p.leaves).monoid);
      });
    }
  }
};

} // namespace tally::v0::kernel
