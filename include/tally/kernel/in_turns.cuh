// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks over one source that take turns: the blocks of a launch belong to the folds of the whole and to reads by segment in turn, each as often
// as it has blocks, so that all are everywhere at the same time, and what one reads from memory the others find in L2. Layer 4. Every walk is that
// of its own route, over a share of the grid.
#pragma once

#include <tally/kernel/full.cuh>
#include <tally/kernel/segments.cuh>
#include <tally/plan/turns_plan.hpp>

namespace tally::v0::kernel {

/// The argument for one read by segment, which its plan goes with.
template <segments_plan P, class Program, class Nodes, class Offset>
struct planned_segments : segments_read<Program, Nodes, Offset> {
  static constexpr int threads = P.threads_per_block(), blocks_per_multiprocessor = P.blocks_per_multiprocessor;
  static constexpr i64 room_bytes = P.warps_per_block * i64(sizeof(typename tile_of_read<P, segments_read<Program, Nodes, Offset>>::type));
  __device__ __forceinline__ void walk(share_of_grid const& grid, unsigned char* room) const {
    read_segments<P>(grid, static_cast<segments_read<Program, Nodes, Offset> const&>(*this), room);
  }
};

template <class Segments>
struct all_segments;
template <class First, class... Rest>
struct all_segments<pack<First, Rest...>> {
  static constexpr int threads = First::threads;
  static_assert((true && ... && (Rest::threads == threads)), "all walks have blocks of one size");
  static constexpr i64 room_bytes() {
    i64 most = First::room_bytes;
    ((most = most < Rest::room_bytes ? Rest::room_bytes : most), ...);
    return most;
  }
  static constexpr int blocks_per_multiprocessor() {
    int least = First::blocks_per_multiprocessor;
    ((least = least < Rest::blocks_per_multiprocessor ? least : Rest::blocks_per_multiprocessor), ...);
    return least;
  }
};
template <plan P, class Program, class Segments>
constexpr int blocks_of_turns() {
  int const least = all_segments<Segments>::blocks_per_multiprocessor();
  return Program::leaf_count > 0 && P.blocks_per_multiprocessor < least ? P.blocks_per_multiprocessor : least;
}

/// Folds the whole and all segments, in blocks of one size; `blocks` of every walk are the grid. A program without folds is no walk. Keys: folds by key beside
/// the folds of the whole.
template <plan P, class Program, class Result, class Segments, class... Keys>
__global__ void __launch_bounds__(all_segments<Segments>::threads, blocks_of_turns<P, Program, Segments>())
    in_turns(blocks_in_turns const blocks, __grid_constant__ Segments const segments, __grid_constant__ Program const p, leaf_counts const n,
             partials_view const ws, __grid_constant__ Result const result, __grid_constant__ Keys const... keys) {
  extern __shared__ __align__(128) unsigned char shared[];
  share_of_grid here{blockIdx.x, gridDim.x};
  if constexpr (Program::leaf_count > 0) {
    static_assert(P.threads_per_block == all_segments<Segments>::threads, "all walks have blocks of one size");
    static_assert(P.takes_turns && !(P.one_cluster || P.overlaps_launch || P.stages > 0), "none of these takes turns");
    if (turn const of(here.number, here.of, blocks.of[0]); of.is_own()) {
      share_of_grid const own{of.before(), blocks.of[0]};
      return fold_whole<P>(own, p, n, first_leaf_of_warp<P>(own), ws, false, result, tables_beside<Keys...>(shared, keys...));
    } else {
      here = {here.number - of.before(), here.of - blocks.of[0]};
    }
  }
  bool done = false;
  for_each_index<Segments::size>([&](auto i) {
    if (done)
      return;
    u32 const of_walk = blocks.of[1 + i];
    turn const of(here.number, here.of, of_walk);
    if (of.is_own()) {
      get<i>(segments).walk({of.before(), of_walk}, shared);
      done = true;
    } else {
      here = {here.number - of.before(), here.of - of_walk};
    }
  });
}

} // namespace tally::v0::kernel
