// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How blocks that share groups meet: each leaves the states of its chunk of leaves in memory, and the threads of the one that comes
// last fold the chunks of every group in their order. Layer 4. An arrival counter wraps to zero at the last arrival, so nothing is
// cleared.
#pragma once

#include <tally/fold/groups.hpp>
#include <tally/fold/tree.hpp>
#include <tally/plan/axes_plan.hpp>

namespace tally::inline v0::kernel {

/// Where the states of chunks are, and how often a set of blocks has arrived: a state for every chunk and group, a zero for every set.
template <class States>
struct chunk_meeting {
  States* partials;
  u32* arrivals;
};

/// Threads that share the chunks of one group: a power of two, as many as a block has to spare.
template <class States>
constexpr int threads_on_chunks(int threads, int groups) {
  int parts = 1;
  while (2 * parts * groups <= threads && 2 * parts * groups * int(sizeof(States)) <= 16 * 1024 && parts < 128)
    parts *= 2;
  return parts;
}

/// The tree of neighbours over n states that come from next(i), eight at a time on their way.
template <class Combine, class Next>
__device__ __forceinline__ auto fold_in_order(Combine const& combine, int n, Next const& next) {
  using State = decltype(next(0));
  constexpr int ahead = 8;
  neighbour_stack<State, 32> tree;
#pragma unroll 1
  for (int i = 0; i < n; i += ahead) {
    State some[ahead];
#pragma unroll
    for (int k = 0; k < ahead; ++k)
      if (i + k < n)
        some[k] = next(i + k);
#pragma unroll
    for (int k = 0; k < ahead; ++k)
      if (i + k < n)
        tree.push(combine, some[k]);
  }
  return tree.root(combine);
}

/// Called by all threads of a block when each thread has stored what it holds of this block's chunk: true in the block that comes
/// last.
__device__ __forceinline__ bool comes_last(u32* arrivals, i64 set, int chunks) {
  __shared__ u32 before;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0)
    before = atomicInc(arrivals + set, u32(chunks) - 1);
  __syncthreads();
  bool const last = before == u32(chunks) - 1;
  if (last)
    __threadfence();
  return last;
}

/// Folds the chunks of Groups groups with all Threads of a block: group_of(i) is the number of the i-th, negative where there is
/// none; write(group, states) receives each.
template <int Threads, int Groups, class Program, class GroupOf, class Write>
__device__ __forceinline__ void fold_chunks(Program const& p, axes_layout const& at, axes_cut const& cut,
                                           typename Program::states const* partials, GroupOf const& group_of, Write const& write) {
  using States = typename Program::states;
  constexpr int parts = threads_on_chunks<States>(Threads, Groups);
  auto const combine = [&](States const& a, States const& b) { return p.combine(a, b); };
  int each = 1; // chunks of a part, a subtree
  while (each * parts < cut.chunks)
    each *= 2;
  if constexpr (parts == 1) {
    for (int i = int(threadIdx.x); i < Groups; i += Threads)
      if (i64 const g = group_of(i); g >= 0)
        write(g, fold_in_order(combine, cut.chunks, [&](int c) { return partials[i64(c) * at.groups + g]; }));
  } else {
    __shared__ alignas(16) unsigned char room[parts * Groups * sizeof(States)];
    States* const of_part = reinterpret_cast<States*>(room);
    int const i = int(threadIdx.x) % Groups, part = int(threadIdx.x) / Groups;
    i64 const g = part < parts ? group_of(i) : -1;
    int const first = part * each, left = cut.chunks - first;
    if (g >= 0 && left > 0)
      of_part[part * Groups + i] = fold_in_order(combine, left < each ? left : each, [&](int c) { return partials[i64(first + c) * at.groups + g]; });
    __syncthreads();
    if (g >= 0 && part == 0)
      write(g, fold_in_order(combine, (cut.chunks - 1) / each + 1, [&](int k) { return of_part[k * Groups + i]; }));
  }
}

} // namespace tally::inline v0::kernel
