// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One warp folds leaves: elements into lanes, lanes into states, along the canonical tree or in any order. Layer 4.
#pragma once

#include <tally/fold/tree.hpp>
#include <tally/kernel/load.cuh>
#include <tally/kernel/words.cuh>

namespace tally::inline v0::kernel {

/// Rows of a leaf in registers, column by column.
template <plan P, int Rows, int I, class... Columns>
struct loaded_rows;
template <plan P, int Rows, int I>
struct loaded_rows<P, Rows, I> {
  __device__ __forceinline__ void load(pack<> const&, i64, int) {}
  template <class... Ts>
  __device__ __forceinline__ auto row_at(pack<> const&, i64, i64 position, int, int, int, Ts... values) const {
    return row<Ts...>{make_pack(values...), position};
  }
};
template <plan P, int Rows, int I, class Column, class... Columns>
struct loaded_rows<P, Rows, I, Column, Columns...> {
  loaded<P, Rows, Column, P.sources[I]> here;
  loaded_rows<P, Rows, I + 1, Columns...> rest;
  __device__ __forceinline__ void load(pack<Column, Columns...> const& c, i64 first, int thread) {
    here.load(c.first, first, thread);
    rest.load(c.rest, first, thread);
  }
  template <class... Ts>
  __device__ __forceinline__ auto row_at(pack<Column, Columns...> const& c, i64 first, i64 position, int r, int k,
                                         int thread, Ts... values) const {
    return rest.row_at(c.rest, first, position, r, k, thread, values..., here.at(c.first, first, r, k, thread));
  }
};

/// Combines the Group states of every thread, and the 32 threads, as a balanced tree of neighbouring lanes; lane 0 has it.
template <plan P, class Monoid, class State, int Group>
__device__ __forceinline__ State combine_warp(Monoid const& m, State (&s)[Group]) {
  auto in_thread = [&] {
#pragma unroll
    for (int h = 1; h < Group; h *= 2)
#pragma unroll
      for (int k = 0; k + h < Group; k += 2 * h)
        s[k] = m.combine(s[k], s[k + h]);
  };
  if constexpr (!P.sources_are_striped()) // the low bits of a lane are in the thread
    in_thread();
  constexpr int left = P.sources_are_striped() ? Group : 1;
#pragma unroll
  for (int k = 0; k < left; ++k)
#pragma unroll
    for (int h = 1; h < 32; h *= 2)
      s[k] = m.combine(s[k], shuffled_down(s[k], h));
  if constexpr (P.sources_are_striped())
    in_thread();
  return s[0];
}

/// One fold in one thread: lanes that run down the rows of a leaf.
template <plan P, class Leaf>
struct running_fold {
  using State = typename Leaf::state;
  static constexpr int group = P.lanes_per_group;
  lanes_t<typename Leaf::monoid_type, group> lanes;

  __device__ __forceinline__ explicit running_fold(Leaf const& l) : lanes(l.monoid) {}
  __device__ __forceinline__ void end_row(Leaf const&, int) {}
  /// The warp's state, in lane 0.
  __device__ __forceinline__ State close(Leaf const& l) const {
    State s[group];
#pragma unroll
    for (int k = 0; k < group; ++k)
      s[k] = lanes.close(l.monoid, k);
    return combine_warp<P>(l.monoid, s);
  }
  /// This thread's state.
  __device__ __forceinline__ State close_thread(Leaf const& l) const {
    State s = lanes.close(l.monoid, 0);
#pragma unroll
    for (int k = 1; k < group; ++k)
      s = l.monoid.combine(s, lanes.close(l.monoid, k));
    return s;
  }
};

/// A fold that does not commute: every row is combined by itself, then the rows.
template <plan P, class Leaf>
  requires(!Leaf::monoid_type::law.commutative)
struct running_fold<P, Leaf> {
  using State = typename Leaf::state;
  static constexpr int group = P.lanes_per_group;
  lanes_t<typename Leaf::monoid_type, group> lanes;
  State of_row[P.rows_per_leaf];

  __device__ __forceinline__ explicit running_fold(Leaf const& l) : lanes(l.monoid) {}
  __device__ __forceinline__ void end_row(Leaf const& l, int r) {
    State s[group];
#pragma unroll
    for (int k = 0; k < group; ++k)
      s[k] = lanes.close(l.monoid, k);
    of_row[r] = combine_warp<P>(l.monoid, s);
    lanes = lanes_t<typename Leaf::monoid_type, group>(l.monoid);
  }
  __device__ __forceinline__ State close(Leaf const& l) {
#pragma unroll
    for (int h = 1; h < P.rows_per_leaf; h *= 2)
#pragma unroll
      for (int r = 0; r + h < P.rows_per_leaf; r += 2 * h)
        of_row[r] = l.monoid.combine(of_row[r], of_row[r + h]);
    return of_row[0];
  }
};

/// All folds of a program in one thread.
template <plan P, class... Leaves>
struct running_folds;
template <plan P>
struct running_folds<P> {
  static constexpr bool commutative = true;
  __device__ __forceinline__ explicit running_folds(pack<> const&) {}
  template <class Row>
  __device__ __forceinline__ void step(pack<> const&, int, bool, Row const&) {}
  __device__ __forceinline__ void end_row(pack<> const&, int) {}
  __device__ __forceinline__ pack<> close(pack<> const&) { return {}; }
  __device__ __forceinline__ pack<> close_thread(pack<> const&) { return {}; }
};
template <plan P, class Leaf, class... Leaves>
struct running_folds<P, Leaf, Leaves...> {
  using States = pack<typename Leaf::state, typename Leaves::state...>;
  static constexpr bool commutative =
      Leaf::monoid_type::law.commutative && running_folds<P, Leaves...>::commutative;
  running_fold<P, Leaf> here;
  running_folds<P, Leaves...> rest;
  __device__ __forceinline__ explicit running_folds(pack<Leaf, Leaves...> const& l) : here(l.first), rest(l.rest) {}
  template <class Row>
  __device__ __forceinline__ void step(pack<Leaf, Leaves...> const& l, int k, bool on, Row const& r) {
    l.first.step(here.lanes, k, on, r);
    rest.step(l.rest, k, on, r);
  }
  __device__ __forceinline__ void end_row(pack<Leaf, Leaves...> const& l, int r) {
    here.end_row(l.first, r);
    rest.end_row(l.rest, r);
  }
  __device__ __forceinline__ States close(pack<Leaf, Leaves...> const& l) {
    return States{here.close(l.first), rest.close(l.rest)};
  }
  __device__ __forceinline__ States close_thread(pack<Leaf, Leaves...> const& l) {
    return States{here.close_thread(l.first), rest.close_thread(l.rest)};
  }
};

/// Feeds one leaf of the program to running folds.
template <plan P, class Program, class Folds>
__device__ __forceinline__ void feed_leaf(Program const& p, i64 leaf, int thread, Folds& folds) {
  constexpr int group = P.lanes_per_group, rows = P.rows_per_leaf, per_row = 32 * group;
  i64 const first = leaf * (i64(rows) * per_row);
  i64 const left = p.extent - first;
  constexpr bool ordered = !Folds::commutative;
  if (left >= rows * per_row) {
#pragma unroll
    for (int batch = 0; batch < rows; batch += P.rows_in_flight) {
      i64 const at = first + batch * per_row;
      auto in = [&]<class... Cs>(pack<Cs...> const&) { return loaded_rows<P, P.rows_in_flight, 0, Cs...>{}; }(p.columns);
      in.load(p.columns, at, thread);
#pragma unroll
      for (int r = 0; r < P.rows_in_flight; ++r) {
#pragma unroll
        for (int k = 0; k < group; ++k)
          folds.step(p.leaves, k, true,
                     in.row_at(p.columns, at, p.first + at + r * per_row + lane_in_row<P>(thread, k), r, k, thread));
        folds.end_row(p.leaves, batch + r);
      }
    }
  } else { // the ragged last leaf: rarely run, so kept small; rows of an ordered fold are registers and stay unrolled
#pragma unroll(ordered ? rows : 1)
    for (int r = 0; r < rows; ++r) {
#pragma unroll
      for (int k = 0; k < group; ++k) {
        int const e = r * per_row + lane_in_row<P>(thread, k);
        if (e < left)
          folds.step(p.leaves, k, true, p.row_at(first + e));
      }
      folds.end_row(p.leaves, r);
    }
  }
}

/// The states of one leaf along the canonical tree, in lane 0.
template <plan P, class Columns, class... Leaves>
__device__ __forceinline__ auto fold_leaf(program<Columns, Leaves...> const& p, i64 leaf, int thread) {
  running_folds<P, Leaves...> folds(p.leaves);
  feed_leaf<P>(p, leaf, thread, folds);
  return folds.close(p.leaves);
}

constexpr int levels_of(int power_of_two) { return power_of_two > 1 ? 1 + levels_of(power_of_two / 2) : 0; }

/// The subtree over P.leaves_per_warp leaves, as far as they exist, in lane 0. The first must exist. One state per level
/// of the tree is kept, in registers because the levels are unrolled.
template <plan P, class Program>
__device__ __forceinline__ typename Program::states fold_subtree(Program const& p, i64 leaf, i64 leaves, int thread) {
  constexpr int count = P.leaves_per_warp, levels = levels_of(count);
  if constexpr (count == 1) {
    return fold_leaf<P>(p, leaf, thread);
  } else {
    typename Program::states kept[levels];
    int const present = leaves - leaf < count ? int(leaves - leaf) : count;
    typename Program::states s;
#pragma unroll 1
    for (int k = 0; k < present; ++k) {
      s = fold_leaf<P>(p, leaf + k, thread);
      bool open = true; // whether s still looks for its left neighbour
#pragma unroll
      for (int level = 0; level < levels; ++level) {
        bool const right = (k >> level) & 1;
        if (open && right)
          s = p.combine(kept[level], s);
        else if (open)
          kept[level] = s, open = false;
      }
    }
    if (present < count) { // the levels that still wait for a right neighbour
      bool none = true;
#pragma unroll
      for (int level = 0; level < levels; ++level)
        if ((present >> level) & 1) {
          s = none ? kept[level] : p.combine(kept[level], s);
          none = false;
        }
    }
    return s;
  }
}

/// The state of one thread over Count leaves in any order.
template <plan P, class Columns, class... Leaves>
__device__ __forceinline__ auto fold_freely(program<Columns, Leaves...> const& p, i64 leaf, i64 leaves, int thread) {
  running_folds<P, Leaves...> folds(p.leaves);
  i64 const end = leaf + P.leaves_per_warp < leaves ? leaf + P.leaves_per_warp : leaves;
#pragma unroll 1
  for (i64 k = leaf; k < end; ++k)
    feed_leaf<P>(p, k, thread, folds);
  return folds.close_thread(p.leaves);
}

} // namespace tally::inline v0::kernel
