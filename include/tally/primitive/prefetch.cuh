// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prefetch: global memory on its way to L2, in bulk or one line, a hint that nothing waits for. Layer 2.
#pragma once

#include <tally/primitive/bulk_bytes.cuh>
#include <tally/primitive/cache_policy.cuh>
#include <tally/primitive/copyable.hpp>
#include <tally/primitive/instruction.cuh>
#include <tally/primitive/place.cuh>

namespace tally::v0::primitive {

namespace verbs {
template <class Hint>
inline constexpr form prefetch_form = bulk_prefetch(hinted<Hint>);
}

/// Asks for n bytes of global memory to be brought to L2; the address is aligned to 16 bytes.
template <class T, class Hint = no_policy>
__device__ __forceinline__ void prefetch(in_global<T> from, bulk_bytes n, [[maybe_unused]] Hint hint = {}) {
  constexpr form f = verbs::prefetch_form<Hint>;
  if constexpr (!available<f>) {
    refuse<f>();
  } else {
    demand_bulk(from.at, from.at);
    if constexpr (verbs::hinted<Hint>)
      asm volatile("%3 [%0], %1, %2;" ::"l"(from.address()), "r"(n.count()), "l"(hint.word()),
                   "C"(verbs::instruction<f>::text));
    else
      asm volatile("%2 [%0], %1;" ::"l"(from.address()), "r"(n.count()), "C"(verbs::instruction<f>::text));
  }
}

/// Asks for the line of L2 that an address lies in; any alignment, every chip.
template <class T>
__device__ __forceinline__ void prefetch_line(in_global<T> from) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(from.address()));
}

} // namespace tally::v0::primitive
