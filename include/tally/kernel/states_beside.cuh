// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// States of neighbouring groups, side by side in one thread. Layer 4.
#pragma once

namespace tally::v0::kernel {

/// The states of V neighbouring groups.
template <class State, int V>
struct states_beside {
  State of[V];
};
template <class M, int V>
struct combine_beside {
  M const& m;
  using states = states_beside<typename M::state, V>;
  __device__ __forceinline__ states operator()(states const& a, states const& b) const {
    states s;
#pragma unroll
    for (int v = 0; v < V; ++v)
      s.of[v] = m.combine(a.of[v], b.of[v]);
    return s;
  }
  __device__ __forceinline__ states operator()(states const& a, states const& b, int) const { return (*this)(a, b); }
};

} // namespace tally::v0::kernel
