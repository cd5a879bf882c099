// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One warp folds leaves: elements into lanes, lanes into states, along the canonical tree or in any order. Layer 4.
#pragma once

#include <tally/fold/tree.hpp>
#include <tally/kernel/beside.cuh>
#include <tally/kernel/even_states.cuh>
#include <tally/kernel/leaves.cuh>
#include <tally/kernel/load_grid.cuh>
#include <tally/kernel/warp_tree.cuh>

namespace tally::v0::kernel {

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

/// One fold in one thread: lanes that run down the rows of a leaf. Slot tells folds of one type apart. Exact sums have theirs
/// in kernel/exact_fold.cuh.
template <plan P, class Leaf, int Slot>
struct running_fold {
  using State = typename Leaf::state;
  static constexpr int group = P.lanes_per_group;
  /// Whether a closed leaf is still 32 parts, one per thread, whose tree is combined later together with other leaves'.
  static constexpr bool spread = !P.sources_are_striped();
  lanes_t<typename Leaf::monoid_type, group> lanes;

  __device__ __forceinline__ explicit running_fold(Leaf const& l) : lanes(l.monoid) {}
  __device__ __forceinline__ void end_row(Leaf const&, int) {}
  /// The leaf: this thread's part where it is spread, else the whole in lane 0.
  __device__ __forceinline__ State close(Leaf const& l, int thread) const {
    State s[group];
#pragma unroll
    for (int k = 0; k < group; ++k)
      s[k] = lanes.close(l.monoid, k);
    auto const combine = [&](State const& a, State const& b) { return l.monoid.combine(a, b); };
    if constexpr (!spread) {
      return combine_warp<group>(combine, s, thread); // a thread's lanes are 32 apart: one tree each
    } else {
      return combine_in_registers(combine, s);
    }
  }
  /// This thread's state, in any order.
  __device__ __forceinline__ State close_freely(Leaf const& l) const {
    State s = lanes.close(l.monoid, 0);
#pragma unroll
    for (int k = 1; k < group; ++k)
      s = l.monoid.combine(s, lanes.close(l.monoid, k));
    return s;
  }
};

/// A fold that does not commute: every row is a tree of its own, then the rows are.
template <plan P, class Leaf, int Slot>
  requires(!Leaf::monoid_type::law.commutative)
struct running_fold<P, Leaf, Slot> {
  using State = typename Leaf::state;
  static constexpr int group = P.lanes_per_group, rows = P.rows_per_leaf;
  /// Along the canonical tree a leaf is combined to the end at once, which takes fewer registers.
  static constexpr bool spread = !P.sources_are_striped() && P.order == combine_order::ordered;
  lanes_t<typename Leaf::monoid_type, group> lanes;
  State of_row[rows];

  __device__ __forceinline__ explicit running_fold(Leaf const& l) : lanes(l.monoid) {}
  __device__ __forceinline__ void end_row(Leaf const& l, int r) {
    auto const combine = [&](State const& a, State const& b) { return l.monoid.combine(a, b); };
    State s[group];
#pragma unroll
    for (int k = 0; k < group; ++k)
      s[k] = lanes.close(l.monoid, k);
    if constexpr (P.sources_are_striped())
      of_row[r] = combine_warp<group>(combine, s, int(threadIdx.x % 32));
    else
      of_row[r] = combine_in_registers(combine, s);
    lanes = lanes_t<typename Leaf::monoid_type, group>(l.monoid);
  }
  __device__ __forceinline__ State close(Leaf const& l, int thread) {
    auto const combine = [&](State const& a, State const& b) { return l.monoid.combine(a, b); };
    if constexpr (!P.sources_are_striped() && !spread) {
      return combine_warp<rows>(combine, of_row, thread);
    } else if constexpr (spread) {
      return parts_in_order(combine, of_row, thread); // the rows' trees side by side
    } else {
      return combine_in_registers(combine, of_row);
    }
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
  __device__ __forceinline__ pack<> close(pack<> const&, int) { return {}; }
  __device__ __forceinline__ pack<> close_freely(pack<> const&) { return {}; }
};
template <plan P, class Leaf, class... Leaves>
struct running_folds<P, Leaf, Leaves...> {
  using States = pack<typename Leaf::state, typename Leaves::state...>;
  static constexpr bool commutative =
      Leaf::monoid_type::law.commutative && running_folds<P, Leaves...>::commutative;
  running_fold<P, Leaf, int(sizeof...(Leaves))> here;
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
  __device__ __forceinline__ States close(pack<Leaf, Leaves...> const& l, int thread) {
    return States{here.close(l.first, thread), rest.close(l.rest, thread)};
  }
  __device__ __forceinline__ States close_freely(pack<Leaf, Leaves...> const& l) {
    return States{here.close_freely(l.first), rest.close_freely(l.rest)};
  }
};

/// Feeds whole leaf k of a warp to running folds, and to what is beside them.
template <plan P, class Program, class Leaves, class Folds, class Beside>
__device__ __forceinline__ void feed_whole_leaf(Program const& p, Leaves& from, int k, int thread, Folds& folds, Beside const& beside) {
  constexpr int group = P.lanes_per_group, rows = P.rows_per_leaf, per_row = 32 * group;
  i64 const position = p.first + (from.leaf + k * from.step) * P.elements_per_leaf();
  from.wait(k);
  auto const& columns = from.columns(k);
#pragma unroll
  for (int batch = 0; batch < rows; batch += P.rows_in_flight) {
    i64 const at = from.start(k) + batch * per_row;
    auto in = [&]<class... Cs>(pack<Cs...> const&) { return loaded_rows<P, P.rows_in_flight, 0, Cs...>{}; }(columns);
    in.load(columns, at, thread);
    if (batch + P.rows_in_flight == rows)
      from.release(k);
#pragma unroll
    for (int r = 0; r < P.rows_in_flight; ++r) {
      auto const row_at = [&](int l) { return in.row_at(columns, at, position + (batch + r) * per_row + lane_in_row<P>(thread, l), r, l, thread); };
#pragma unroll
      for (int l = 0; l < group; ++l)
        folds.step(p.leaves, l, true, row_at(l));
      beside.template add_warp<group>(row_at);
      folds.end_row(p.leaves, batch + r);
    }
  }
}

/// Feeds the ragged last leaf: rarely run, so kept small; the rows of an ordered fold are registers and stay unrolled.
template <plan P, class Program, class Folds, class Beside>
__device__ __forceinline__ void feed_ragged_leaf(Program const& p, i64 leaf, int thread, Folds& folds, Beside const& beside) {
  constexpr int group = P.lanes_per_group, rows = P.rows_per_leaf, per_row = 32 * group;
  i64 const start = leaf * (i64(rows) * per_row);
  i64 const left = p.extent - start;
#pragma unroll(Folds::commutative ? 1 : rows)
  for (int r = 0; r < rows; ++r) {
#pragma unroll
    for (int k = 0; k < group; ++k) {
      int const e = r * per_row + lane_in_row<P>(thread, k);
      if (e < left) {
        auto const row = p.row_at(start + e);
        folds.step(p.leaves, k, true, row);
        beside.add(row);
      }
    }
    folds.end_row(p.leaves, r);
  }
}

/// How many leaves a program has, and how many of them are whole.
struct leaf_counts {
  i64 all, whole;
};

/// The states of leaf k of a warp along the canonical tree, spread or whole as running_fold says. Each branch closes its
/// own lanes, so that in a whole leaf the number of elements in a lane is a constant.
template <plan P, class Columns, class... Leaves, class From, class Beside>
__device__ __forceinline__ auto fold_leaf(program<Columns, Leaves...> const& p, From& from, int k, bool whole,
                                         int thread, Beside const& beside) {
  running_folds<P, Leaves...> folds(p.leaves);
  if (whole) {
    feed_whole_leaf<P>(p, from, k, thread, folds, beside);
    return folds.close(p.leaves, thread);
  }
  feed_ragged_leaf<P>(p, from.leaf + k, thread, folds, beside);
  return folds.close(p.leaves, thread);
}

/// Whether leaf I of a program leaves its closed leaves spread over the warp.
template <plan P, int I, class Columns, class... Leaves>
constexpr bool is_spread(program<Columns, Leaves...> const*) {
  return running_fold<P, nth_t<I, Leaves...>, 0>::spread;
}

/// The subtree over P.leaves_per_warp whole leaves, in lane 0.
template <plan P, class From, class Columns, class... Leaves, class Beside>
__device__ __forceinline__ auto fold_whole_subtree(program<Columns, Leaves...> const& p, From& from, int thread, Beside const& beside) {
  using Program = program<Columns, Leaves...>;
  using Evens = pack<typename even_states<Leaves>::state...>;
  constexpr int count = P.leaves_per_warp;
  constexpr u64 of_leaf = u64(P.elements_per_leaf()), of_lane = of_leaf / 32;
  level_stack<Evens, levels_of(count)> stack;
  Evens s;
#pragma unroll 1
  for (int k = 0; k < count; ++k) {
    running_folds<P, Leaves...> folds(p.leaves);
    feed_whole_leaf<P>(p, from, k, thread, folds, beside);
    auto const closed = folds.close(p.leaves, thread);
    for_each_index<Program::leaf_count>(
        [&](auto i) { get<i>(s) = even_states<nth_t<i, Leaves...>>::from(get<i>(p.leaves).monoid, get<i>(closed)); });
    auto const merge = [&](Evens const& left, Evens const& right, int level) {
      Evens out = left;
      for_each_index<Program::leaf_count>([&](auto i) {
        using combine = typename even_states<nth_t<i, Leaves...>>::combine;
        auto const& m = get<i>(p.leaves).monoid;
        if constexpr (is_spread<P, i>(static_cast<Program const*>(nullptr)))
          get<i>(out) = merge_trees(combine{m, of_lane}, get<i>(left), get<i>(right), 1 << level, thread);
        else
          get<i>(out) = combine{m, of_leaf}(get<i>(left), get<i>(right), 1 << level);
      });
      return out;
    };
    s = stack.push(merge, k, s);
  }
  typename Program::states out;
  for_each_index<Program::leaf_count>([&](auto i) {
    using even = even_states<nth_t<i, Leaves...>>;
    using combine = typename even::combine;
    auto const& m = get<i>(p.leaves).monoid;
    if constexpr (is_spread<P, i>(static_cast<Program const*>(nullptr)))
      get<i>(s) = combine_lanes<count>(combine{m, of_leaf}, finish_trees<count>(combine{m, of_lane}, get<i>(s)), count, thread);
    get<i>(out) = even::back(m, get<i>(s), of_leaf * count);
  });
  return out;
}

/// The subtree over P.leaves_per_warp leaves, as far as they exist, in lane 0; the first must exist. Spread leaves are
/// merged as trees side by side; a single one stays spread. Where only the order of elements is kept, they all stay spread, in
/// the order of lanes.
template <plan P, class Program, class Beside>
__device__ __forceinline__ typename Program::states fold_subtree(Program const& p, i64 leaf, leaf_counts const& n,
                                                                int thread, Beside const& beside) {
  using States = typename Program::states;
  constexpr int count = P.leaves_per_warp;
  leaves_of_warp<P, Program> from(p, leaf, n.whole);
  constexpr bool keeps_order = P.order == combine_order::ordered;
  if constexpr (count == 1 && !keeps_order)
    return fold_leaf<P>(p, from, 0, leaf < n.whole, thread, beside);
  if constexpr (any_counted(static_cast<Program const*>(nullptr)) && !keeps_order)
    if (leaf + count <= n.whole)
      return fold_whole_subtree<P>(p, from, thread, beside);
  int const present = n.all - leaf < count ? int(n.all - leaf) : count;
  level_stack<States, levels_of(count)> stack;
  States s;
#pragma unroll 1
  for (int k = 0; k < count; ++k) {
    if (k < present)
      s = fold_leaf<P>(p, from, k, leaf + k < n.whole, thread, beside);
    auto const merge = [&](States const& left, States const& right, int level) {
      States out = left;
      for_each_index<Program::leaf_count>([&](auto i) {
        auto const& m = get<i>(p.leaves).monoid;
        auto const combine = [&](auto const& a, auto const& b) { return m.combine(a, b); };
        if constexpr (is_spread<P, i>(static_cast<Program const*>(nullptr)))
          get<i>(out) = merge_trees(combine, get<i>(left), get<i>(right), 1 << level, thread);
        else if (k + 1 - (1 << level) < present)
          get<i>(out) = combine(get<i>(left), get<i>(right));
      });
      return out;
    };
    s = stack.push(merge, k, s);
  }
  for_each_index<Program::leaf_count>([&](auto i) {
    auto const& m = get<i>(p.leaves).monoid;
    if constexpr (keeps_order) {
      constexpr bool spread = is_spread<P, i>(static_cast<Program const*>(nullptr));
      if constexpr (spread)
        get<i>(s) = trees_in_order<count>(get<i>(s), thread);
      if (thread >= (spread ? present * (32 / count) : 1))
        get<i>(s) = m.identity();
    } else if constexpr (is_spread<P, i>(static_cast<Program const*>(nullptr))) {
      auto const combine = [&](auto const& a, auto const& b) { return m.combine(a, b); };
      get<i>(s) = combine_lanes<count>(combine, finish_trees<count>(combine, get<i>(s)), present, thread);
    }
  });
  return s;
}

/// The state of one thread over P.leaves_per_warp leaves, as far as they exist, in any order: the warps of a block stand side by side.
template <plan P, class Columns, class... Leaves, class Beside>
__device__ __forceinline__ auto fold_freely(program<Columns, Leaves...> const& p, i64 leaf, leaf_counts const& n, int thread, Beside const& beside) {
  running_folds<P, Leaves...> folds(p.leaves);
  if (leaf < n.all) {
    constexpr int step = P.warps_per_block();
    leaves_of_warp<P, program<Columns, Leaves...>> from(p, leaf, n.whole, step);
#pragma unroll 1
    for (int k = 0; k < P.leaves_per_warp && leaf + k * step < n.all; ++k)
      if (leaf + k * step < n.whole)
        feed_whole_leaf<P>(p, from, k, thread, folds, beside);
      else
        feed_ragged_leaf<P>(p, leaf + k * step, thread, folds, beside);
  }
  return folds.close_freely(p.leaves);
}

} // namespace tally::v0::kernel
