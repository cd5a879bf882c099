// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How blocks that share groups meet: each leaves the states of its chunk of leaves in memory and goes; the last block of every 32
// neighbours waits for the others, folds their chunks in order with all its threads, and so on level by level. Layer 4. Nobody waits
// for a block of higher index, and blocks start in the order of their index, so whoever is waited for already runs. Counters are
// zero again when their bunch is folded.
#pragma once

#include <tally/fold/groups.hpp>
#include <tally/fold/tree.hpp>
#include <tally/kernel/warp_tree.cuh>
#include <tally/plan/axes_plan.hpp>

namespace tally::v0::kernel {

/// Where the states of chunks are, level behind level (partials_of_levels), and how many have arrived in every bunch of every set
/// (bunches_of_levels zeros a set).
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

/// Whether a program has no order, and states so wide that a tree of them would fill the memory of a thread with copies: they are folded one after the other.
template <class Program>
inline constexpr bool is_wide_and_free = false;
template <class Columns, class... Leaves>
inline constexpr bool is_wide_and_free<program<Columns, Leaves...>> =
    (true && ... && Leaves::monoid_type::law.order_free) && words<typename program<Columns, Leaves...>::states>::count > 2 * words_in_registers;

/// n >= 1 states of a program that come from next(i), one after the other.
template <class Program, class Combine, class Next>
  requires is_wide_and_free<Program>
__device__ __forceinline__ auto fold_in_order(Combine const& combine, int n, Next const& next) {
  auto s = next(0);
#pragma unroll 1
  for (int i = 1; i < n; ++i)
    s = combine(s, next(i));
  return s;
}
/// The same as a tree of neighbours, eight at a time on their way.
template <class Program, class Combine, class Next>
__device__ __forceinline__ auto fold_in_order(Combine const& combine, int n, Next const& next) {
  using State = decltype(next(0));
  constexpr int ahead = 8;
  neighbour_stack<State, 32> tree;
#pragma unroll 1
  for (int i = 0;; i += ahead) {
    int const present = n - i < ahead ? n - i : ahead;
    State some[ahead];
#pragma unroll
    for (int k = 0; k < ahead; ++k)
      some[k] = next(i + (k < present ? k : present - 1)); // without a branch, so that all are in flight
    State const eight = combine_in_registers(combine, some, present);
    if (n <= ahead)
      return eight;
    tree.push(combine, eight);
    if (i + ahead >= n)
      return tree.root(combine);
  }
}

/// Tells the block that waits that what this warp has stored is there.
__device__ __forceinline__ void arrive(u32* counter) {
  __syncwarp();
  if (threadIdx.x % 32 == 0)
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(counter) : "memory");
}
/// Waits, with a whole block, for that many arrivals, and leaves a zero.
__device__ __forceinline__ void await_arrivals(u32* counter, u32 wanted) {
  if (threadIdx.x == 0) {
    u32 there;
    do
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(there) : "l"(counter) : "memory");
    while (there != wanted);
    *counter = 0;
  }
  __syncthreads();
}

/// Folds `present` neighbouring partials of Groups groups with all Threads of a block: group_of(i) is the number of the i-th,
/// negative where there is none; write(group, states) receives each, in some thread.
template <int Threads, int Groups, class Program, class GroupOf, class Write>
__device__ __forceinline__ void fold_bunch(Program const& p, i64 groups, typename Program::states const* from, int present,
                                          GroupOf const& group_of, Write const& write) {
  using States = typename Program::states;
  constexpr int parts = threads_on_chunks<States>(Threads, Groups);
  auto const combine = [&](States const& a, States const& b) { return p.combine(a, b); };
  auto const partial = [&](i64 g, int c) { return from[i64(c) * groups + g]; };
  if constexpr (parts == 1) {
    for (int i = int(threadIdx.x); i < Groups; i += Threads)
      if (i64 const g = group_of(i); g >= 0)
        write(g, fold_in_order<Program>(combine, present, [&](int c) { return partial(g, c); }));
  } else {
    int each = 1; // partials of a part, a subtree
    while (each * parts < present)
      each *= 2;
    alignas(16) __shared__ unsigned char room[parts * Groups * sizeof(States)];
    States* const of_part = reinterpret_cast<States*>(room);
    int const i = int(threadIdx.x) % Groups, part = int(threadIdx.x) / Groups;
    i64 const g = part < parts ? group_of(i) : -1;
    int const first = part * each, left = present - first;
    if (g >= 0 && left > 0)
      of_part[part * Groups + i] = fold_in_order<Program>(combine, left < each ? left : each, [&](int c) { return partial(g, first + c); });
    __syncthreads();
    if (g >= 0 && part == 0)
      write(g, fold_in_order<Program>(combine, (present - 1) / each + 1, [&](int k) { return of_part[k * Groups + i]; }));
  }
}

/// The chunks of a set of Groups groups meet; the threads that hold this block's states have stored them as partial `chunk`, from
/// `Warps` warps. write(group, states) is called in the very last block, in some thread.
template <int Threads, int Groups, int Warps, class Program, class GroupOf, class Write>
__device__ __forceinline__ void meet_in_chunks(Program const& p, axes_layout const& at, axes_cut const& cut,
                                              chunk_meeting<typename Program::states> const& meeting, i64 set, int chunk, bool holds_any,
                                              GroupOf const& group_of, Write const& write) {
  using States = typename Program::states;
  States* level = meeting.partials;
  u32* counters = meeting.arrivals + set * bunches_of_levels(cut.chunks);
  int count = cut.chunks, index = chunk;
  u32 warps = Warps; // that arrive from one block
#pragma unroll 1
  for (;;) {
    int const bunch = index / chunks_of_bunch, first = bunch * chunks_of_bunch;
    bool const last = index == count - 1 || index % chunks_of_bunch == chunks_of_bunch - 1;
    if (!last) {
      if (holds_any)
        arrive(counters + bunch);
      return;
    }
    __syncthreads(); // this block's own are stored
    if (index > first)
      await_arrivals(counters + bunch, u32(index - first) * warps);
    bool const top = count <= chunks_of_bunch;
    States* const above = level + i64(count) * at.groups;
    fold_bunch<Threads, Groups>(p, at.groups, level + i64(first) * at.groups, index - first + 1, group_of, [&](i64 g, States const& s) {
      if (top)
        write(g, s);
      else
        above[i64(bunch) * at.groups + g] = s;
    });
    if (top)
      return;
    __threadfence();
    __syncthreads(); // all of this bunch are stored: one warp speaks for the block
    holds_any = threadIdx.x < 32;
    warps = 1;
    counters += bunches_of(count);
    level = above;
    count = bunches_of(count);
    index = bunch;
  }
}

} // namespace tally::v0::kernel
