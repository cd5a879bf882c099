// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds of rows by key, of rows that are sorted by slot. Layer 4. Neighbouring threads take a chunk of sorted rows, each for neighbouring
// columns, and fold them where they lie in the source; where the slot changes, the answers are written. Only slots whose rows are in
// several chunks meet in cells, one for each chunk: that of the chunk where the slot begins. One kernel in a launch for each phase.
#pragma once

#include <tally/fold/folds.hpp>
#include <tally/fold/keys.hpp>
#include <tally/fold/slots.hpp>
#include <tally/kernel/answers.cuh>
#include <tally/kernel/digit_cells.cuh>
#include <tally/kernel/keyed_walk.cuh>
#include <tally/kernel/near_sums.cuh>
#include <tally/kernel/placed_cells.cuh>
#include <tally/kernel/sorted_places.cuh>
#include <tally/plan/sorted_rows_plan.hpp>

namespace tally::v0::kernel {

/// A cell of a slot and a column.
template <class Cell>
struct cell_place {
  char* base;
  i64 cells, at;
  u32* locks;
  template <class M, class State>
  __device__ __forceinline__ void add_state(M const& m, State const& s) const {
    Cell::add_state(base, cells, at, locks, m, s);
  }
  template <class M, class V>
  __device__ __forceinline__ void add(M const& m, V x) const {
    Cell::add(base, cells, at, locks, m, 0, x);
  }
};

/// What a thread keeps of one leaf for V neighbouring columns while rows of one slot come: its quick state is what answers may be made of,
/// unless something was far.
template <class Leaf, int V>
struct slot_run {
  using M = typename Leaf::monoid_type;
  using quick_state = typename M::state;
  lanes_t<M, V> lanes;
  __device__ __forceinline__ explicit slot_run(Leaf const& l) : lanes(l.monoid) {}
  template <class Row>
  __device__ __forceinline__ void step(Leaf const& l, int v, Row const& r) {
    l.step(lanes, v, true, r);
  }
  __device__ __forceinline__ bool far(int) const { return false; }
  __device__ __forceinline__ quick_state quick(Leaf const& l, int v) const { return lanes.close(l.monoid, v); }
  __device__ __forceinline__ typename M::state whole(Leaf const& l, int v) const { return lanes.close(l.monoid, v); }
  template <class Cell>
  __device__ __forceinline__ void add_to(cell_place<Cell> const& to, Leaf const& l, int v) const {
    to.add_state(l.monoid, whole(l, v));
  }
};
template <class Leaf, int V>
  requires exact_monoid<typename Leaf::monoid_type>
struct slot_run<Leaf, V> {
  using M = typename Leaf::monoid_type;
  using quick_state = typename near_sum<M>::quick_state;
  near_sum<M> sums[V];
  __device__ __forceinline__ explicit slot_run(Leaf const&) {}
  template <class Row>
  __device__ __forceinline__ void step(Leaf const& l, int v, Row const& r) {
    if (l.mask.eval(r))
      unpack([&](auto const&... x) { sums[v].add(static_cast<typename M::number>(x.eval(r))...); }, l.values);
  }
  __device__ __forceinline__ bool far(int v) const { return sums[v].far(); }
  __device__ __forceinline__ quick_state quick(Leaf const&, int v) const { return sums[v].quick(); }
  __device__ __forceinline__ typename M::state whole(Leaf const& l, int v) const { return sums[v].whole(l.monoid); }
  template <class Cell>
  __device__ __forceinline__ void add_to(cell_place<Cell> const& to, Leaf const& l, int v) const {
    if constexpr (M::factors == 1)
      sums[v].in_numbers([&](typename M::number x) { to.add(l.monoid, x); });
    else
      to.add_state(l.monoid, whole(l, v));
  }
};

template <sorted_rows_plan P, class Program, class Nodes>
class sorted_rows_read;
template <sorted_rows_plan P, class... Columns, class... Leaves, class Nodes>
class sorted_rows_read<P, program<pack<Columns...>, Leaves...>, Nodes> {
public:
  using Program = program<pack<Columns...>, Leaves...>;
  using number = sorted_number<P.sort>;
  using element = sorted_element<P.sort>;
  using states = typename Program::states;
  static constexpr int columns = int(sizeof...(Columns)), folds = int(sizeof...(Leaves)), V = P.elements_per_load, U = P.rows_in_flight,
                       T = P.threads_per_row;

  Program const& p;
  axes_layout const& at;
  slot_sort const& sorted;
  sorted_rows_cut const& cut;
  Nodes const& nodes;
  keyed_memory const& to;
  answer_arrays const& out;

  /// Slots without rows are answered, and cells are opened for those whose rows are in several chunks. A warp looks at up to 32 slots at once.
  __device__ void open(i64 warp, i64 warps) const {
    int const lane = int(threadIdx.x % 32);
    int at_once = 1;
    while (at_once < 32 && warps * at_once < sorted.slot_count)
      at_once *= 2;
    for (i64 first = warp * at_once; first < sorted.slot_count; first += warps * at_once) {
      i64 const own = first + lane, last = sorted.slot_count - 1, begin = begin_of(own < last ? own : last), end = begin_of(own < last ? own + 1 : last + 1);
      bool const looks = lane < at_once && own <= last;
      u32 const empty = __ballot_sync(~u32(0), looks && begin == end);
      u32 const meets = __ballot_sync(~u32(0), looks && begin != end && begin / cut.chunk_rows != (end - 1) / cut.chunk_rows);
      for (u32 rest = empty; rest != 0; rest &= rest - 1)
        answer_none(first + __ffs(int(rest)) - 1, lane);
      for (u32 rest = meets; rest != 0; rest &= rest - 1)
        open_cells(cell_of_slot(first + __ffs(int(rest)) - 1), lane);
    }
  }
  __device__ __forceinline__ void fold(i64 team) const {
    i64 const chunk = team / cut.strips, k = (team - chunk * cut.strips) * (T * V) + first_column();
    if (chunk < cut.chunks && k < at.groups)
      fold_chunk(chunk * cut.chunk_rows, end_of_chunk(chunk), k);
  }
  /// Answers of the slots that met in cells.
  __device__ void close(i64 team, i64 teams) const {
    i64 const pieces = (at.groups - 1) / T + 1; // of T columns
    for (i64 item = team; item < (cut.chunks - 1) * pieces; item += teams) {
      i64 const chunk = item / pieces, k = (item - chunk * pieces) * T + threadIdx.x % T, end = end_of_chunk(chunk);
      u32 const slot = slot_at(end - 1);
      if (k < at.groups && slot == slot_at(end) && slot < sorted.slot_count && begin_of(slot) >= end - cut.chunk_rows) {
        states s[1];
        for_each_index<folds>([&](auto i) { get<i>(s[0]) = cell<i>::read(cells_of(i), cell_count(), chunk * at.groups + k, get<i>(p.leaves).monoid); });
        write(s, i64(slot) * at.groups + k);
      }
    }
  }

private:
  /// Whether answers can be made of quick states, and those are others.
  static constexpr bool quick = (false || ... || exact_monoid<typename Leaves::monoid_type>) && answers::all_take_near_sums<Nodes>;
  using quick_states = pack<typename slot_run<Leaves, V>::quick_state...>;
  template <int I>
  using cell = keyed_cell<typename nth_t<I, Leaves...>::monoid_type, owner::all>;
  using runs = pack<slot_run<Leaves, V>...>;

  __device__ __forceinline__ static i64 first_column() { return i64(threadIdx.x % T) * V; }
  __device__ __forceinline__ element const& element_at(i64 t) const { return static_cast<element const*>(sorted.now())[t]; }
  __device__ __forceinline__ u32 slot_at(i64 t) const { return element_at(t).slot; }
  __device__ __forceinline__ i64 begin_of(i64 slot) const { return static_cast<i64>(static_cast<number const*>(sorted.begins)[slot]); }
  __device__ __forceinline__ i64 end_of_chunk(i64 chunk) const {
    i64 const end = (chunk + 1) * cut.chunk_rows;
    return end < cut.rows ? end : cut.rows;
  }
  __device__ __forceinline__ char* cells_of(int i) const { return static_cast<char*>(to.cells[i]); }
  __device__ __forceinline__ i64 cell_count() const { return P.in_place ? sorted.slot_count * at.groups : cut.chunks * at.groups; }
  /// The cell of the first column of a slot.
  __device__ __forceinline__ i64 cell_of_slot(i64 slot) const {
    return (P.in_place ? slot : begin_of(slot) / cut.chunk_rows) * at.groups;
  }
  __device__ __forceinline__ grid_place<columns> place_of_row(i64 t) const {
    return place_of_number<P.sort>(at, grid_place<columns>{}, static_cast<i64>(element_at(t).number));
  }
  __device__ __forceinline__ runs opened() const {
    return unpack([](auto const&... l) { return runs{slot_run<cuda::std::remove_cvref_t<decltype(l)>, V>(l)...}; }, p.leaves);
  }

  __device__ __forceinline__ void answer_none(i64 slot, int lane) const {
    cuda::std::conditional_t<quick, quick_states, states> none[V];
    for (auto& s : none)
      for_each_index<folds>([&](auto i) {
        if constexpr (quick && exact_monoid<typename nth_t<i, Leaves...>::monoid_type>)
          get<i>(s) = {};
        else
          get<i>(s) = get<i>(p.leaves).monoid.identity();
      });
    for (i64 k = i64(lane) * V; k < at.groups; k += 32 * V)
      write_answers_beside(p, nodes, none, 1, out, slot * at.groups + k, V);
  }
  __device__ __forceinline__ void open_cells(i64 first, int lane) const {
    for (i64 g = first + lane; g < first + at.groups; g += 32) {
      for_each_index<folds>([&](auto i) { cell<i>::open(cells_of(i), cell_count(), g, get<i>(p.leaves).monoid); });
      if (to.locks != nullptr)
        to.locks[g] = 0;
    }
  }

  /// Sorted rows, of which some are of no slot: those are behind all others. What is behind `last` is the last.
  struct rows_ahead {
    element of[U];
    __device__ __forceinline__ void look(element const* from, int t, int last) {
#pragma unroll
      for (int u = 0; u < U; ++u)
        of[u] = from[t + u < last ? t + u : last];
    }
  };
  __device__ __forceinline__ void fold_chunk(i64 begin, i64 end, i64 k) const {
    u32 const none = static_cast<u32>(sorted.slot_count);
    element const* const from = static_cast<element const*>(sorted.now()) + begin;
    int const count = static_cast<int>(end - begin);
    rows_ahead next;
    next.look(from, 0, count - 1);
    u32 slot = next.of[0].slot;
    int piece = 0, head_rows = begin == 0 || from[-1].slot != slot ? 0 : count; // of a slot of which there are rows in front
    bool answered = true;
    runs running = opened(), head = running;
    grid_place<columns> first{};
    first.move(at.kept[0], k);
    for (int t = 0; t < count && slot < none; t += U) {
      rows_ahead const now = next;
      rows_beside<V, 0, 0, Columns...> rows[U];
      grid_place<columns> place[U];
#pragma unroll
      for (int u = 0; u < U; ++u) { // also rows of no slot: what is loaded on conditions is kept for the next turn
        place[u] = place_of_number<P.sort>(at, first, static_cast<i64>(now.of[u].number));
        rows[u].template load<columns_folded<Program>>(p.columns, [&](int c, int) { return place[u].offset[c]; });
      }
      next.look(from, t + U, count - 1);
#pragma unroll
      for (int u = 0; u < U; ++u) {
        if (t + u >= count)
          break;
        if (now.of[u].slot != slot) {
          if (piece < head_rows) {
            if constexpr (quick) { // kept for later: a call in this loop costs what it has in registers
              head = running, head_rows = t + u;
            } else {
              add_to_cells(running, slot, begin, begin + t + u, k);
              head_rows = 0;
            }
          } else {
            answered &= answer(running, slot, begin + piece, begin + t + u, k);
          }
          running = opened();
          slot = now.of[u].slot;
          piece = t + u;
        }
        if (slot < none)
#pragma unroll
          for (int v = 0; v < V; ++v)
            for_each_index<folds>([&](auto i) {
              get<i>(running).step(get<i>(p.leaves), v, rows[u].row_at(p.columns, v, place[u].position + v * at.kept[0].position_step));
            });
      }
    }
    if (0 < head_rows && head_rows < count && from[0].slot < none)
      add_to_cells(head, from[0].slot, begin, begin + head_rows, k);
    if (slot < none) {
      bool const all = piece >= head_rows && (end == cut.rows || from[count].slot != slot);
      if (all)
        answered &= answer(running, slot, begin + piece, end, k);
      else
        add_to_cells(running, slot, begin + piece, end, k);
    }
    if (!answered)
      answer_far_slots(begin, end, k);
  }
  /// Answers V columns of a slot whose rows are [begin, end). False where something was far.
  __device__ __forceinline__ bool answer(runs const& running, u32 slot, i64 begin, i64 end, i64 k) const {
    if constexpr (quick) {
      if (any_far(running))
        return false;
      quick_states s[V];
      for_each_index<folds>([&](auto i) {
#pragma unroll
        for (int v = 0; v < V; ++v)
          get<i>(s[v]) = get<i>(running).quick(get<i>(p.leaves), v);
      });
      write(s, i64(slot) * at.groups + k);
    } else {
      answer_by_states(running, slot, begin, end, k);
    }
    return true;
  }
  __device__ __forceinline__ static bool any_far(runs const& running) {
    bool any = false;
    for_each_index<folds>([&](auto i) {
#pragma unroll
      for (int v = 0; v < V; ++v)
        any |= get<i>(running).far(v);
    });
    return any;
  }
  __device__ __noinline__ void answer_by_states(runs const running, u32 slot, i64 begin, i64 end, i64 k) const {
    states s[V];
    for_each_index<folds>([&](auto i) {
      auto const& l = get<i>(p.leaves);
#pragma unroll
      for (int v = 0; v < V; ++v)
        get<i>(s[v]) = get<i>(running).far(v) ? folded_again(l, begin, end, k + v) : get<i>(running).whole(l, v);
    });
    write(s, i64(slot) * at.groups + k);
  }
  /// Seldom: folds the slots once more that lie in a chunk as a whole, and answers those of which something is far.
  __device__ __noinline__ void answer_far_slots(i64 begin, i64 end, i64 k) const {
    for (i64 t = begin, next = t; t < end && slot_at(t) < sorted.slot_count; t = next) {
      u32 const slot = slot_at(t);
      next = begin_of(i64(slot) + 1);
      if (begin_of(slot) < begin || next > end)
        continue;
      runs running = opened();
#pragma unroll 1
      for (i64 r = t; r < next; ++r) {
        auto place = place_of_row(r);
        place.move(at.kept[0], k);
        rows_beside<V, 0, 0, Columns...> row;
        row.template load<columns_folded<Program>>(p.columns, [&](int c, int) { return place.offset[c]; });
#pragma unroll
        for (int v = 0; v < V; ++v)
          for_each_index<folds>([&](auto i) {
            get<i>(running).step(get<i>(p.leaves), v, row.row_at(p.columns, v, place.position + v * at.kept[0].position_step));
          });
      }
      if (any_far(running))
        answer_by_states(running, slot, t, next, k);
    }
  }
  /// Adds V columns of a slot, of which rows [begin, end) are those of one chunk, to its cells.
  __device__ __noinline__ void add_to_cells(runs const running, u32 slot, i64 begin, i64 end, i64 k) const {
    i64 const first = cell_of_slot(slot) + k;
    for_each_index<folds>([&](auto of) {
      constexpr int i = of;
      auto const& l = get<i>(p.leaves);
      if constexpr (V > 1 && cell_of<typename nth_t<i, Leaves...>::monoid_type>::kind == cell_kind::added) {
        typename nth_t<i, Leaves...>::state sums[V];
#pragma unroll
        for (int v = 0; v < V; ++v)
          sums[v] = get<i>(running).whole(l, v);
        cell<i>::add_neighbours(cells_of(i), first, sums);
      } else {
#pragma unroll
        for (int v = 0; v < V; ++v) {
          cell_place<cell<i>> const to_cell{cells_of(i), cell_count(), first + v, to.locks};
          if (get<i>(running).far(v))
            to_cell.add_state(l.monoid, folded_again(l, begin, end, k + v));
          else
            get<i>(running).add_to(to_cell, l, v);
        }
      }
    });
  }
  /// The state of an exact sum over rows [begin, end) of one column, whose numbers may lie anywhere.
  template <class Leaf>
  __device__ __noinline__ typename Leaf::state folded_again(Leaf const& l, i64 begin, i64 end, i64 k) const {
    auto s = l.monoid.identity();
    if constexpr (exact_monoid<typename Leaf::monoid_type>) { // nothing is far in other folds
#pragma unroll 1
      for (i64 t = begin; t < end; ++t) {
        auto place = place_of_row(t);
        place.move(at.kept[0], k);
        auto const r = row_at_place(p.columns, place, place.position);
        if (l.mask.eval(r))
          unpack([&](auto const&... x) { l.monoid.add(s, static_cast<typename Leaf::monoid_type::number>(x.eval(r))...); }, l.values);
      }
    }
    return s;
  }
  template <class States, int N>
  __device__ __forceinline__ void write(States const (&s)[N], i64 g) const {
#pragma unroll
    for (int v = 0; v < N; ++v)
      for_each_index<folds>([&](auto i) {
        auto const& m = get<i>(p.leaves).monoid;
        auto const& of = get<i>(s[v]);
        if constexpr (requires { m.overflowed(of); })
          if (m.overflowed(of))
            to.stray[2] = 1;
      });
    write_answers_beside(p, nodes, s, 1, out, g, N);
  }
};

template <sorted_rows_plan P, class Program, class Nodes>
__global__ void __launch_bounds__(P.threads_per_block, P.blocks_per_multiprocessor)
    fold_sorted_rows(__grid_constant__ Program const p, __grid_constant__ axes_layout const at, __grid_constant__ slot_sort const sorted,
                     __grid_constant__ sorted_rows_cut const cut, __grid_constant__ Nodes const nodes, __grid_constant__ keyed_memory const to,
                     __grid_constant__ answer_arrays const out, keyed_phase phase) {
  sorted_rows_read<P, Program, Nodes> const read{p, at, sorted, cut, nodes, to, out};
  i64 const thread = i64(blockIdx.x) * blockDim.x + threadIdx.x, threads = i64(blockDim.x) * gridDim.x;
  if (phase == keyed_phase::open)
    read.open(thread / 32, threads / 32);
  else if (phase == keyed_phase::fold)
    read.fold(thread / P.threads_per_row);
  else
    read.close(thread / P.threads_per_row, threads / P.threads_per_row);
}

} // namespace tally::v0::kernel
