// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One warp folds leaves of any rows, from any element on: neighbouring threads read neighbouring elements, whatever the alignment.
// Layer 4. Thread t holds lanes t, t + 32, t + 64, ... of a leaf; or `group` neighbours, of a source that loads them at once.
#pragma once

#include <tally/fold/tree.hpp>
#include <tally/kernel/warp_tree.cuh>

namespace tally::v0::kernel {

/// Whether a thread holds neighbouring lanes of a source.
template <class Source>
inline constexpr bool in_groups = requires { Source::group; };
/// Where lane k of this thread stands in a row.
template <bool Groups, int Group>
__device__ __forceinline__ int lane_of_row(int lane, int k) {
  return Groups ? Group * lane + k : 32 * k + lane;
}

/// One fold in one thread of a warp that folds a leaf.
template <leaf_shape Shape, class Leaf, bool Groups>
struct warp_fold {
  using M = typename Leaf::monoid_type;
  using State = typename Leaf::state;
  static constexpr int group = Shape.group;
  static constexpr bool by_row = !M::law.commutative;
  lanes_t<M, group> lanes;
  State of_row[by_row ? Shape.rows : 1];

  __device__ __forceinline__ explicit warp_fold(Leaf const& l) : lanes(l.monoid) {}
  __device__ __forceinline__ State closed(Leaf const& l, int lane) const {
    State s[group];
#pragma unroll
    for (int k = 0; k < group; ++k)
      s[k] = lanes.close(l.monoid, k);
    auto const combine = [&](State const& a, State const& b) { return l.monoid.combine(a, b); };
    if constexpr (Groups)
      return finish_trees<1>(combine, combine_in_registers(combine, s));
    else
      return combine_warp<group>(combine, s, lane);
  }
  __device__ __forceinline__ void end_row(Leaf const& l, int r, int lane) {
    if constexpr (by_row) {
      of_row[r] = closed(l, lane);
      lanes = lanes_t<M, group>(l.monoid);
    }
  }
  /// The leaf, in lane 0; `rows` of its rows have an element.
  __device__ __forceinline__ State close(Leaf const& l, int rows, int lane) {
    if constexpr (by_row)
      return combine_in_registers([&](State const& a, State const& b) { return l.monoid.combine(a, b); }, of_row, rows);
    else
      return closed(l, lane);
  }
};

template <class Program, bool Groups>
struct warp_folds_of;
template <class Columns, class... Leaves, bool Groups>
struct warp_folds_of<program<Columns, Leaves...>, Groups> {
  static constexpr leaf_shape shape = shape_of<program<Columns, Leaves...>>;
  static constexpr bool by_row = (false || ... || !Leaves::monoid_type::law.commutative);
  using type = pack<warp_fold<shape, Leaves, Groups>...>;
  __device__ __forceinline__ static type make(pack<Leaves...> const& l) {
    return unpack([](auto const&... one) { return make_pack(warp_fold<shape, cuda::std::remove_cvref_t<decltype(one)>, Groups>(one)...); }, l);
  }
};

/// Which elements of some rows of a leaf may be read: all, which exist; all of the rows that have one, also behind the last; or those that exist.
enum class readable { all, rows, elements };

/// Feeds Rows rows of a leaf from row r0 on.
template <int Rows, readable Which, class Program, class Source, class Folds>
__device__ __forceinline__ void feed_rows_of_leaf(Program const& p, Source const& source, i64 first, int n, int r0, int lane, Folds& folds) {
  constexpr int group = shape_of<Program>.group, lanes = shape_of<Program>.lanes();
  constexpr bool Whole = Which == readable::all;
  constexpr bool groups = in_groups<Source>;
  using Row = decltype(source.row_at(0));
  Row held[Rows][group];
#pragma unroll
  for (int r = 0; r < Rows; ++r)
    if constexpr (groups && Whole) {
      source.load(held[r], first + (r0 + r) * lanes + group * lane);
    } else if constexpr (Which == readable::rows) { // one address a row, the same for a whole warp but for its lane
      int const last = (n - 1) / lanes, row = r0 + r < last ? r0 + r : last;
      i64 const begin = first + row * lanes + lane;
#pragma unroll
      for (int k = 0; k < group; ++k)
        held[r][k] = source.row_at(begin + 32 * k);
    } else {
#pragma unroll
      for (int k = 0; k < group; ++k) {
        int const e = (r0 + r) * lanes + lane_of_row<groups, group>(lane, k); // without a branch, so that all are in flight together
        held[r][k] = source.row_at(first + (Whole || e < n ? e : n - 1));
      }
    }
  for_each_index<Program::leaf_count>([&](auto i) {
    auto const& l = get<i>(p.leaves);
    constexpr bool once = words<typename cuda::std::remove_cvref_t<decltype(l)>::state>::count > words_in_registers;
#pragma unroll(once ? 1 : Rows)
    for (int r = 0; r < Rows; ++r) {
#pragma unroll(once ? 1 : group)
      for (int k = 0; k < group; ++k)
        if (int const e = (r0 + r) * lanes + lane_of_row<groups, group>(lane, k); Whole || e < n)
          l.step(get<i>(folds).lanes, k, true, held[r][k]);
      get<i>(folds).end_row(l, r0 + r, lane);
    }
  });
}

/// The states of the leaf that starts at element `first` of a source of rows and has n >= 1 elements; valid in lane 0. A source that is
/// near needs no loop of its own for whole leaves.
template <int RowsInFlight, bool Near, class Program, class Source>
__device__ __forceinline__ typename Program::states fold_leaf_by_warp(Program const& p, Source const& source, i64 first, int n, int lane) {
  using folds_of = warp_folds_of<Program, in_groups<Source>>;
  constexpr leaf_shape shape = shape_of<Program>;
  auto folds = folds_of::make(p.leaves);
  int rows = shape.rows;
  if (!Near && n == shape.elements()) {
    if constexpr (folds_of::by_row) { // rows are named by constants, or their states would lie in memory
#pragma unroll
      for (int r = 0; r < shape.rows; r += RowsInFlight)
        feed_rows_of_leaf<RowsInFlight, readable::all>(p, source, first, n, r, lane, folds);
    } else {
#pragma unroll 1
      for (int r = 0; r < shape.rows; r += RowsInFlight)
        feed_rows_of_leaf<RowsInFlight, readable::all>(p, source, first, n, r, lane, folds);
    }
  } else {
    rows = (n - 1) / shape.lanes() + 1;
    auto const feed_some = [&](auto which) {
      constexpr readable Which = static_cast<readable>(decltype(which)::value);
      if constexpr (folds_of::by_row) {
#pragma unroll
        for (int r = 0; r < shape.rows; r += RowsInFlight)
          if (r < rows)
            feed_rows_of_leaf<RowsInFlight, Which>(p, source, first, n, r, lane, folds);
      } else {
#pragma unroll 1
        for (int r = 0; r < rows; r += RowsInFlight)
          feed_rows_of_leaf<RowsInFlight, Which>(p, source, first, n, r, lane, folds);
      }
    };
    if constexpr (!Near && !in_groups<Source> && requires { source.reaches(first); }) {
      if (source.reaches(first + i64(rows) * shape.lanes()))
        feed_some(index_constant<int(readable::rows)>{});
      else
        feed_some(index_constant<int(readable::elements)>{});
    } else {
      feed_some(index_constant<int(readable::elements)>{});
    }
  }
  typename Program::states s;
  for_each_index<Program::leaf_count>([&](auto i) { get<i>(s) = get<i>(folds).close(get<i>(p.leaves), rows, lane); });
  return s;
}

/// The subtree over leaves [leaf, leaf + count), 1 <= count <= Most, of a source of n elements; valid in lane 0.
template <int RowsInFlight, int Most, class Program, class Source>
__device__ __forceinline__ typename Program::states fold_leaves_by_warp(Program const& p, Source const& source, i64 n, i64 leaf, int count,
                                                                       int lane) {
  using States = typename Program::states;
  constexpr int elements = shape_of<Program>.elements(), levels = levels_of(Most);
  auto const combine = [&](States const& a, States const& b, int = 0) { return p.combine(a, b); };
  level_stack<States, levels> tree;
  States s;
#pragma unroll 1
  for (int k = 0; k < count; ++k) {
    i64 const first = (leaf + k) * elements;
    i64 const left = n - first;
    s = tree.push(combine, k, fold_leaf_by_warp<RowsInFlight, false>(p, source, first, left < elements ? int(left) : elements, lane));
  }
  if (count < Most) {
    bool begun = false;
#pragma unroll
    for (int level = 0; level < levels; ++level)
      if ((count >> level & 1) != 0) {
        s = begun ? combine(tree.kept[level], s) : tree.kept[level];
        begun = true;
      }
  }
  return s;
}

} // namespace tally::v0::kernel
