// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bulk reductions: an array in the shared memory of this block is folded element by element into an array in global memory
// or in another block's shared memory, by the bulk engine, while threads do something else. One thread asks. Layer 2.
//
// Each element is atomic by itself, relaxed, at the scope of the GPU. f32 sums flush subnormal operands and results to
// zero; f16 and bf16 sums keep them and round to f16 and bf16 at every addition.
#pragma once

#include <tally/primitive/barrier.cuh>
#include <tally/primitive/bulk_group.cuh>
#include <tally/primitive/cache_policy.cuh>
#include <tally/primitive/instruction.cuh>
#include <tally/primitive/libcudacxx.cuh>
#include <tally/primitive/place.cuh>
#include <tally/primitive/reducible.hpp>

namespace tally::v0::primitive {

namespace verbs {
template <operation Op, class T, space To, class Hint>
inline constexpr form bulk_reduce_form = bulk_reduction<Op, T>(To, hinted<Hint>);
}

/// to[i] = Op(to[i], from[i]) in global memory; belongs to the open bulk group of this thread.
template <operation Op, class T, class Hint = no_policy>
__device__ __forceinline__ void reduce(in_global<T> to, typename verbs::itself<in_shared<T const>>::type from,
                                       bulk_bytes n, [[maybe_unused]] Hint hint = {}) {
  constexpr form f = verbs::bulk_reduce_form<Op, T, space::global, Hint>;
  if constexpr (!available<f>) {
    refuse<f>();
  } else {
    demand_bulk(to.at, from.at);
    if constexpr (verbs::hinted<Hint>)
      asm volatile("%4 [%0], [%1], %2, %3;" ::"l"(to.address()), "r"(from.address()), "r"(n.count()), "l"(hint.word()),
                   "C"(verbs::instruction<f>::text)
                   : "memory");
    else if constexpr (small_float<T>) // libcu++ wants the types of cuda_fp16.h for these
      asm volatile("%3 [%0], [%1], %2;" ::"l"(to.address()), "r"(from.address()), "r"(n.count()),
                   "C"(verbs::instruction<f>::text)
                   : "memory");
    else
      cuda::ptx::cp_reduce_async_bulk(cuda::ptx::space_global, cuda::ptx::space_shared, verbs::libcudacxx_operation<Op>(),
                                      verbs::libcudacxx_pointer<Op>(to.at), verbs::libcudacxx_pointer<Op>(from.at),
                                      n.count());
  }
}

/// The same into the shared memory of another block of the cluster, announced to a barrier there; integers only.
template <operation Op, class T>
__device__ __forceinline__ void reduce(in_cluster<T> to, typename verbs::itself<in_shared<T const>>::type from,
                                       bulk_bytes n, in_cluster<barrier> announced) {
  constexpr form f = verbs::bulk_reduce_form<Op, T, space::shared_cluster, no_policy>;
  if constexpr (!available<f>) {
    refuse<f>();
  } else {
    demand_bulk(to.at, from.at);
    demand_remote(to);
    demand(to.rank == announced.rank, "[tally-D5] a reduction and its barrier must be in one block");
    cuda::ptx::cp_reduce_async_bulk(cuda::ptx::space_cluster, cuda::ptx::space_shared, verbs::libcudacxx_operation<Op>(),
                                    verbs::libcudacxx_pointer<Op>(to.at), verbs::libcudacxx_pointer<Op>(from.at),
                                    n.count(), reinterpret_cast<u64*>(announced.at));
  }
}

namespace verbs {
template <class To, class From>
inline constexpr bool reduces_between = (space_of<To> == space::global || space_of<To> == space::shared_cluster) &&
                                        space_of<From> == space::shared_cta;
template <operation Op, class T, class To, class From>
inline constexpr form reduction_between = moved(bulk_reduction<Op, T>(space_of<To>), space_of<To>, space_of<From>);
} // namespace verbs

/// Between any other two places: refused.
template <operation Op, template <class> class To, class T, template <class> class From, class U, class... Rest>
  requires(!verbs::reduces_between<To<T>, From<U>>)
__device__ void reduce(To<T>, From<U>, bulk_bytes, Rest&&...) {
  constexpr form f = verbs::reduction_between<Op, T, To<T>, From<U>>;
  refuse<f>();
}

} // namespace tally::v0::primitive
