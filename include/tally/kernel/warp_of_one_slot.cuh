// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A warp whose elements all have one slot folds them by itself and adds once, where lanes that add to one word would go one after the
// other. Layer 4.
#pragma once

#include <tally/kernel/digit_cells.cuh>
#include <tally/kernel/warp_tree.cuh>

namespace tally::inline v0::kernel {

/// Whether a warp folds elements of M by itself, and lanes that add to one of its cells in shared memory wait for each other: where it compares and swaps,
/// or another block has it. Exact sums are folded digit by digit, and only floats have few of them.
template <class M, bool InCluster>
inline constexpr bool adds_once_a_warp = [] {
  if constexpr (constexpr cell_kind kind = cell_of<M>::kind; kind == cell_kind::digits)
    return M::factors == 1 && cuda::std::same_as<typename M::number, float>;
  else
    return InCluster || kind == cell_kind::wrapped || kind == cell_kind::bits || kind == cell_kind::added || kind == cell_kind::checked || kind == cell_kind::placed;
}();

/// Whether all elements of a whole warp, V a lane, have one slot. Lanes look at their own first: most warps are done with that.
template <int V>
__device__ __forceinline__ bool warp_has_one(unsigned const (&slots)[V]) {
  bool one = true;
#pragma unroll
  for (int v = 1; v < V; ++v)
    one &= slots[v] == slots[0];
  return __all_sync(0xffffffffu, one) && __all_sync(0xffffffffu, slots[0] == __shfl_sync(0xffffffffu, slots[0], 0));
}

/// What the states of a whole warp combine to, in lane 0.
template <class M>
__device__ __forceinline__ auto root_of_warp(M const& m, typename M::state const& s) {
  return finish_trees<1>([&](auto const& a, auto const& b) { return m.combine(a, b); }, s);
}

/// The floats of V rows of a lane, of an exact sum.
template <int V, class Leaf, class RowAt>
__device__ __forceinline__ auto numbers_of(Leaf const& l, RowAt const& row_at) {
  floats_of_lane<V> x;
#pragma unroll
  for (int v = 0; v < V; ++v) {
    auto const r = row_at(v);
    x.of[v] = l.mask.eval(r) ? static_cast<float>(l.values.first.eval(r)) : 0.f;
  }
  return x;
}
/// Folds V rows of every lane of a whole warp; lane 0 has the state.
template <int V, class Leaf, class RowAt>
__device__ __forceinline__ auto fold_warp(Leaf const& l, RowAt const& row_at) {
  auto const& m = l.monoid;
  auto s = m.identity();
#pragma unroll
  for (int v = 0; v < V; ++v) {
    auto const r = row_at(v);
    if (l.mask.eval(r))
      unpack([&](auto const&... value) { s = m.combine(s, m.lift(r.position, value.eval(r)...)); }, l.values);
  }
  return root_of_warp(m, s);
}

} // namespace tally::inline v0::kernel
