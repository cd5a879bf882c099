// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The warps of a block become one state, per fold by the algorithm its plan names. Layer 4. CUB's algorithms come in with
// kernel/block_cub.cuh and redux.sync with kernel/block_redux.cuh, which a translation unit includes only if its plan asks for
// them.
#pragma once

#include <tally/fold/program.hpp>
#include <tally/kernel/exact.cuh>
#include <tally/kernel/warp_tree.cuh>
#include <tally/plan/plan.hpp>

namespace tally::v0::kernel {

/// CUB's algorithm for one state per thread: kernel/block_cub.cuh.
template <class State, int Threads, block_algorithm Algorithm>
struct cub_block;

/// redux.sync over the states of a warp: kernel/block_redux.cuh.
template <class M>
struct redux_warp;

/// Combines the states of lanes 0 to count - 1 (count <= Most) by the algorithm of fold I; lane 0 has the answer.
template <plan P, int I, int Most, class M, class State>
__device__ __forceinline__ State combine_lanes_of(M const& m, State const& s, int count, int lane) {
  if constexpr (P.folds[I].block == block_algorithm::redux)
    return redux_warp<M>::reduce(lane < count ? s : m.identity());
  else
    return combine_lanes<Most>([&](auto const& a, auto const& b) { return m.combine(a, b); }, s, count, lane);
}

/// Whether CUB has combined all fresh states of a block.
template <plan P>
constexpr bool all_by_cub(int folds) {
  for (int i = 0; i < folds; ++i)
    if (!is_cub(P.folds[i].block))
      return false;
  return true;
}

/// Combines the exact sums of the first `holders` threads of a block; thread 0 has them. (Fresh ones are there already.)
template <plan P, class Program>
__device__ __forceinline__ void combine_exact_sums(Program const& p, typename Program::states& s, int holders) {
  for_each_index<Program::leaf_count>([&](auto i) {
    using M = cuda::std::remove_cvref_t<decltype(get<i>(p.leaves).monoid)>;
    if constexpr (exact_monoid<M>)
      get<i>(s) = combine_exactly<P, M, Program::leaf_count - 1 - i>(get<i>(s), int(threadIdx.x) < holders);
  });
}

/// Combines the states of a block along the canonical tree; thread 0 has the answer. The first `holders` threads hold one
/// state each; `Whole::of(I)` says of a fold that its fresh states, those of leaves, stand in lane 0 of each warp.
template <plan P, class Whole, class Program>
__device__ __forceinline__ void combine_block(Program const& p, typename Program::states& s, int holders, bool fresh) {
  if (!fresh)
    combine_exact_sums<P>(p, s, holders);
  if constexpr (all_by_cub<P>(Program::leaf_count))
    if (fresh)
      return;
  constexpr int most = P.warps_per_block();
  alignas(16) __shared__ unsigned char room[most * sizeof(typename Program::states)];
  auto* const of_warp = reinterpret_cast<typename Program::states*>(room);
  int const lane = int(threadIdx.x % 32), warp = int(threadIdx.x / 32);
  int const warps = (holders - 1) / 32 + 1;
  int const here = holders - warp * 32; // threads of this warp that hold a state
  for_each_index<Program::leaf_count>([&](auto i) {
    auto const& m = get<i>(p.leaves).monoid;
    if constexpr (!exact_monoid<cuda::std::remove_cvref_t<decltype(m)>>)
      get<i>(s) = combine_lanes_of<P, i, 32>(m, get<i>(s), fresh && Whole::of(i) ? 1 : here, lane);
  });
  if constexpr (most > 1) {
    if (lane == 0)
      of_warp[warp] = s;
    __syncthreads();
    if (warp == 0) {
      s = of_warp[lane < most ? lane : 0];
      for_each_index<Program::leaf_count>([&](auto i) {
        auto const& m = get<i>(p.leaves).monoid;
        if constexpr (!exact_monoid<cuda::std::remove_cvref_t<decltype(m)>>)
          get<i>(s) = combine_lanes_of<P, i, most>(m, get<i>(s), warps, lane);
      });
    }
    __syncthreads(); // the room is free again
  }
}

/// Shared memory that CUB takes for fold I of a plan; all folds of a block take turns in the largest of these rooms.
template <plan P, int I, class State>
constexpr int cub_bytes_of() {
  if constexpr (!is_cub(P.folds[I].block))
    return 1;
  else
    return int(sizeof(typename cub_block<State, P.threads_per_block, P.folds[I].block>::room));
}
template <plan P, class... States, int... I>
constexpr int cub_bytes(pack<States...> const*, index_list<I...>) {
  int most = 1;
  ((most = cub_bytes_of<P, I, States>() > most ? cub_bytes_of<P, I, States>() : most), ...);
  return most;
}

/// One state per thread becomes one per block, in the order of threads or in any, for the folds whose plan names an algorithm
/// of CUB: lane 0 of warp 0 has the answer, lane 0 of the other warps the identity. The other folds are left as they are.
template <plan P, class Program>
__device__ __forceinline__ void combine_with_cub(Program const& p, typename Program::states& s) {
  using States = typename Program::states;
  alignas(16) __shared__ unsigned char room[cub_bytes<P>(static_cast<States const*>(nullptr), indices_up_to<States::size>{})];
  for_each_index<Program::leaf_count>([&](auto i) {
    auto const& m = get<i>(p.leaves).monoid;
    auto const combine = [&](auto const& a, auto const& b) { return m.combine(a, b); };
    if constexpr (is_cub(P.folds[i].block)) {
      using block = cub_block<decltype(m.identity()), P.threads_per_block, P.folds[i].block>;
      get<i>(s) = block::reduce(get<i>(s), combine, room);
      if (threadIdx.x >= 32)
        get<i>(s) = m.identity();
    }
  });
}

} // namespace tally::v0::kernel
