// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The route "along a group": the threads of a warp fold leaves of one group, several short groups side by side. Layer 4. Long groups are
// shared by the warps of a block, which go on from leaf to leaf, longer ones by blocks. This is the route of row sums.
#pragma once

#include <tally/fold/folds.hpp>
#include <tally/kernel/answers.cuh>
#include <tally/kernel/chunks.cuh>
#include <tally/kernel/leaf_along.cuh>

namespace tally::v0::kernel {

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
      if constexpr (decltype(inside)::value)
        leaf[b].template load_pieces<fit>(p, place, at.reduced[0], extent);
      else
        leaf[b].template load_rows<fit>(p, place, at.reduced[0], extent);
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
    s[b] = leaf[b].template fold<fit>(p, typename loaded_leaf<P, Program>::rows_behind{position[b], at.reduced[0]}, 0, extent);
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

/// Where the elements of a group are.
template <axes_plan P, class Program>
struct places_of_group {
  using place = grid_place<decltype(Program::columns)::size>;
  axes_layout const& at;
  place origin;
  __device__ __forceinline__ place operator()(i64 e) const {
    place here = origin;
    if constexpr (P.one_reduced_axis)
      here.move(at.reduced[0], e);
    else
      move_along(here, at.reduced, at.reduced_axes, e);
    return here;
  }
  /// Positions of the leaf that begins with element `start`: of element e of row r, wherever each lies.
  __device__ __forceinline__ auto positions_from(i64 start) const {
    return [this, start](int r, int e) { return (*this)(start + r * shape_of<Program>.lanes() + e).position; };
  }
};

__device__ __forceinline__ i64 least_of_two(i64 a, i64 b) { return a < b ? a : b; }

/// Loads a whole leaf of a long group; place_of(e) is where element e of the group is.
template <axes_plan P, class Program, class PlaceOf>
__device__ __forceinline__ void load_whole_leaf(Program const& p, axes_layout const& at, PlaceOf const& place_of, i64 start,
                                               loaded_leaf<P, Program>& to) {
  if constexpr (P.threads_apart)
    to.template load_threads_apart<true>(p, at, place_of.origin, start, shape_of<Program>.elements());
  else if constexpr (P.rows_apart)
    to.load_rows_apart(p, at.reduced[at.reduced_axes - 1], place_of(start + i64(threadIdx.x % 32) * shape_of<Program>.lanes()));
  else
    to.template load<true>(p, at, place_of(start), shape_of<Program>.elements());
}
/// This warp's parts of the states of that leaf.
template <axes_plan P, class Program, class PlaceOf>
__device__ __forceinline__ typename Program::states fold_whole_leaf(Program const& p, axes_layout const& at, PlaceOf const& place_of, i64 start,
                                                                  loaded_leaf<P, Program> const& from) {
  constexpr int elements = shape_of<Program>.elements();
  grid_axis const& along = at.reduced[at.reduced_axes - 1];
  if constexpr (P.threads_apart)
    return from.template fold<true>(p, place_of.positions_from(start), start, elements);
  else if constexpr (P.rows_apart)
    return from.template fold<true>(
        p, [&](int r, int e) { return place_of(start + r * shape_of<Program>.lanes()).position + e * along.position_step; }, start, elements);
  else
    return from.template fold<true>(p, typename loaded_leaf<P, Program>::rows_behind{place_of(start).position, along}, start, elements);
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
  } else if constexpr (P.threads_apart) {
    loaded.template load_threads_apart<false>(p, at, place_of.origin, start, int(left));
    s[0] = loaded.template fold<false>(p, place_of.positions_from(start), start, int(left));
  } else {
    auto const place = place_of(start);
    grid_axis const& along = at.reduced[at.reduced_axes - 1];
    loaded.template load<false>(p, at, place, int(left));
    s[0] = loaded.template fold<false>(p, typename loaded_leaf<P, Program>::rows_behind{place.position, along}, start, int(left));
  }
  leaves_meet<P, 1>::meet(p, s);
  return s[0];
}

/// Two whole leaves of a long group by a warp, whose loads are in flight together: their states are whole in its first two threads.
template <axes_plan P, class Program, class PlaceOf>
__device__ __forceinline__ typename Program::states fold_two_leaves_along(Program const& p, axes_layout const& at, PlaceOf const& place_of,
                                                                        i64 one, i64 other) {
  constexpr int elements = shape_of<Program>.elements();
  loaded_leaf<P, Program> loaded[2];
  typename Program::states s[2];
#pragma unroll
  for (int b = 0; b < 2; ++b)
    load_whole_leaf<P>(p, at, place_of, (b == 0 ? one : other) * elements, loaded[b]);
#pragma unroll
  for (int b = 0; b < 2; ++b)
    s[b] = fold_whole_leaf<P>(p, at, place_of, (b == 0 ? one : other) * elements, loaded[b]);
  leaves_meet<P, 2>::meet(p, s);
  static_assert(leaves_meet<P, 2>::slot_of(1) == 0 && leaves_meet<P, 2>::thread_of(1) == 1);
  return s[0];
}

/// The tree over `count` states of leaves in shared memory, which the Warps warps of a group have left there: in the first thread of the
/// first warp. They are all there, and the warps of a block have as many.
template <int Room, int Warps, class Combine, class State>
__device__ __forceinline__ State fold_room(Combine const& combine, State* of_leaf, int count, int share) {
  int const lane = int(threadIdx.x % 32);
  int step = 1;
  if (Room > 32 && count > 32) {
    for (int first = share * 32; first < count; first += Warps * 32) {
      int const there = count - first < 32 ? count - first : 32;
      State const s = combine_lanes<32>(combine, of_leaf[first + (lane < there ? lane : 0)], there, lane);
      __syncwarp();
      if (lane == 0)
        of_leaf[first] = s;
    }
    __syncthreads();
    step = 32;
    count = (count - 1) / 32 + 1;
  }
  return combine_lanes<(Room < 32 ? Room : 32)>(combine, of_leaf[lane < count ? lane * step : 0], count, lane);
}

/// Groups of several leaves, which the warps of a group share, and for chunks > 1 blocks too. Every leaf, or every row of every leaf, lies
/// along one axis.
template <axes_plan P, class Program, class Nodes>
__device__ __forceinline__ void fold_long_groups(Program const& p, axes_layout const& at, axes_cut const& cut, Nodes const& nodes,
                                                answer_arrays const& to, chunk_meeting<typename Program::states> const& meeting) {
  using States = typename Program::states;
  constexpr int sharing = P.warps_per_group, groups_of_block = P.warps_per_block / sharing;
  auto const combine = [&](States const& a, States const& b) { return p.combine(a, b); };
  int const lane = int(threadIdx.x % 32), warp = int(threadIdx.x / 32), share = warp % sharing;
  int const chunk = P.blocks_share ? int(blockIdx.x / u32(cut.sets)) : 0;
  i64 const set = blockIdx.x - u32(chunk) * u32(cut.sets);
  i64 const g = set * groups_of_block + warp / sharing;
  i64 const begin = i64(chunk) * cut.leaves_of_chunk, end = least_of_two(begin + cut.leaves_of_chunk, cut.leaves);
  alignas(16) __shared__ unsigned char room[groups_of_block * P.leaves_in_room * sizeof(States)];
  States* const of_leaf = reinterpret_cast<States*>(room) + warp / sharing * P.leaves_in_room;
  if (g < at.groups) {
    places_of_group<P, Program> const place_of{at, origin_of<P, Program>(at, g)};
    auto const fold_one = [&](i64 k) {
      auto const s = fold_leaf_along<P>(p, at, place_of, k);
      if (lane == 0)
        of_leaf[k - begin] = s;
    };
    i64 k = begin + share;
    if constexpr (P.one_leaf_a_warp) {
      if (k < end)
        fold_one(k);
    } else {
      if constexpr (P.batches == 2) {
#pragma unroll 1
        for (; k + sharing < end && (k + sharing + 1) * shape_of<Program>.elements() <= at.extent; k += 2 * sharing) {
          auto const s = fold_two_leaves_along<P>(p, at, place_of, k, k + sharing);
          if (lane < 2)
            of_leaf[k - begin + lane * sharing] = s;
        }
      }
#pragma unroll 1
      for (; k < end; k += sharing)
        fold_one(k);
    }
  }
  __syncthreads();
  States s;
  if (g < at.groups && (share == 0 || P.leaves_in_room > 32))
    s = fold_room<P.leaves_in_room, sharing>(combine, of_leaf, int(end - begin), share);
  bool const holds = g < at.groups && lane == 0 && share == 0;
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

} // namespace tally::v0::kernel
