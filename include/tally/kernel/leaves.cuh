// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the leaves of a warp come from: straight from memory, or through the ring of kernel/ring.cuh, which a translation unit
// includes only if its plan has stages. Layer 4.
#pragma once

#include <tally/plan/plan.hpp>

namespace tally::v0::kernel {

/// Leaves straight from memory.
template <plan P, class Program>
struct direct_leaves {
  Program const& p;
  i64 leaf; ///< the first of this warp
  i64 step; ///< from one to the next
  __device__ __forceinline__ direct_leaves(Program const& program, i64 at, i64, i64 apart = 1, i64 = 0)
      : p(program), leaf(at), step(apart) {}
  /// The columns to read leaf k from, and the element where it begins there.
  __device__ __forceinline__ auto const& columns(int) const { return p.columns; }
  __device__ __forceinline__ i64 start(int k) const { return (leaf + k * step) * P.elements_per_leaf(); }
  __device__ __forceinline__ void wait(int) {}
  __device__ __forceinline__ void release(int) {}
};

/// Leaves through a ring in shared memory: kernel/ring.cuh.
template <plan P, class Program>
struct ring_leaves;

/// The leaves of a warp as the plan loads them.
template <plan P, class Program>
using leaves_of_warp = cuda::std::conditional_t<(P.stages > 0), ring_leaves<P, Program>, direct_leaves<P, Program>>;

} // namespace tally::v0::kernel
