// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `red`: one word of memory becomes operation(what was there, value), atomically, and nothing comes back. Scalars of
// every space and vectors of global memory. Layer 2.
//
// red.add.f32 on global memory flushes subnormal operands and results to zero; on shared memory it does not. A vector is
// atomic element by element, not as a whole.
#pragma once

#include <tally/primitive/cache_policy.cuh>
#include <tally/primitive/instruction.cuh>
#include <tally/primitive/place.cuh>
#include <tally/primitive/reducible.hpp>

namespace tally::v0::primitive {

namespace verbs {
// Forms as variables: a device function of nvcc may not call a constexpr function of the host, whatever becomes of it.
template <operation Op, class T, int N, space To, semantics Order, scope Scope, class Hint>
inline constexpr form red_form = reduction<Op, T, N>(To, Order, Scope, hinted<Hint>);

/// One asm statement for each kind of register, address and hint; the words come from the form.
template <form F>
__device__ __forceinline__ void red_word(u64 to, u16 v) {
  asm volatile("%2 [%0], %1;" ::"l"(to), "h"(v), "C"(instruction<F>::text) : "memory");
}
template <form F>
__device__ __forceinline__ void red_word(u64 to, u32 v) {
  asm volatile("%2 [%0], %1;" ::"l"(to), "r"(v), "C"(instruction<F>::text) : "memory");
}
template <form F>
__device__ __forceinline__ void red_word(u64 to, u64 v) {
  asm volatile("%2 [%0], %1;" ::"l"(to), "l"(v), "C"(instruction<F>::text) : "memory");
}
template <form F>
__device__ __forceinline__ void red_word(u64 to, u16 v, u64 policy) {
  asm volatile("%3 [%0], %1, %2;" ::"l"(to), "h"(v), "l"(policy), "C"(instruction<F>::text) : "memory");
}
template <form F>
__device__ __forceinline__ void red_word(u64 to, u32 v, u64 policy) {
  asm volatile("%3 [%0], %1, %2;" ::"l"(to), "r"(v), "l"(policy), "C"(instruction<F>::text) : "memory");
}
template <form F>
__device__ __forceinline__ void red_word(u64 to, u64 v, u64 policy) {
  asm volatile("%3 [%0], %1, %2;" ::"l"(to), "l"(v), "l"(policy), "C"(instruction<F>::text) : "memory");
}
template <form F>
__device__ __forceinline__ void red_word(u32 to, u16 v) {
  asm volatile("%2 [%0], %1;" ::"r"(to), "h"(v), "C"(instruction<F>::text) : "memory");
}
template <form F>
__device__ __forceinline__ void red_word(u32 to, u32 v) {
  asm volatile("%2 [%0], %1;" ::"r"(to), "r"(v), "C"(instruction<F>::text) : "memory");
}
template <form F>
__device__ __forceinline__ void red_word(u32 to, u64 v) {
  asm volatile("%2 [%0], %1;" ::"r"(to), "l"(v), "C"(instruction<F>::text) : "memory");
}
} // namespace verbs

/// *to = Op(*to, value), atomically in `Scope`; `Order` release also publishes what this thread wrote before.
template <operation Op, semantics Order = semantics::relaxed, scope Scope = scope::gpu, template <class> class Place,
          class T, class Hint = no_policy>
__device__ __forceinline__ void red(Place<T> to, typename verbs::itself<T>::type value, Hint hint = {}) {
  constexpr form f = verbs::red_form<Op, T, 1, verbs::space_of<Place<T>>, Order, Scope, Hint>;
  if constexpr (!available<f>) {
    refuse<f>();
  } else {
    demand(u64(to.at) % sizeof(T) == 0, "[tally-D3] the address of a red must be aligned to its operand");
    if constexpr (verbs::hinted<Hint>)
      verbs::red_word<f>(to.address(), bits_of(value), hint.word());
    else
      verbs::red_word<f>(to.address(), bits_of(value));
  }
}

} // namespace tally::v0::primitive
