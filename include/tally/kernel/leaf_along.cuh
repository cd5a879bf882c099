// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A leaf along a group: neighbouring threads hold neighbouring elements, and the lanes of the leaf meet by shuffles. Layer 4.
//
// Rows of small elements begin anywhere, and loads of one element each would be many. Then the leaf comes in aligned pieces of 16 bytes,
// one a thread and row, in which its first lane is a few places behind the first thread's first: nobody shifts what is loaded. Every
// thread folds the places that it has, and the lanes are turned by as many once, when their states meet.
#pragma once

#include <tally/fold/program.hpp>
#include <tally/fold/tree.hpp>
#include <tally/kernel/strip.cuh>
#include <tally/kernel/warp_tree.cuh>

namespace tally::v0::kernel {

/// Neighbouring lanes of a leaf that one thread holds.
template <axes_plan P>
inline constexpr int lanes_beside = P.lanes_in_leaf / P.threads_along();

/// One fold over a leaf whose lanes lie in neighbouring threads: each has a part, which meet as trees side by side.
template <axes_plan P, class Leaf>
struct leaf_along {
  using M = typename Leaf::monoid_type;
  using State = typename Leaf::state;
  static constexpr int lanes = lanes_beside<P>, rows = P.rows_in_leaf;
  /// Whether a closed leaf is in parts; rows that must not be mixed are combined at once, and the first thread has the whole.
  static constexpr bool in_parts = M::law.commutative;

  /// step(lanes, r, v) feeds element v of row r of this thread, if it exists; only the first `present` rows have any. The lanes of the
  /// leaf begin at the thread's `turn`-th.
  template <class Step>
  __device__ __forceinline__ static State fold(Leaf const& l, int present, int turn, Step const& step) {
    auto const combine = [&](State const& a, State const& b) { return l.monoid.combine(a, b); };
    if constexpr (M::law.commutative) {
      lanes_t<M, lanes> running(l.monoid);
#pragma unroll
      for (int r = 0; r < rows; ++r)
        if (r < present) {
#pragma unroll
          for (int v = 0; v < lanes; ++v)
            step(running, r, v);
        }
      return close(l, running, turn);
    } else {
      State of_row[rows];
#pragma unroll
      for (int r = 0; r < rows; ++r) {
        lanes_t<M, lanes> running(l.monoid);
        if (r < present) {
#pragma unroll
          for (int v = 0; v < lanes; ++v)
            step(running, r, v);
        }
        State row[1] = {close(l, running, turn)};
        meet(l, row);
        of_row[r] = row[0];
      }
      return combine_in_registers(combine, of_row);
    }
  }
  /// From the parts of B leaves to their states: that of leaf b lands in thread b % merged of slot b / merged * merged.
  template <int B>
  __device__ __forceinline__ static void meet(Leaf const& l, State (&s)[B]) {
    auto const combine = [&](State const& a, State const& b) { return l.monoid.combine(a, b); };
    constexpr int together = B < P.threads_along() ? B : P.threads_along();
#pragma unroll
    for (int h = 1; h < together; h *= 2)
#pragma unroll
      for (int b = 0; b < B; b += 2 * h)
        s[b] = merge_trees(combine, s[b], s[b + h], h, int(threadIdx.x));
#pragma unroll
    for (int b = 0; b < B; b += together)
#pragma unroll
      for (int h = together; h < P.threads_along(); h *= 2)
        s[b] = combine(s[b], shuffled_down(s[b], h));
  }

private:
  __device__ __forceinline__ static State close(Leaf const& l, lanes_t<M, lanes> const& running, int turn) {
    auto const combine = [&](State const& a, State const& b) { return l.monoid.combine(a, b); };
    State s[lanes];
#pragma unroll
    for (int v = 0; v < lanes; ++v)
      s[v] = running.close(l.monoid, v);
    if constexpr (P.realigned != 0)
      return combine_turned(combine, s, turn);
    else if constexpr (P.striped)
      return parts_in_order(combine, s, int(threadIdx.x % 32));
    else
      return combine_in_registers(combine, s);
  }
};

/// A leaf of a group in the registers of the threads along it. Elements that do not exist are loaded as the last one and left out
/// when the leaf is folded; Fit: all exist.
template <axes_plan P, class Program>
struct loaded_leaf;
template <axes_plan P, class... Columns, class... Leaves>
struct loaded_leaf<P, program<pack<Columns...>, Leaves...>> {
  using Program = program<pack<Columns...>, Leaves...>;
  using Place = grid_place<int(sizeof...(Columns))>;
  static constexpr int lanes = lanes_beside<P>, rows = P.rows_in_leaf, per_row = P.rows_in_leaf > 1 ? shape_of<Program>.lanes() : 0;
  strip_rows<P, 0, rows, lanes, Columns...> values;
  int turn = 0; ///< how far behind its first piece a realigned leaf begins: this thread's first lane is that many in front

  /// Rows that have any of `left` elements; a group of one leaf has no others.
  template <bool Fit>
  __device__ __forceinline__ static int rows_present(int left) {
    return Fit || P.one_leaf ? rows : left < (rows - 1) * per_row ? (left - 1) / per_row + 1 : rows;
  }
  __device__ __forceinline__ static int first_of_thread() { return int(threadIdx.x % P.threads_along()) * (P.striped ? 1 : lanes); }
  /// Element v of this thread, in every row of the leaf.
  __device__ __forceinline__ int in_row(int v) const {
    return P.realigned != 0 ? (first_of_thread() - turn + v) & (per_row - 1) : first_of_thread() + v * (P.striped ? P.threads_along() : 1);
  }
  /// Whether all elements of row r exist: of a leaf that is its group, all rows but the last are whole.
  template <bool Fit>
  __device__ __forceinline__ static constexpr bool whole(int r) {
    return Fit || (P.one_leaf && r + 1 < rows);
  }
  /// Whether element v of row r is one of `left`.
  template <bool Fit>
  __device__ __forceinline__ bool exists(int r, int v, int left) const {
    return whole<Fit>(r) || in_row(v) < left - r * per_row;
  }
  /// Positions of elements of a leaf that lies along one axis: of element e of row r.
  struct rows_behind {
    i64 position;
    grid_axis const& along;
    __device__ __forceinline__ i64 operator()(int r, int e) const { return position + (r * per_row + e) * along.position_step; }
  };
  /// Element e behind a place: elements of a group are neighbours in every column that is read, or the same.
  __device__ __forceinline__ static Place behind(Place at, grid_axis const& along, int e) {
    at.position += e * along.position_step;
#pragma unroll
    for (int c = 0; c < int(sizeof...(Columns)); ++c)
      at.offset[c] += P.standing >> c & 1 ? 0 : e;
    return at;
  }
  /// Loads a leaf whose rows lie apart; thread r of the warp has found where the r-th begins, so that nobody divides for more than one.
  __device__ __forceinline__ void load_rows_apart(Program const& p, grid_axis const& along, Place const& of_row) {
    static_assert(rows <= 32);
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      Place at = of_row;
#pragma unroll
      for (int c = 0; c < int(sizeof...(Columns)); ++c)
        at.offset[c] = __shfl_sync(~0u, of_row.offset[c], r);
      values.template load<true>(p.columns, behind(at, along, first_of_thread()), r, along, lanes);
    }
  }
  /// Loads the leaf that begins with element `start` of a group of two axes, and has `left` elements: where each thread's lie, on one run or on two, is its own.
  template <bool Fit>
  __device__ __forceinline__ void load_threads_apart(Program const& p, axes_layout const& grid, Place const& origin, i64 start, int left) {
    grid_axis const &along = grid.reduced[1], &outer = grid.reduced[0];
    int const run = int(along.extent), runs_of_row = per_row / run, over = per_row - runs_of_row * run;
    i64 row = (start + first_of_thread()) / run;
    int in_run = int(start + first_of_thread() - row * run);
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      int const there = Fit ? per_row : left - r * per_row - first_of_thread();
      Place at = origin;
      if (Fit || there > 0) { // else what is first is read, and not looked at
        at.move(outer, row);
        at.move(along, in_run);
      }
      if constexpr (P.striped)
        values.load_striped(p.columns, at, r, along, outer, run - in_run, there);
      else
        values.load_across_runs(p.columns, at, r, along, outer, run - in_run, there);
      in_run += over, row += runs_of_row;
      if (in_run >= run)
        in_run -= run, ++row;
    }
  }
  /// Loads the leaf that begins at a place and has `left` elements; the whole warp calls it.
  template <bool Fit>
  __device__ __forceinline__ void load(Program const& p, axes_layout const& grid, Place const& at, int left) {
    grid_axis const& along = grid.reduced[P.one_reduced_axis ? 0 : grid.reduced_axes - 1];
    if (P.realigned != 0 && __all_sync(~0u, pieces_inside(grid, at, left)))
      load_pieces<Fit>(p, at, along, left);
    else
      load_rows<Fit>(p, at, along, left);
  }
  /// Whether the aligned pieces around `left` elements from a place on are inside their columns.
  __device__ __forceinline__ static bool pieces_inside(axes_layout const& grid, Place const& at, int left) {
    bool inside = true;
#pragma unroll
    for (int c = 0; c < int(sizeof...(Columns)); ++c)
      if (P.realigned >> c & 1)
        inside = inside && pieces_end_inside(grid, c, at.offset[c] + left - 1, lanes);
    return inside;
  }
  /// Loads it row by row, each thread what it folds.
  template <bool Fit>
  __device__ __forceinline__ void load_rows(Program const& p, Place const& at, grid_axis const& along, int left) {
    int const present = rows_present<Fit>(left);
    auto const start = behind(at, along, first_of_thread());
    for_each_index<rows>([&](auto r) {
      auto const place = behind(start, along, r * per_row);
      if (whole<Fit>(r) || (rows > 1 && (r + 1) * per_row <= left))
        values.template load<true>(p.columns, place, r, along, lanes);
      else if (r < present)
        values.template load<false>(p.columns, place, r, along, left - r * per_row - first_of_thread());
    });
  }
  /// Loads it in aligned pieces, and turns its lanes.
  template <bool Fit>
  __device__ __forceinline__ void load_pieces(Program const& p, Place const& at, grid_axis const& along, int left) {
    int const present = rows_present<Fit>(left);
    auto const start = behind(at, along, first_of_thread()), last = behind(at, along, left - 1);
    for_each_index<rows>([&](auto r) {
      if (r < present)
        values.template load_piece_of<whole<Fit>(r)>(p.columns, start, last, r, per_row);
    });
    values.template load_piece_of<true>(p.columns, last, last, rows, 0);
    turn = values.turn(p.columns, at);
    values.take_ends(turn, present);
  }
  /// This thread's part of the states; the leaf has `left` elements, the first of which is number `start` of its group, and element e of row r
  /// has position position_of(r, e).
  template <bool Fit, class PositionOf>
  __device__ __forceinline__ typename Program::states fold(Program const& p, PositionOf const& position_of, i64 start, int left) const {
    typename Program::states s;
    for_each_index<int(sizeof...(Leaves))>([&](auto i) {
      auto const& l = get<i>(p.leaves);
      get<i>(s) = leaf_along<P, nth_t<i, Leaves...>>::fold(l, rows_present<Fit>(left), turn, [&](auto& running, int r, int v) {
        int const e = in_row(v);
        l.step(running, v, exists<Fit>(r, v, left),
               values.row_at(p.columns, r, v, position_of(r, e), start + r * per_row + e));
      });
    });
    return s;
  }
};

/// From the parts of B leaves of all folds to their states: those of leaf b land in slot slot_of(b) of thread thread_of(b).
template <axes_plan P, int B>
struct leaves_meet {
  static constexpr int together = B < P.threads_along() ? B : P.threads_along();
  __device__ __forceinline__ static constexpr int slot_of(int b) { return b / together * together; }
  __device__ __forceinline__ static constexpr int thread_of(int b) { return b % together; }
  template <class Columns, class... Leaves>
  __device__ __forceinline__ static void meet(program<Columns, Leaves...> const& p, typename program<Columns, Leaves...>::states (&s)[B]) {
    for_each_index<int(sizeof...(Leaves))>([&](auto i) {
      using fold = leaf_along<P, nth_t<i, Leaves...>>;
      typename fold::State of[B];
#pragma unroll
      for (int b = 0; b < B; ++b)
        of[b] = get<i>(s[b]);
      if constexpr (fold::in_parts) {
        fold::meet(get<i>(p.leaves), of);
      } else {
#pragma unroll
        for (int b = 0; b < B; ++b) { // from the first thread to the one that merged parts would be in
          auto const moved = shuffled_from(of[b], int(threadIdx.x % 32) / P.threads_along() * P.threads_along());
          if (thread_of(b) == int(threadIdx.x) % P.threads_along())
            of[slot_of(b)] = moved;
        }
      }
#pragma unroll
      for (int b = 0; b < B; b += together)
        get<i>(s[b]) = of[b];
    });
  }
};

} // namespace tally::v0::kernel
