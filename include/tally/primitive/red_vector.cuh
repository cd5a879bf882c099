// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `red` on a vector: neighbouring elements of global memory in one instruction, f32 by 2 or 4, f16 and bf16 by 2, 4 or 8,
// their packed pairs by 2 or 4; sm_90 and later. Each element is atomic by itself; the whole is not. Layer 2.
#pragma once

#include <tally/primitive/red.cuh>

namespace tally::v0::primitive {

namespace verbs {
template <form F>
__device__ __forceinline__ void red_words(u64 to, u16 const (&v)[2]) {
  asm volatile("%3 [%0], {%1, %2};" ::"l"(to), "h"(v[0]), "h"(v[1]), "C"(instruction<F>::text) : "memory");
}
template <form F>
__device__ __forceinline__ void red_words(u64 to, u16 const (&v)[2], u64 policy) {
  asm volatile("%4 [%0], {%1, %2}, %3;" ::"l"(to), "h"(v[0]), "h"(v[1]), "l"(policy), "C"(instruction<F>::text)
               : "memory");
}
template <form F>
__device__ __forceinline__ void red_words(u64 to, u16 const (&v)[4]) {
  asm volatile("%5 [%0], {%1, %2, %3, %4};" ::"l"(to), "h"(v[0]), "h"(v[1]), "h"(v[2]), "h"(v[3]),
               "C"(instruction<F>::text)
               : "memory");
}
template <form F>
__device__ __forceinline__ void red_words(u64 to, u16 const (&v)[4], u64 policy) {
  asm volatile("%6 [%0], {%1, %2, %3, %4}, %5;" ::"l"(to), "h"(v[0]), "h"(v[1]), "h"(v[2]), "h"(v[3]), "l"(policy),
               "C"(instruction<F>::text)
               : "memory");
}
template <form F>
__device__ __forceinline__ void red_words(u64 to, u16 const (&v)[8]) {
  asm volatile("%9 [%0], {%1, %2, %3, %4, %5, %6, %7, %8};" ::"l"(to), "h"(v[0]), "h"(v[1]), "h"(v[2]), "h"(v[3]),
               "h"(v[4]), "h"(v[5]), "h"(v[6]), "h"(v[7]), "C"(instruction<F>::text)
               : "memory");
}
template <form F>
__device__ __forceinline__ void red_words(u64 to, u16 const (&v)[8], u64 policy) {
  asm volatile("%10 [%0], {%1, %2, %3, %4, %5, %6, %7, %8}, %9;" ::"l"(to), "h"(v[0]), "h"(v[1]), "h"(v[2]), "h"(v[3]),
               "h"(v[4]), "h"(v[5]), "h"(v[6]), "h"(v[7]), "l"(policy), "C"(instruction<F>::text)
               : "memory");
}
template <form F>
__device__ __forceinline__ void red_words(u64 to, u32 const (&v)[2]) {
  asm volatile("%3 [%0], {%1, %2};" ::"l"(to), "r"(v[0]), "r"(v[1]), "C"(instruction<F>::text) : "memory");
}
template <form F>
__device__ __forceinline__ void red_words(u64 to, u32 const (&v)[2], u64 policy) {
  asm volatile("%4 [%0], {%1, %2}, %3;" ::"l"(to), "r"(v[0]), "r"(v[1]), "l"(policy), "C"(instruction<F>::text)
               : "memory");
}
template <form F>
__device__ __forceinline__ void red_words(u64 to, u32 const (&v)[4]) {
  asm volatile("%5 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]),
               "C"(instruction<F>::text)
               : "memory");
}
template <form F>
__device__ __forceinline__ void red_words(u64 to, u32 const (&v)[4], u64 policy) {
  asm volatile("%6 [%0], {%1, %2, %3, %4}, %5;" ::"l"(to), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]), "l"(policy),
               "C"(instruction<F>::text)
               : "memory");
}
} // namespace verbs

/// to[i] = Op(to[i], value[i]) for each lane, in global memory; the address is aligned to the whole vector.
template <operation Op, semantics Order = semantics::relaxed, scope Scope = scope::gpu, template <class> class Place,
          class T, int N, class Hint = no_policy>
__device__ __forceinline__ void red(Place<lanes<T, N>> to, lanes<T, N> value, Hint hint = {}) {
  constexpr form f = verbs::red_form<Op, T, N, verbs::space_of<Place<T>>, Order, Scope, Hint>;
  if constexpr (!available<f>) {
    refuse<f>();
  } else {
    demand(u64(to.at) % sizeof value == 0, "[tally-D3] the address of a red must be aligned to its operand");
    using word = decltype(bits_of(value.at[0]));
    word words[N];
    for (int i = 0; i < N; ++i) words[i] = bits_of(value.at[i]);
    if constexpr (verbs::hinted<Hint>)
      verbs::red_words<f>(to.address(), words, hint.word());
    else
      verbs::red_words<f>(to.address(), words);
  }
}

} // namespace tally::v0::primitive
