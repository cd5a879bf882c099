// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the units of a mixed read meet: the last block of neighbouring units folds what they left in memory, in order, and the last of
// those the rest. Layer 4. Units below each other share columns, units beside each other share rows; the total is the tree over whole
// rows. Counters wrap to zero, so nothing is cleared.
#pragma once

#include <tally/fold/tree.hpp>
#include <tally/kernel/arrivals.cuh>
#include <tally/kernel/chunks.cuh>
#include <tally/kernel/leaving.cuh>
#include <tally/kernel/warp_tree.cuh>
#include <tally/plan/mixed_plan.hpp>

namespace tally::v0::kernel {

/// Memory for the states of units (any bytes) and counters (zeros).
struct mixed_places {
  unsigned char* scratch;
  u32* arrivals;
};

/// The folds of two programs over the same columns.
template <class Columns, class... As, class... Bs>
__device__ __forceinline__ auto beside_each_other(Columns const& c, program<Columns, As...> const& a, program<Columns, Bs...> const& b) {
  return program<Columns, As..., Bs...>{c, 0, 0, join(a.leaves, b.leaves)};
}

/// The states of a program among those of several beside each other, of which First are in front.
template <int First, class Some, class All>
__device__ __forceinline__ void take_states(Some& to, All const& from) {
  for_each_index<Some::size>([&](auto i) { get<i>(to) = get<First + int(i)>(from); });
}

/// The states of units, and of groups of units.
template <class Columns, class Along, class Total>
struct mixed_room {
  typename Columns::states *columns, *column_groups;
  typename Along::states *rows, *row_groups;
  typename Total::states *parts_of_wholes, *groups_of_whole;
  u32 *column_arrivals, *row_arrivals, *run_arrivals, *last_arrival;
  /// What a matrix of a batch has, and what all have, or each of `wholes`.
  __device__ __forceinline__ mixed_room(mixed_cut const& cut, mixed_places const& at, i64 matrices, i64 matrix, i64 wholes) {
    unsigned char* next = at.scratch;
    auto const take_of = [&]<class State>(State*& p, i64 n, i64 many, i64 which) {
      p = reinterpret_cast<State*>(next) + which * n;
      next += (many * n * i64(sizeof(State)) + 255) / 256 * 256;
    };
    auto const take = [&](auto*& p, i64 n) { take_of(p, n, matrices, matrix); };
    take(columns, cut.slots() * cut.columns);
    take(column_groups, cut.slot_groups() * cut.columns);
    take(rows, cut.states_of_rows());
    take(row_groups, cut.states_of_row_groups());
    i64 const which = wholes > 1 ? matrix : 0;
    take_of(parts_of_wholes, cut.parts_of_wholes, 1, 0);
    take_of(groups_of_whole, cut.groups_of_whole, wholes, which);
    i64 const of_columns = i64(cut.chunks) * (cut.slot_groups() + 1), of_rows = i64(cut.slots()) * (cut.chunk_groups() + 1);
    column_arrivals = at.arrivals + matrix * of_columns;
    row_arrivals = at.arrivals + matrices * of_columns + matrix * of_rows;
    run_arrivals = at.arrivals + matrices * (of_columns + of_rows) + matrix * cut.sets_of_runs();
    last_arrival = at.arrivals + matrices * (of_columns + of_rows + cut.sets_of_runs()) + which;
  }
};

/// Where blocks tell that they have come, and how many do. The counter wraps to zero.
struct arrival {
  u32* counter;
  int blocks;
};

/// Called by all threads of a block when each thread has stored what it holds: last[i] is true in the block that comes last to each[i],
/// which sees what all have stored. One fence and one trip to memory, however many arrivals.
template <int N>
__device__ __forceinline__ void come(arrival const (&each)[N], bool (&last)[N]) {
  __shared__ u32 before[N];
  __syncthreads();
  if (threadIdx.x == 0) {
    fence_device(); // speaks for the block, which the barrier has gathered
#pragma unroll
    for (int i = 0; i < N; ++i)
      before[i] = count_around(each[i].counter, u32(each[i].blocks) - 1);
    fence_device();
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < N; ++i)
    last[i] = before[i] == u32(each[i].blocks) - 1;
}
__device__ __forceinline__ bool comes_last(arrival a) {
  if (a.blocks == 1) {
    __syncthreads();
    return true;
  }
  arrival const one[1] = {a};
  bool last[1];
  come(one, last);
  return last[0];
}

/// Folds `slots` neighbouring slots for each of a block's items: item i stands at item_of(i) of every slot (negative: nowhere), slots are
/// `pitch` states apart; done(place, states) receives each. Loads of eight slots of several items are on their way together.
template <class Program, class ItemOf, class Done>
__device__ __forceinline__ void fold_slots(Program const& p, typename Program::states const* from, i64 pitch, int slots, int items,
                                           ItemOf const& item_of, Done const& done) {
  using States = typename Program::states;
  constexpr int beside = sizeof(States) <= 8 ? 4 : sizeof(States) <= 16 ? 2 : 1, ahead = 8;
  auto const combine = [&](States const& a, States const& b) { return p.combine(a, b); };
#pragma unroll 1
  for (int first = int(threadIdx.x); first < items; first += beside * mixed_threads) {
    i64 at[beside];
#pragma unroll
    for (int u = 0; u < beside; ++u)
      at[u] = first + u * mixed_threads < items ? item_of(first + u * mixed_threads) : -1;
    neighbour_stack<States, 24> tree[beside];
#pragma unroll 1
    for (int slot = 0; slot < slots; slot += ahead) {
      int const present = slots - slot < ahead ? slots - slot : ahead;
      States s[beside][ahead];
#pragma unroll
      for (int k = 0; k < ahead; ++k)
#pragma unroll
        for (int u = 0; u < beside; ++u)
          s[u][k] = from[(slot + (k < present ? k : present - 1)) * pitch + (at[u] >= 0 ? at[u] : 0)]; // without a branch: all in flight
#pragma unroll
      for (int u = 0; u < beside; ++u)
        if (at[u] >= 0) {
          States const eight = combine_in_registers(combine, s[u], present);
          if (slots <= ahead)
            done(at[u], eight);
          else
            tree[u].push(combine, eight);
        }
    }
    if (slots > ahead)
#pragma unroll
      for (int u = 0; u < beside; ++u)
        if (at[u] >= 0)
          done(at[u], tree[u].root(combine));
  }
}

/// Slots of a set that meet: the last block of each group folds it, the last of all groups the groups.
struct slot_meeting {
  int slot, slots, slots_of_group;
  u32* arrivals; ///< one a group, and one for the groups
  __device__ __forceinline__ int groups() const { return (slots - 1) / slots_of_group + 1; }
  __device__ __forceinline__ int group() const { return slot / slots_of_group; }
  __device__ __forceinline__ int first() const { return group() * slots_of_group; }
  __device__ __forceinline__ int present() const { return slots - first() < slots_of_group ? slots - first() : slots_of_group; }
  __device__ __forceinline__ arrival of_group() const { return {arrivals + group(), present()}; }
  __device__ __forceinline__ arrival of_groups() const { return {arrivals + groups(), groups()}; }
};
/// What the block does that came last to a group of slots. True if it has folded the set.
template <class Program, class ItemOf, class Done>
__device__ __forceinline__ bool meet_slots(Program const& p, typename Program::states const* of_slots, typename Program::states* of_groups,
                                           i64 pitch, slot_meeting const& m, int items, ItemOf const& item_of, Done const& done) {
  int const groups = m.groups();
  if (groups > 1) {
    fold_slots(p, of_slots + m.first() * pitch, pitch, m.present(), items, item_of,
               [&](i64 at, typename Program::states const& s) { of_groups[m.group() * pitch + at] = s; });
    if (!comes_last(m.of_groups()))
      return false;
  }
  fold_slots(p, groups > 1 ? of_groups : of_slots, pitch, groups > 1 ? groups : m.slots, items, item_of, done);
  return true;
}

/// The tree over n states by the whole block; thread 0 has the root.
template <class Program>
__device__ __forceinline__ typename Program::states fold_with_block(Program const& p, typename Program::states const* from, i64 n,
                                                                    unsigned char* room) {
  using States = typename Program::states;
  auto* const s = reinterpret_cast<States*>(room);
  auto const combine = [&](States const& a, States const& b) { return p.combine(a, b); };
  int const thread = int(threadIdx.x);
  i64 each = 1;
  while (each * mixed_folding_threads < n)
    each *= 2;
  int const there = int((n - 1) / each + 1);
  __syncthreads();
  if (thread < there) {
    i64 const first = thread * each, left = n - first;
    s[thread] = fold_in_order<Program>(combine, int(left < each ? left : each), [&](int i) { return from[first + i]; });
  }
#pragma unroll 1
  for (int h = 1; h < there; h *= 2) {
    __syncthreads();
    if (thread % (2 * h) == 0 && thread + h < there)
      s[thread] = combine(s[thread], s[thread + h]);
  }
  __syncthreads();
  return s[0];
}

/// Units beside each other meet in their rows: done(states, row) for every row of the matrix, and total_done(set) where the rows of a set of runs have
/// met. Called by the block that came last to its group of them.
template <class Rows, class Along, class Total, class Room, class Done, class TotalDone>
__device__ __forceinline__ void meet_rows(Along const& along, Total const&, mixed_cut const& cut, Room const& at, slot_meeting const& m, int slot, i64 first_part,
                                          Done const& done, TotalDone const& total_done) {
  constexpr leaf_shape shape = shape_of<Along>;
  int const band = slot / cut.splits, lanes = cut.lanes_of_unit;
  i64 const first_lane = i64(band) * shape.elements() + slot % cut.splits * lanes;
  bool const last = meet_slots(
      along, at.rows, at.row_groups, cut.rows, m, lanes * shape.rows,
      [&](int i) {
        i64 const row = first_lane + i / lanes * shape.lanes() + i % lanes;
        return row < cut.rows ? row : -1;
      },
      [&](i64 row, typename Along::states const& s) {
        typename Rows::states own;
        take_states<0>(own, s);
        done(own, row);
        if constexpr (Total::leaf_count > 0)
          take_states<Rows::leaf_count>(at.parts_of_wholes[first_part + row], s);
      });
  if constexpr (Total::leaf_count > 0)
    if (last && comes_last({at.run_arrivals + slot / cut.slots_of_run, cut.slots_of_run}))
      total_done(slot / cut.slots_of_run);
}

/// Units below each other meet in their columns. Called by the block that came last to its group of them.
template <class Columns, class Room, class Done>
__device__ __forceinline__ void meet_columns(Columns const& down, mixed_cut const& cut, Room const& at, slot_meeting const& m, int chunk,
                                             Done const& done) {
  constexpr leaf_shape shape = shape_of<Columns>;
  i64 const first = i64(chunk) * shape.elements();
  meet_slots(
      down, at.columns, at.column_groups, cut.columns, m, shape.elements(), [&](int i) { return first + i < cut.columns ? first + i : -1; },
      [&](i64 column, typename Columns::states const& s) { done(s, column); });
}

} // namespace tally::v0::kernel
