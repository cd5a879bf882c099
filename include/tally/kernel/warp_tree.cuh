// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Balanced trees of neighbours over the 32 lanes of a warp. Layer 4. One tree costs five combinations in every lane, and
// most lanes combine in vain; N trees side by side share the lanes: at each step a lane gives one tree away and keeps the
// other, so N trees cost about N + 4 instead of 5 N, in the same order, to the same bits.
#pragma once

#include <tally/kernel/words.cuh>

namespace tally::v0::kernel {

/// States of more words than this are combined in loops, not in unrolled steps: instructions that are fetched for the first
/// time cost more than the loop does.
inline constexpr int words_unrolled = 2;

/// Two neighbours of the step h, told h where the combination asks how much they stand for.
template <class Combine, class State>
__device__ __forceinline__ State combine_at(Combine const& combine, State const& a, State const& b, int h) {
  if constexpr (requires { combine(a, b, h); })
    return combine(a, b, h);
  else
    return combine(a, b);
}

/// The state of the lane that differs in bit h.
template <class State>
__device__ __forceinline__ State shuffled_across(State const& s, int h) {
  auto w = words<State>::of(s);
#pragma unroll
  for (int i = 0; i < words<State>::count; ++i)
    w.w[i] = __shfl_xor_sync(0xffffffffu, w.w[i], h);
  return w.state();
}

/// One step of two trees: lanes without bit h go on with a, lanes with it with b, each having combined both lanes' parts.
template <class Combine, class State>
__device__ __forceinline__ State merge_trees(Combine const& combine, State const& a, State const& b, int h, int lane) {
  bool const upper = (lane & h) != 0;
  State const other = shuffled_across(chosen(upper, a, b), h);
  State const own = chosen(upper, b, a);
  return combine_at(combine, chosen(upper, other, own), chosen(upper, own, other), h);
}

/// The steps of a tree from bit First on, neighbours first; lanes below First have their roots.
template <int First, class Combine, class State>
__device__ __forceinline__ State finish_trees(Combine const& combine, State s) {
#pragma unroll(words<State>::count > words_unrolled ? 1 : 8)
  for (int h = First; h < 32; h *= 2)
    s = combine_at(combine, s, shuffled_down(s, h), h);
  return s;
}

/// Combines the states of lanes 0 to count - 1 (count <= Most) as a tree of neighbours; lane 0 has the root.
template <int Most, class Combine, class State>
__device__ __forceinline__ State combine_lanes(Combine const& combine, State s, int count, int lane) {
#pragma unroll(words<State>::count > words_unrolled ? 1 : 8)
  for (int h = 1; h < Most; h *= 2) {
    State const other = shuffled_down(s, h);
    if (lane + h < count)
      s = combine_at(combine, s, other, h);
  }
  return s;
}

/// Where merge_trees leaves N trees, lane t has a part of tree t % N: this puts the parts of tree 0 into the first 32 / N lanes, those
/// of tree 1 behind them and so on, each tree's in their order.
template <int N, class State>
__device__ __forceinline__ State trees_in_order(State const& s, int lane) {
  return shuffled_from(s, lane / (32 / N) + lane % (32 / N) * N);
}

/// Values of a warp, N neighbours a thread, move by `turn` < N to the front, the first ones to the end.
template <class T, int N>
__device__ __forceinline__ void turn_values(T (&s)[N], int turn) {
#pragma unroll
  for (int h = N / 2; h > 0; h /= 2)
    if ((turn & h) != 0) {
      T next[N / 2];
#pragma unroll
      for (int k = 0; k < h; ++k)
        next[k] = shuffled_from(s[k], int(threadIdx.x + 1) % 32);
#pragma unroll
      for (int k = 0; k < N; ++k)
        s[k] = k + h < N ? s[k + h] : next[k + h - N];
    }
}

/// The tree of neighbours over the first `count` of N states of one thread, which stay in registers.
template <class Combine, class State, int N>
__device__ __forceinline__ State combine_in_registers(Combine const& combine, State (&s)[N], int count = N) {
#pragma unroll
  for (int h = 1; h < N; h *= 2)
#pragma unroll
    for (int k = 0; k < N; k += 2 * h)
      if (k + h < count)
        s[k] = combine(s[k], s[k + h]);
  return s[0];
}
/// The same over N states of every thread of a warp, of which a thread's begin `turn` < N behind its first and end in the next thread.
template <class Combine, class State, int N>
__device__ __forceinline__ State combine_turned(Combine const& combine, State (&s)[N], int turn) {
#pragma unroll
  for (int h = 1; h < N; h *= 2) {
    State const next = shuffled_from(s[0], int(threadIdx.x + 1) % 32);
#pragma unroll
    for (int k = 0; k < N; k += h)
      s[k] = (turn & h) == 0 ? s[k] : k + h < N ? s[k + h] : next;
#pragma unroll
    for (int k = 0; k < N; k += 2 * h)
      s[k] = combine(s[k], s[k + h]);
  }
  return s[0];
}

/// The first steps of N trees over the warp, of which lane t goes on with tree t % N, in s[0].
template <int N, class Combine, class State>
__device__ __forceinline__ void merge_trees(Combine const& combine, State (&s)[N], int lane) {
#pragma unroll
  for (int h = 1; h < N; h *= 2)
#pragma unroll
    for (int k = 0; k < N; k += 2 * h)
      s[k] = merge_trees(combine, s[k], s[k + h], h, lane);
}
/// Of N trees over the warp that are one behind the other: lane t has the part that comes t-th.
template <int N, class Combine, class State>
__device__ __forceinline__ State parts_in_order(Combine const& combine, State (&s)[N], int lane) {
  merge_trees(combine, s, lane);
  return trees_in_order<N>(s[0], lane);
}
/// N trees over the warp, then a tree over their N roots; lane 0 has the root.
template <int N, class Combine, class State>
__device__ __forceinline__ State combine_warp(Combine const& combine, State (&s)[N], int lane) {
  merge_trees(combine, s, lane);
  State const root = finish_trees<N>(combine, s[0]);
  return combine_lanes<N>(combine, root, N, lane);
}

/// A tree of neighbours that is fed one node after the other, at most 2^Levels of them: one state per level is kept, in
/// registers because the levels are unrolled. At the first `Branches` levels a node that finds no neighbour leaves by a branch; at the others
/// all states are chosen, in fewer registers.
template <class State, int Levels, int Branches = 0>
struct level_stack {
  static constexpr int branches = Branches < Levels ? Branches : Levels;
  State kept[Levels > 0 ? Levels : 1];

  /// Node k; combine(left, right, level).
  template <class Combine>
  __device__ __forceinline__ State push(Combine const& combine, int k, State s) {
    return push_from<0>(combine, k, s);
  }
  /// The root of a tree of `all` nodes, a power of two, of which `fed` have come, fewer, and the others are `nothing`.
  template <class Combine>
  __device__ __forceinline__ State root_with(Combine const& combine, int fed, int all, State const& nothing) const {
    State root = nothing;
#pragma unroll
    for (int level = 0; level < Levels; ++level)
      if (1 << level < all)
        root = ((fed >> level) & 1) != 0 ? combine(kept[level], root, level) : combine(root, nothing, level);
    return root;
  }

private:
  template <int First, class Combine>
  __device__ __forceinline__ State push_from(Combine const& combine, int k, State s) {
    if constexpr (First < branches) {
      if (((k >> First) & 1) == 0) {
        kept[First] = s;
        return s;
      }
      return push_from<First + 1>(combine, k, combine(kept[First], s, First));
    } else {
      bool open = true; // whether s still looks for its left neighbour
#pragma unroll
      for (int level = First; level < Levels; ++level) {
        if (open && ((k >> level) & 1) != 0)
          s = combine(kept[level], s, level);
        else if (open)
          kept[level] = s, open = false;
      }
      return s;
    }
  }
};

/// The logarithm of a power of two.
constexpr int levels_of(int power_of_two) { return power_of_two > 1 ? 1 + levels_of(power_of_two / 2) : 0; }

} // namespace tally::v0::kernel
