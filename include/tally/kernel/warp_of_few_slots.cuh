// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A warp whose elements have one slot, or few, folds them by itself and adds once to each, where lanes that add to one word would go one after the
// other. Layer 4.
#pragma once

#include <tally/kernel/digit_cells.cuh>
#include <tally/kernel/warp_tree.cuh>

namespace tally::v0::kernel {

/// Whether a warp folds elements of M by itself, and lanes that add to one of its cells wait for each other: in shared memory where it compares and swaps, or another
/// block has it; and, of the least and greatest, where what a block has not kept goes to global memory, for there nobody looks first whether it is better.
template <class M, bool InCluster, bool Hot>
inline constexpr bool adds_once_a_warp = [] {
  if constexpr (constexpr cell_kind kind = cell_of<M>::kind; kind == cell_kind::digits)
    return adds_up_in_words<M>;
  else
    return InCluster || kind == cell_kind::wrapped || kind == cell_kind::bits || kind == cell_kind::added || kind == cell_kind::checked || kind == cell_kind::placed ||
           (Hot && kind == cell_kind::ordered);
}();

/// The slot of who has none: the greatest of unsigned numbers, the least of signed ones.
inline constexpr unsigned nobodys_slot = ~0u;

/// The least of V slots, nobody's if all are.
template <int V>
__device__ __forceinline__ unsigned least_slot(unsigned const (&slots)[V]) {
  unsigned least = slots[0];
#pragma unroll
  for (int v = 1; v < V; ++v)
    least = slots[v] < least ? slots[v] : least;
  return least;
}
/// Whether V slots, of which least is the least, are more than one, nobody's aside.
template <int V>
__device__ __forceinline__ bool has_others(unsigned const (&slots)[V], unsigned least) {
  int most = int(slots[0]);
#pragma unroll
  for (int v = 1; v < V; ++v)
    most = int(slots[v]) > most ? int(slots[v]) : most;
  return least != unsigned(most);
}
/// Whether the elements of a whole warp, V a lane, have one slot, nobody's aside. Lanes look at their own first: most warps are done with that.
template <int V>
__device__ __forceinline__ bool warp_has_one(unsigned const (&slots)[V], unsigned& one) {
  unsigned const least = least_slot(slots);
  if (__any_sync(whole_warp, has_others(slots, least)))
    return false;
  one = __reduce_min_sync(whole_warp, least);
  return __all_sync(whole_warp, least == one || least == nobodys_slot);
}
/// Of so few lanes that have others than the lane in front began with, or several, it pays to fold slot by slot.
inline constexpr int most_changes = 6;
/// Whether the elements of a whole warp, V a lane, have few slots, in runs.
template <int V>
__device__ __forceinline__ bool warp_has_few(unsigned const (&slots)[V]) {
  unsigned const least = least_slot(slots);
  bool const changes = has_others(slots, least);
  if (__popc(__ballot_sync(whole_warp, changes)) > most_changes)
    return false;
  unsigned const next = __shfl_down_sync(whole_warp, least, 1);
  return __popc(__ballot_sync(whole_warp, changes || next != least)) <= most_changes;
}
/// Calls add(slot, takes) for each slot of a whole warp but nobody's; takes(v): whether element v of the lane has it.
template <int V, class Add>
__device__ __forceinline__ void for_each_slot_of_warp(unsigned const (&slots)[V], Add const& add) {
  unsigned left[V];
#pragma unroll
  for (int v = 0; v < V; ++v)
    left[v] = slots[v];
#pragma unroll 1
  for (unsigned one; (one = __reduce_min_sync(whole_warp, least_slot(left))) != nobodys_slot;) {
    add(one, [&](int v) { return left[v] == one; });
#pragma unroll
    for (int v = 0; v < V; ++v)
      left[v] = left[v] == one ? nobodys_slot : left[v];
  }
}

/// What the states of a whole warp combine to, in lane 0.
template <class M>
__device__ __forceinline__ auto root_of_warp(M const& m, typename M::state const& s) {
  return finish_trees<1>([&](auto const& a, auto const& b) { return m.combine(a, b); }, s);
}

/// The numbers of those of V rows of a lane that takes(v), of an exact sum; zero stands for the others.
template <int V, class Leaf, class RowAt, class Takes>
__device__ __forceinline__ auto numbers_of(Leaf const& l, RowAt const& row_at, Takes const& takes) {
  using M = cuda::std::remove_cvref_t<decltype(l.monoid)>;
  numbers_of_lane<M, V> x;
#pragma unroll
  for (int v = 0; v < V; ++v) {
    auto const r = row_at(v);
    bool const has = takes(v) && l.mask.eval(r);
    unpack([&](auto const&... value) {
      int k = 0;
      ((x.of[v][k++] = has ? static_cast<typename M::number>(value.eval(r)) : typename M::number(0)), ...);
    }, l.values);
  }
  return x;
}
/// Folds those of V rows of every lane of a whole warp that takes(v); lane 0 has the state.
template <int V, class Leaf, class RowAt, class Takes>
__device__ __forceinline__ auto fold_warp(Leaf const& l, RowAt const& row_at, Takes const& takes) {
  auto const& m = l.monoid;
  auto s = m.identity();
#pragma unroll
  for (int v = 0; v < V; ++v) {
    auto const r = row_at(v);
    if (takes(v) && l.mask.eval(r))
      unpack([&](auto const&... value) { s = m.combine(s, m.lift(r.position, value.eval(r)...)); }, l.values);
  }
  return root_of_warp(m, s);
}

} // namespace tally::v0::kernel
