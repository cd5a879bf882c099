// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The warps of a block become one state, per fold by the algorithm its plan names. Layer 4. CUB's algorithms come in with
// kernel/block_cub.cuh, which a translation unit includes only if its plan asks for one of them.
#pragma once

#include <tally/fold/program.hpp>
#include <tally/kernel/warp_tree.cuh>
#include <tally/plan/plan.hpp>

namespace tally::inline v0::kernel {

/// CUB's algorithm for one state per thread: kernel/block_cub.cuh.
template <class State, int Threads, block_algorithm Algorithm>
struct cub_block;

/// The states of the warps (lane 0 of each), as far as the warps exist, along the canonical tree; thread 0 has the answer.
template <plan P, class Program>
__device__ __forceinline__ typename Program::states combine_warps(Program const& p, typename Program::states const& s,
                                                                 i64 warps) {
  constexpr int most = P.warps_per_block();
  __shared__ alignas(16) unsigned char room[most * sizeof(typename Program::states)];
  auto* const of_warp = reinterpret_cast<typename Program::states*>(room);
  int const lane = int(threadIdx.x % 32), warp = int(threadIdx.x / 32);
  if (lane == 0)
    of_warp[warp] = s;
  __syncthreads();
  auto out = s;
  if (warp == 0) {
    out = lane < most ? of_warp[lane] : s;
    for_each_index<Program::leaf_count>([&](auto i) {
      auto const& m = get<i>(p.leaves).monoid;
      get<i>(out) = combine_lanes<most>([&](auto const& a, auto const& b) { return m.combine(a, b); }, get<i>(out), warps, lane);
    });
  }
  return out;
}

/// One state per thread becomes one per block, in any order; thread 0 has the answer.
template <plan P, class Program>
__device__ __forceinline__ typename Program::states combine_threads(Program const& p, typename Program::states const& s) {
  auto out = s;
  bool constexpr all_cub = [] {
    for (int i = 0; i < Program::leaf_count; ++i)
      if (P.folds[i].block == block_algorithm::neighbour_tree)
        return false;
    return true;
  }();
  for_each_index<Program::leaf_count>([&](auto i) {
    auto const& m = get<i>(p.leaves).monoid;
    auto const combine = [&](auto const& a, auto const& b) { return m.combine(a, b); };
    using State = decltype(m.identity());
    if constexpr (P.folds[i].block == block_algorithm::neighbour_tree)
      get<i>(out) = combine_lanes<32>(combine, get<i>(out), 32, int(threadIdx.x % 32));
    else
      get<i>(out) = cub_block<State, P.threads_per_block, P.folds[i].block>::reduce(get<i>(out), combine);
  });
  if constexpr (all_cub)
    return out;
  auto const warps = combine_warps<P>(p, out, P.warps_per_block());
  for_each_index<Program::leaf_count>([&](auto i) {
    if constexpr (P.folds[i].block == block_algorithm::neighbour_tree)
      get<i>(out) = get<i>(warps);
  });
  return out;
}

} // namespace tally::inline v0::kernel
