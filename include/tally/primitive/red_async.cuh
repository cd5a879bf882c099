// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `red.async`: one word of another block's shared memory is reduced and the barrier there hears of its bytes; on sm_100
// also one word of global memory, released and announced to nobody. The thread does not wait. Layer 2.
#pragma once

#include <tally/primitive/barrier.cuh>
#include <tally/primitive/instruction.cuh>
#include <tally/primitive/libcudacxx.cuh>
#include <tally/primitive/place.cuh>
#include <tally/primitive/reducible.hpp>

namespace tally::v0::primitive {

namespace verbs {
template <operation Op, class T>
inline constexpr form red_async_form = remote_reduction<Op, T>();
template <operation Op, class T, scope Who, bool Mmio>
inline constexpr form publish_form = published_reduction<Op, T>(Who, Mmio);
} // namespace verbs

/// *to = Op(*to, value) in another block of the cluster; its barrier hears of sizeof(T) bytes.
template <operation Op, class T>
__device__ __forceinline__ void red_async(in_cluster<T> to, typename verbs::itself<T>::type value,
                                          in_cluster<barrier> announced) {
  constexpr form f = verbs::red_async_form<Op, T>;
  if constexpr (!available<f>) {
    refuse<f>();
  } else {
    demand_remote(to);
    demand(to.rank == announced.rank, "[tally-D5] a reduction and its barrier must be in one block");
    cuda::ptx::red_async(verbs::libcudacxx_operation<Op>(), verbs::libcudacxx_pointer<Op>(to.at),
                         verbs::libcudacxx_type<Op, T>(value), reinterpret_cast<u64*>(announced.at));
  }
}

/// *to += value in global memory, after everything this thread wrote before it, for the threads of `Who` (gpu or sys);
/// with `Mmio` for a device (sys only). sm_100 and later.
template <operation Op, scope Who = scope::gpu, bool Mmio = false, class T>
__device__ __forceinline__ void red_async_release(in_global<T> to, typename verbs::itself<T>::type value) {
  constexpr form f = verbs::publish_form<Op, T, Who, Mmio>;
  if constexpr (!available<f>) {
    refuse<f>();
  } else {
    if constexpr (sizeof(T) == 8)
      asm volatile("%2 [%0], %1;" ::"l"(to.address()), "l"(bits_of(value)), "C"(verbs::instruction<f>::text) : "memory");
    else
      asm volatile("%2 [%0], %1;" ::"l"(to.address()), "r"(bits_of(value)), "C"(verbs::instruction<f>::text) : "memory");
  }
}

namespace verbs {
template <operation Op, class T, space To>
inline constexpr form red_async_elsewhere = moved(remote_reduction<Op, T>(), To);
template <operation Op, class T, scope Who, bool Mmio, space To>
inline constexpr form publish_elsewhere = moved(published_reduction<Op, T>(Who, Mmio), To);
} // namespace verbs

/// In any other place: refused.
template <operation Op, template <class> class Place, class T, class... Rest>
  requires(verbs::space_of<Place<T>> == space::global || verbs::space_of<Place<T>> == space::shared_cta)
__device__ void red_async(Place<T>, typename verbs::itself<T>::type, Rest&&...) {
  constexpr form f = verbs::red_async_elsewhere<Op, T, verbs::space_of<Place<T>>>;
  refuse<f>();
}

/// In any other place: refused.
template <operation Op, scope Who = scope::gpu, bool Mmio = false, template <class> class Place, class T>
  requires(verbs::space_of<Place<T>> == space::shared_cta || verbs::space_of<Place<T>> == space::shared_cluster)
__device__ void red_async_release(Place<T>, typename verbs::itself<T>::type) {
  constexpr form f = verbs::publish_elsewhere<Op, T, Who, Mmio, verbs::space_of<Place<T>>>;
  refuse<f>();
}

} // namespace tally::v0::primitive
