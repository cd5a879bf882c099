// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The route "full": one answer per fold over all elements, in one launch. Layer 4. The kernel decides nothing; its plan is
// its first template argument.
#pragma once

#include <tally/fold/folds.hpp>
#include <tally/kernel/exact_leaf.cuh>
#include <tally/kernel/grid_share.cuh>
#include <tally/kernel/launch_order.cuh>
#include <tally/kernel/leaf.cuh>
#include <tally/kernel/leaving.cuh>
#include <tally/kernel/partials.cuh>

namespace tally::v0::kernel {

/// Which folds bring the state of a whole warp in lane 0, instead of one state per thread.
template <plan P, class Program>
struct whole_folds {
  template <int I>
  __device__ static constexpr bool of(index_constant<I>) {
    if constexpr (P.order != combine_order::canonical_tree)
      return is_cub(P.folds[I].block);
    else
      return P.leaves_per_warp > 1 || !is_spread<P, I>(static_cast<Program const*>(nullptr));
  }
};

/// The states of this thread over the leaves of its warp; `holders` becomes the number of threads that have any.
template <plan P, class Grid, class Program, class Beside>
__device__ __forceinline__ typename Program::states fold_warp(Grid const& grid, Program const& p, leaf_counts const& n, i64 leaf,
                                                             int& holders, Beside const& beside) {
  int const thread = int(threadIdx.x % 32);
  auto s = p.identity();
  holders = P.threads_per_block;
  if constexpr (any_exact_sum(static_cast<decltype(p.leaves) const*>(nullptr))) {
    s = fold_exactly<P>(grid, p, n, thread, beside).close_freely(p.leaves);
  } else if constexpr (P.order == combine_order::free) {
    s = fold_freely<P>(p, leaf, n, thread, beside);
    combine_with_cub<P>(p, s);
  } else {
    if (leaf < n.all)
      s = fold_subtree<P>(p, leaf, n, thread, beside);
    if constexpr (P.order == combine_order::ordered) {
      combine_with_cub<P>(p, s);
    } else if (grid.block() == grid.blocks() - 1) { // the only block whose last warps may have nothing
      i64 const left = n.all - i64(grid.block()) * P.leaves_per_block();
      holders = 32 * int((left - 1) / P.leaves_per_warp + 1);
    }
  }
  return s;
}

/// How the blocks of a cluster meet: kernel/cluster.cuh.
template <plan P, class Program>
struct cluster_meeting;

/// A block folds its share and meets the others: true in the thread that has the answer. The epoch is 0 while nobody has asked.
template <plan P, class Grid, class Program, class Beside>
__device__ __forceinline__ bool fold_and_meet(Grid const& grid, Program const& p, leaf_counts const& n, i64 leaf, partials_view const& ws, u32& epoch,
                                             typename Program::states& s, Beside const& beside) {
  auto const see_what_is_shared = [&] {
    if (P.reads_ahead && epoch == 0) {
      wait_for_launch_in_front();
      epoch = epoch_after(ws);
    }
  };
  int holders;
  if constexpr (P.one_cluster) {
    cluster_meeting<P, Program> cluster(p);
    s = fold_warp<P>(grid, p, n, leaf, holders, beside);
    combine_block<P, whole_folds<P, Program>>(p, s, holders, true);
    return cluster.meet(p, s);
  } else if constexpr (only_exact_sums(static_cast<decltype(p.leaves) const*>(nullptr)) && !P.takes_turns) {
    auto folds = fold_exactly<P>(grid, p, n, int(threadIdx.x % 32), beside);
    close_in_rooms(folds, p.leaves);
    see_what_is_shared();
    return meet_exactly<P>(p, ws, epoch, s) && threadIdx.x == 0;
  } else {
    s = fold_warp<P>(grid, p, n, leaf, holders, beside);
    see_what_is_shared();
    return meet<P, whole_folds<P, Program>>(grid, p, s, holders, ws, epoch) && threadIdx.x == 0;
  }
}

/// A warp folds leaves behind each other, which are a subtree, or those beside the other warps' where no order is kept.
template <plan P, class Grid>
__device__ __forceinline__ i64 first_leaf_of_warp(Grid const& grid) {
  i64 const warp = threadIdx.x / 32;
  return i64(grid.block()) * P.leaves_per_block() + warp * (P.order == combine_order::free ? 1 : P.leaves_per_warp);
}

/// Where element e of the first column in memory lies; null where nothing is read.
__device__ __forceinline__ void const* first_address(pack<> const&, i64) { return nullptr; }
template <class C, class... Cs>
__device__ __forceinline__ void const* first_address(pack<C, Cs...> const& c, i64 e) {
  if constexpr (memory_column<C>)
    return c.first.from(e).data;
  else
    return first_address(c.rest, e);
}

/// Folds the program by the blocks of a grid, or of a share of one, and leaves its states.
template <plan P, class Grid, class Program, class Result, class Beside>
__device__ __forceinline__ void fold_whole(Grid const& grid, Program const& p, leaf_counts const& n, i64 leaf, partials_view const& ws, bool ahead,
                                           Result const& result, Beside const& tables) {
  tables.open();
  u32 epoch = ahead ? 0 : epoch_after(ws);
  auto s = p.identity();
  if (fold_and_meet<P>(grid, p, n, leaf, ws, epoch, s, tables)) {
    leaving<Result>::leave(p, s, result);
    if (!P.one_cluster && grid.blocks() > 1)
      *ws.epoch = epoch;
  }
  tables.give();
}

/// Folds the program and leaves its states, or what is made of them, where the result says. Launched with the plan's threads and at least
/// one block, whose number is ceil(leaves / leaves per block); the workspace has room for the partials of all levels. Keys: folds by key
/// beside them, whose tables have the shared memory that rings of loads would.
template <plan P, class Program, class Result, class... Keys>
__global__ void __launch_bounds__(P.threads_per_block, P.blocks_per_multiprocessor)
    full(__grid_constant__ Program const p, leaf_counts const n, partials_view const ws, [[maybe_unused]] launch_order const order,
         __grid_constant__ Result const result, __grid_constant__ Keys const... keys) {
  static_assert(sizeof...(Keys) == 0 || !(P.one_cluster || P.reads_ahead || P.stages > 0), "nothing is beside these");
  extern __shared__ __align__(128) unsigned char shared[];
  tables_beside<Keys...> const tables(shared, keys...);
  i64 const leaf = first_leaf_of_warp<P>(whole_grid{});
  bool ahead = false;
  if constexpr (P.reads_ahead) {
    ahead = begins_ahead(order, P.stages > 0);
  } else if constexpr (P.overlaps_launch) { // this grid was started early: nothing of it may be seen before the one in front is done
    let_launch_behind_begin();
    // what the first loads need is an operand of the wait, so that it is computed, and its instructions fetched, before
    asm volatile("griddepcontrol.wait;" ::"l"(first_address(p.columns, leaf * P.elements_per_leaf())), "l"(ws.epoch),
                 "l"(n.whole - leaf)
                 : "memory");
  }
  fold_whole<P>(whole_grid{}, p, n, leaf, ws, ahead, result, tables);
}

} // namespace tally::v0::kernel
