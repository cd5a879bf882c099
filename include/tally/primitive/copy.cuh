// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bulk copies: bytes move between global memory and shared memory, or between the blocks of a cluster, while threads do
// something else. One thread asks. What came to shared memory is announced to a barrier; what goes to global memory is
// counted in groups (bulk_group.cuh). Layer 2.
#pragma once

#include <tally/primitive/barrier.cuh>
#include <tally/primitive/bulk_group.cuh>
#include <tally/primitive/cache_policy.cuh>
#include <tally/primitive/copyable.hpp>
#include <tally/primitive/instruction.cuh>
#include <tally/primitive/place.cuh>
#include <tally/primitive/word.hpp>

namespace tally::v0::primitive {

namespace verbs {
template <space From, space To, class Hint>
inline constexpr form copy_form = bulk_copy(From, To, hinted<Hint>);
template <class Hint>
inline constexpr form multicast_form = bulk_multicast(hinted<Hint>);
template <class Hint>
inline constexpr form masked_form = masked_bulk_copy(hinted<Hint>);
template <class T>
using same = typename itself<T>::type;
} // namespace verbs

/// Global memory into the shared memory of this block.
template <class T, class Hint = no_policy>
__device__ __forceinline__ void copy(in_shared<T> to, verbs::same<in_global<T const>> from, bulk_bytes n, expected& told,
                                     [[maybe_unused]] Hint hint = {}) {
  constexpr form f = verbs::copy_form<space::global, space::shared_cta, Hint>;
  if constexpr (!available<f>) {
    refuse<f>();
  } else {
    demand_bulk(to.at, from.at);
    u64* const b = told.take(n);
    if constexpr (verbs::hinted<Hint>)
      asm volatile("%5 [%0], [%1], %2, [%3], %4;" ::"r"(to.address()), "l"(from.address()), "r"(n.count()),
                   "r"(in_shared(b).address()), "l"(hint.word()), "C"(verbs::instruction<f>::text)
                   : "memory");
    else
      cuda::ptx::cp_async_bulk(cuda::ptx::space_shared, cuda::ptx::space_global, to.at, from.at, n.count(), b);
  }
}

/// Global memory into the same place of every block of the cluster whose bit is in `blocks`; each of them has told its own
/// barrier at the place of `announced` what to expect.
template <class T, class Hint = no_policy>
__device__ __forceinline__ void copy_to_blocks(u16 blocks, in_shared<T> to, verbs::same<in_global<T const>> from,
                                               bulk_bytes n, barrier& announced, [[maybe_unused]] Hint hint = {}) {
  constexpr form f = verbs::multicast_form<Hint>;
  if constexpr (!available<f>) {
    refuse<f>();
  } else {
    demand_bulk(to.at, from.at);
    demand(blocks >> cluster_blocks() == 0, "[tally-D5] the cluster has no block of this rank");
    u32 const b = in_shared(announced.word()).address();
    if constexpr (verbs::hinted<Hint>)
      asm volatile("%6 [%0], [%1], %2, [%3], %4, %5;" ::"r"(to.address()), "l"(from.address()), "r"(n.count()), "r"(b),
                   "h"(blocks), "l"(hint.word()), "C"(verbs::instruction<f>::text)
                   : "memory");
    else
      asm volatile("%5 [%0], [%1], %2, [%3], %4;" ::"r"(to.address()), "l"(from.address()), "r"(n.count()), "r"(b),
                   "h"(blocks), "C"(verbs::instruction<f>::text)
                   : "memory");
  }
}

/// Global memory into the shared memory of one block of the cluster, this one or another, announced to a barrier there.
template <class T, class Hint = no_policy>
__device__ __forceinline__ void copy(in_cluster<T> to, verbs::same<in_global<T const>> from, bulk_bytes n,
                                     in_cluster<barrier> announced, [[maybe_unused]] Hint hint = {}) {
  constexpr form f = verbs::copy_form<space::global, space::shared_cluster, Hint>;
  if constexpr (!available<f>) {
    refuse<f>();
  } else {
    demand_bulk(to.at, from.at);
    demand(to.rank == announced.rank, "[tally-D5] a copy and its barrier must be in one block");
    if constexpr (verbs::hinted<Hint>)
      asm volatile("%5 [%0], [%1], %2, [%3], %4;" ::"r"(to.address()), "l"(from.address()), "r"(n.count()),
                   "r"(announced.address()), "l"(hint.word()), "C"(verbs::instruction<f>::text)
                   : "memory");
    else
      asm volatile("%4 [%0], [%1], %2, [%3];" ::"r"(to.address()), "l"(from.address()), "r"(n.count()),
                   "r"(announced.address()), "C"(verbs::instruction<f>::text)
                   : "memory");
  }
}

/// The shared memory of this block into that of another, announced to a barrier there.
template <class T>
__device__ __forceinline__ void copy(in_cluster<T> to, verbs::same<in_shared<T const>> from, bulk_bytes n,
                                     in_cluster<barrier> announced) {
  constexpr form f = verbs::copy_form<space::shared_cta, space::shared_cluster, no_policy>;
  if constexpr (!available<f>) {
    refuse<f>();
  } else {
    demand_bulk(to.at, from.at);
    demand_remote(to);
    demand(to.rank == announced.rank, "[tally-D5] a copy and its barrier must be in one block");
    cuda::ptx::cp_async_bulk(cuda::ptx::space_cluster, cuda::ptx::space_shared, to.at, from.at, n.count(),
                             reinterpret_cast<u64*>(announced.at));
  }
}

/// The shared memory of this block into global memory; belongs to the open bulk group of this thread.
template <class T, class Hint = no_policy>
__device__ __forceinline__ void copy(in_global<T> to, verbs::same<in_shared<T const>> from, bulk_bytes n,
                                     [[maybe_unused]] Hint hint = {}) {
  constexpr form f = verbs::copy_form<space::shared_cta, space::global, Hint>;
  if constexpr (!available<f>) {
    refuse<f>();
  } else {
    demand_bulk(to.at, from.at);
    if constexpr (verbs::hinted<Hint>)
      asm volatile("%4 [%0], [%1], %2, %3;" ::"l"(to.address()), "r"(from.address()), "r"(n.count()), "l"(hint.word()),
                   "C"(verbs::instruction<f>::text)
                   : "memory");
    else
      cuda::ptx::cp_async_bulk(cuda::ptx::space_global, cuda::ptx::space_shared, to.at, from.at, n.count());
  }
}

/// The same, of every 16 bytes only those whose bit is in `bytes`; sm_100 and later.
template <class T, class Hint = no_policy>
__device__ __forceinline__ void copy_masked(in_global<T> to, verbs::same<in_shared<T const>> from, bulk_bytes n, u16 bytes,
                                            [[maybe_unused]] Hint hint = {}) {
  constexpr form f = verbs::masked_form<Hint>;
  if constexpr (!available<f>) {
    refuse<f>();
  } else {
    demand_bulk(to.at, from.at);
    if constexpr (verbs::hinted<Hint>)
      asm volatile("%5 [%0], [%1], %2, %3, %4;" ::"l"(to.address()), "r"(from.address()), "r"(n.count()),
                   "l"(hint.word()), "h"(bytes), "C"(verbs::instruction<f>::text)
                   : "memory");
    else
      asm volatile("%4 [%0], [%1], %2, %3;" ::"l"(to.address()), "r"(from.address()), "r"(n.count()), "h"(bytes),
                   "C"(verbs::instruction<f>::text)
                   : "memory");
  }
}

namespace verbs {
template <class To, class From>
inline constexpr form copy_between = bulk_copy(space_of<From>, space_of<To>);
}

/// Between any other two places: refused.
template <template <class> class To, class T, template <class> class From, class U, class... Rest>
  requires(since(verbs::copy_between<To<T>, From<U>>) == 0)
__device__ void copy(To<T>, From<U>, bulk_bytes, Rest&&...) {
  constexpr form f = verbs::copy_between<To<T>, From<U>>;
  refuse<f>();
}

} // namespace tally::v0::primitive
