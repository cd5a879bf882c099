// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The route "along a group": neighbouring threads hold neighbouring elements of one group, and the lanes of its leaves meet by
// shuffles. Layer 4. Short groups share a warp side by side, several at a time in flight; long ones are shared by the warps of a
// block, longer ones by blocks. This is the route of row sums.
#pragma once

#include <tally/fold/folds.hpp>
#include <tally/kernel/answers.cuh>
#include <tally/kernel/chunks.cuh>
#include <tally/kernel/strip.cuh>
#include <tally/kernel/warp_tree.cuh>

namespace tally::inline v0::kernel {

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

  /// step(lanes, r, v) feeds element v of row r of this thread, if it exists; only the first `present` rows have any.
  template <class Step>
  __device__ __forceinline__ static State fold(Leaf const& l, int present, Step const& step) {
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
      return close(l, running);
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
        State row[1] = {close(l, running)};
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
  __device__ __forceinline__ static State close(Leaf const& l, lanes_t<M, lanes> const& running) {
    auto const combine = [&](State const& a, State const& b) { return l.monoid.combine(a, b); };
    State s[lanes];
#pragma unroll
    for (int v = 0; v < lanes; ++v)
      s[v] = running.close(l.monoid, v);
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

  /// Rows that have any of `left` elements, where it is worth asking: a group of one leaf has no others, and loads in aligned pieces
  /// are slower behind a branch.
  template <bool Fit>
  __device__ __forceinline__ static int rows_present(int left) {
    return Fit || P.one_leaf || P.realigned != 0 ? rows : left < (rows - 1) * per_row ? (left - 1) / per_row + 1 : rows;
  }
  __device__ __forceinline__ static int first_of_thread() { return int(threadIdx.x % P.threads_along()) * lanes; }
  /// Positions of the rows of a leaf that lies along one axis.
  struct rows_behind {
    i64 position;
    grid_axis const& along;
    __device__ __forceinline__ i64 operator()(int r) const { return position + r * per_row * along.position_step; }
  };
  /// Element e behind a place: elements of a group are neighbours in every column that is read, or the same.
  __device__ __forceinline__ static Place behind(Place at, grid_axis const& along, int e) {
    at.position += e * along.position_step;
#pragma unroll
    for (int c = 0; c < int(sizeof...(Columns)); ++c)
      at.offset[c] += P.standing >> c & 1 ? 0 : e;
    return at;
  }
  /// Loads a leaf whose rows lie apart, the r-th from place_of(r) on.
  template <class PlaceOf>
  __device__ __forceinline__ void load_rows(Program const& p, grid_axis const& along, PlaceOf const& place_of) {
#pragma unroll
    for (int r = 0; r < rows; ++r)
      values.template load<false>(p.columns, behind(place_of(r), along, first_of_thread()), r, along, lanes);
  }
  /// Loads the leaf that begins at a place and has `left` elements; the whole warp calls it.
  template <bool Fit>
  __device__ __forceinline__ void load(Program const& p, axes_layout const& grid, Place const& at, int left) {
    grid_axis const& along = grid.reduced[P.one_reduced_axis ? 0 : grid.reduced_axes - 1];
    if (P.realigned != 0 && __all_sync(~0u, pieces_inside(grid, at, left)))
      load<Fit, true>(p, at, along, left);
    else
      load<Fit, false>(p, at, along, left);
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
  /// Loads it where it is known whether they do.
  template <bool Fit, bool Inside>
  __device__ __forceinline__ void load(Program const& p, Place const& at, grid_axis const& along, int left) {
    int const first = first_of_thread();
    int const present = rows_present<Fit>(left);
    auto const start = behind(at, along, first);
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      if (r >= present)
        break;
      int const e = r * per_row + first;
      if constexpr (Fit) {
        values.template load<Inside>(p.columns, behind(start, along, r * per_row), r, along, lanes);
      } else {
        int const last = (left - 1) / lanes * lanes, held = e < last ? e : last;
        int const there = left - held;
        values.template load<Inside>(p.columns, behind(at, along, held), r, along, there < lanes ? there : lanes);
      }
    }
  }
  /// This thread's part of the states; the leaf has `left` elements, the first of which is number `start` of its group, and row r
  /// begins at position_of(r).
  template <bool Fit, class PositionOf>
  __device__ __forceinline__ typename Program::states fold(Program const& p, PositionOf const& position_of, grid_axis const& along, i64 start,
                                                           int left) const {
    int const first = first_of_thread();
    typename Program::states s;
    for_each_index<int(sizeof...(Leaves))>([&](auto i) {
      auto const& l = get<i>(p.leaves);
      get<i>(s) = leaf_along<P, nth_t<i, Leaves...>>::fold(l, rows_present<Fit>(left), [&](auto& running, int r, int v) {
        int const e = r * per_row + first + v;
        l.step(running, v, Fit || e < left, values.row_at(p.columns, r, v, position_of(r) + (first + v) * along.position_step, start + e));
      });
    });
    return s;
  }
};

/// Where group g begins.
template <axes_plan P, class Program>
__device__ __forceinline__ auto origin_of(axes_layout const& at, i64 g) {
  constexpr int columns = decltype(Program::columns)::size;
  if constexpr (P.one_kept_axis) {
    grid_place<columns> place{};
    if (at.kept_axes > 0)
      place.move(at.kept[0], g);
    return place;
  } else {
    return group_origin<columns>(at, g);
  }
}

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

/// P.batches groups of one leaf for every set of threads along a group; All: they all exist, else the last one stands for others.
template <axes_plan P, bool All, class Program, class Nodes>
__device__ __forceinline__ void fold_batches(Program const& p, axes_layout const& at, Nodes const& nodes, answer_arrays const& to, i64 first) {
  constexpr int across = P.threads_across, B = P.batches;
  constexpr bool fit = P.extent_fits;
  int const lane = int(threadIdx.x % 32), extent = int(at.extent);
  auto const group = [&](int b) { return All || first + b * across < at.groups ? first + b * across : at.groups - 1; };
  loaded_leaf<P, Program> leaf[B];
  i64 position[B];
  auto const for_each_place = [&](auto const& f) {
    auto place = origin_of<P, Program>(at, group(0));
#pragma unroll
    for (int b = 0; b < B; ++b) {
      if (b > 0) {
        if constexpr (P.one_kept_axis && All)
          place.move(at.kept[0], across);
        else
          place = origin_of<P, Program>(at, group(b));
      }
      f(b, place);
    }
  };
  auto const load_all = [&](auto inside) {
    for_each_place([&](int b, auto const& place) {
      position[b] = place.position;
      leaf[b].template load<fit, decltype(inside)::value>(p, place, at.reduced[0], extent);
    });
  };
  bool inside = P.realigned != 0;
  if constexpr (P.realigned != 0)
    for_each_place([&](int, auto const& place) { inside = inside && leaf[0].pieces_inside(at, place, extent); });
  if (P.realigned != 0 && __all_sync(~0u, inside))
    load_all(cuda::std::true_type{});
  else
    load_all(cuda::std::false_type{});
  typename Program::states s[B];
#pragma unroll
  for (int b = 0; b < B; ++b)
    s[b] = leaf[b].template fold<fit>(p, typename loaded_leaf<P, Program>::rows_behind{position[b], at.reduced[0]}, at.reduced[0], 0, extent);
  leaves_meet<P, B>::meet(p, s);
#pragma unroll
  for (int b = 0; b < B; b += leaves_meet<P, B>::together) {
    int const thread = lane % P.threads_along();
    i64 const g = first + (b + thread) * across;
    if (thread < leaves_meet<P, B>::together && (All || g < at.groups))
      write_answers(p, nodes, s[b], at.extent, to, g);
  }
}
template <axes_plan P, class Program, class Nodes>
__device__ __forceinline__ void fold_short_groups(Program const& p, axes_layout const& at, Nodes const& nodes, answer_arrays const& to) {
  constexpr int of_warp = P.threads_across * P.batches;
  i64 const begin = (i64(blockIdx.x) * P.warps_per_block + threadIdx.x / 32) * of_warp;
  i64 const first = begin + threadIdx.x % 32 / P.threads_along();
  if (begin + of_warp <= at.groups)
    fold_batches<P, true>(p, at, nodes, to, first);
  else if (begin < at.groups)
    fold_batches<P, false>(p, at, nodes, to, first);
}

__device__ __forceinline__ i64 least_of_two(i64 a, i64 b) { return a < b ? a : b; }

/// Loads a whole leaf of a long group; place_of(e) is where element e of the group is.
template <axes_plan P, class Program, class PlaceOf>
__device__ __forceinline__ void load_whole_leaf(Program const& p, axes_layout const& at, PlaceOf const& place_of, i64 start,
                                               loaded_leaf<P, Program>& to) {
  if constexpr (P.rows_apart)
    to.load_rows(p, at.reduced[at.reduced_axes - 1], [&](int r) { return place_of(start + r * shape_of<Program>.lanes()); });
  else
    to.template load<true>(p, at, place_of(start), shape_of<Program>.elements());
}
/// This warp's parts of the states of that leaf.
template <axes_plan P, class Program, class PlaceOf>
__device__ __forceinline__ typename Program::states fold_whole_leaf(Program const& p, axes_layout const& at, PlaceOf const& place_of, i64 start,
                                                                  loaded_leaf<P, Program> const& from) {
  constexpr int elements = shape_of<Program>.elements();
  grid_axis const& along = at.reduced[at.reduced_axes - 1];
  if constexpr (P.rows_apart)
    return from.template fold<true>(p, [&](int r) { return place_of(start + r * shape_of<Program>.lanes()).position; }, along, start, elements);
  else
    return from.template fold<true>(p, typename loaded_leaf<P, Program>::rows_behind{place_of(start).position, along}, along, start, elements);
}

/// One leaf of a long group by a warp, whole in its first thread.
template <axes_plan P, class Program, class PlaceOf>
__device__ __forceinline__ typename Program::states fold_leaf_along(Program const& p, axes_layout const& at, PlaceOf const& place_of, i64 leaf) {
  constexpr int elements = shape_of<Program>.elements();
  i64 const start = leaf * elements, left = at.extent - start;
  loaded_leaf<P, Program> loaded;
  typename Program::states s[1];
  if (left >= elements) {
    load_whole_leaf<P>(p, at, place_of, start, loaded);
    s[0] = fold_whole_leaf<P>(p, at, place_of, start, loaded);
  } else {
    auto const place = place_of(start);
    grid_axis const& along = at.reduced[at.reduced_axes - 1];
    loaded.template load<false>(p, at, place, int(left));
    s[0] = loaded.template fold<false>(p, typename loaded_leaf<P, Program>::rows_behind{place.position, along}, along, start, int(left));
  }
  leaves_meet<P, 1>::meet(p, s);
  return s[0];
}

/// Two whole neighbouring leaves of a long group by a warp, whose loads are in flight together; their state is whole in its first thread.
template <axes_plan P, class Program, class PlaceOf>
__device__ __forceinline__ typename Program::states fold_two_leaves_along(Program const& p, axes_layout const& at, PlaceOf const& place_of,
                                                                        i64 first) {
  constexpr int elements = shape_of<Program>.elements();
  loaded_leaf<P, Program> loaded[2];
  typename Program::states s[2];
#pragma unroll
  for (int b = 0; b < 2; ++b)
    load_whole_leaf<P>(p, at, place_of, (first + b) * elements, loaded[b]);
#pragma unroll
  for (int b = 0; b < 2; ++b)
    s[b] = fold_whole_leaf<P>(p, at, place_of, (first + b) * elements, loaded[b]);
  leaves_meet<P, 2>::meet(p, s);
  static_assert(leaves_meet<P, 2>::slot_of(1) == 0 && leaves_meet<P, 2>::thread_of(1) == 1);
  return p.combine(s[0], shuffled_down(s[0], 1));
}

/// Groups of several leaves, which the warps of a group share, and for chunks > 1 blocks too. Every leaf, or every row of every leaf, lies
/// along one axis.
template <axes_plan P, class Program, class Nodes>
__device__ __forceinline__ void fold_long_groups(Program const& p, axes_layout const& at, axes_cut const& cut, Nodes const& nodes,
                                                answer_arrays const& to, chunk_meeting<typename Program::states> const& meeting) {
  using States = typename Program::states;
  constexpr int sharing = P.warps_per_group, groups_of_block = P.warps_per_block / sharing;
  auto const combine = [&](States const& a, States const& b) { return p.combine(a, b); };
  int const warp = int(threadIdx.x / 32), share = warp % sharing;
  int const chunk = P.blocks_share ? int(blockIdx.x / u32(cut.sets)) : 0;
  i64 const set = blockIdx.x - u32(chunk) * u32(cut.sets);
  i64 const g = set * groups_of_block + warp / sharing;
  i64 const begin = i64(chunk) * cut.leaves_of_chunk, first = begin + share * cut.leaves_of_warp;
  i64 const chunk_end = least_of_two(begin + cut.leaves_of_chunk, cut.leaves);
  i64 const end = least_of_two(first + cut.leaves_of_warp, chunk_end);
  bool const works = g < at.groups && first < end;
  States s;
  if (works) {
    auto const origin = origin_of<P, Program>(at, g);
    auto const place_of = [&](i64 e) {
      auto here = origin;
      if constexpr (P.one_reduced_axis)
        here.move(at.reduced[0], e);
      else
        move_along(here, at.reduced, at.reduced_axes, e);
      return here;
    };
    if constexpr (P.one_leaf_a_warp) {
      s = fold_leaf_along<P>(p, at, place_of, first);
    } else if (P.batches == 2 && end - first == 2 && (first + 2) * shape_of<Program>.elements() <= at.extent) {
      s = fold_two_leaves_along<P>(p, at, place_of, first);
    } else {
      neighbour_stack<States, 40> tree;
#pragma unroll 1
      for (i64 k = first; k < end; ++k)
        tree.push(combine, fold_leaf_along<P>(p, at, place_of, k));
      s = tree.root(combine);
    }
  }
  bool const holds = g < at.groups && threadIdx.x % 32 == 0 && share == 0;
  if constexpr (sharing > 1) {
    __shared__ alignas(16) unsigned char room[P.warps_per_block * sizeof(States)];
    States* const of_warp = reinterpret_cast<States*>(room);
    if (works && threadIdx.x % 32 == 0)
      of_warp[warp] = s;
    __syncthreads();
    if (holds) {
      int const there = int((chunk_end - begin - 1) / cut.leaves_of_warp + 1);
      States of_share[sharing];
#pragma unroll
      for (int w = 0; w < sharing; ++w)
        if (w < there)
          of_share[w] = of_warp[warp + w];
      s = combine_in_registers(combine, of_share, there);
    }
  }
  if constexpr (P.blocks_share) {
    if (holds)
      meeting.partials[i64(chunk) * at.groups + g] = s;
    meet_in_chunks<P.threads_per_block(), groups_of_block, groups_of_block>(
          p, at, cut, meeting, set, chunk, share == 0,
          [&](int i) {
            i64 const of_set = set * groups_of_block + i;
            return of_set < at.groups ? of_set : -1;
          },
          [&](i64 group, States const& total) { write_answers(p, nodes, total, at.extent, to, group); });
  } else if (holds) {
    write_answers(p, nodes, s, at.extent, to, g);
  }
}

/// Folds every group along its innermost reduced axis.
template <axes_plan P, class Program, class Nodes>
__global__ void __launch_bounds__(P.threads_per_block(), P.blocks_per_multiprocessor)
    along_group(__grid_constant__ Program const p, __grid_constant__ axes_layout const at, __grid_constant__ axes_cut const cut,
                __grid_constant__ Nodes const nodes, answer_arrays const to, chunk_meeting<typename Program::states> const meeting) {
  if constexpr (P.one_leaf)
    fold_short_groups<P>(p, at, nodes, to);
  else
    fold_long_groups<P>(p, at, cut, nodes, to, meeting);
}

} // namespace tally::inline v0::kernel
