// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One element into memory, atomically, whatever that takes on this chip: `red` where it knows the type, an integer `red`
// that sees floats in their order (min and max of f32 and f64), compare and swap for the rest (min and max of one f16 or
// bf16, bf16 sums before sm_90). Layer 2. It is the last step of every ladder and does its peeled ends.
#pragma once

#include <tally/base/ordered_key.hpp>
#include <tally/primitive/red.cuh>

namespace tally::inline v0::primitive {

namespace verbs {
template <class T>
concept ordered_by_integers = cuda::std::same_as<T, float> || cuda::std::same_as<T, double>;
template <operation Op>
concept least_or_greatest = Op == operation::min || Op == operation::max;

/// Bits of a NaN that wins every later comparison, min's below all numbers and max's above.
template <operation Op, class Bits>
inline constexpr Bits winning_nan = Op == operation::min ? ~Bits(0) : Bits(~Bits(0) >> 1);

/// Numbers of one sign compare as integers do, or the other way round; which sign the operand has decides.
template <operation Op, template <class> class Place, class T, class Hint>
__device__ __forceinline__ void red_ordered(Place<T> to, T value, Hint hint) {
  using bits = decltype(bits_of(value));
  using key = cuda::std::conditional_t<sizeof(T) == 8, i64, i32>;
  constexpr bool least = Op == operation::min;
  bits const b = value == value ? bits_of(value) : winning_nan<Op, bits>;
  if ((b >> (sizeof b * 8 - 1)) == 0)
    red<least ? operation::min : operation::max>(Place<key>(reinterpret_cast<key*>(to.at)), key(b), hint);
  else
    red<least ? operation::max : operation::min>(Place<bits>(reinterpret_cast<bits*>(to.at)), b, hint);
}

/// What an operation makes of two values.
template <operation Op, class T>
__device__ __forceinline__ T folded(T a, T b) {
  if constexpr (Op == operation::add)
    return T(wrapping::add(widen(a), widen(b)));
  else if constexpr (Op == operation::min)
    return ordered_key<true>(b) < ordered_key<true>(a) ? b : a;
  else if constexpr (Op == operation::max)
    return ordered_key<false>(a) < ordered_key<false>(b) ? b : a;
  else if constexpr (Op == operation::bit_and)
    return a & b;
  else if constexpr (Op == operation::bit_or)
    return a | b;
  else
    return a ^ b;
}

template <operation Op, small_float T>
__device__ __forceinline__ void swap_in(in_global<T> to, T value) {
  u16 seen = *reinterpret_cast<u16 volatile*>(to.at), before;
  do {
    before = seen;
    asm volatile("atom.relaxed.gpu.global.cas.b16 %0, [%1], %2, %3;"
                 : "=h"(seen)
                 : "l"(to.address()), "h"(before), "h"(folded<Op>(T::from_bits(before), value).bits)
                 : "memory");
  } while (seen != before);
}
} // namespace verbs

/// *to = Op(*to, value) in global memory. A min or max of f32 or f64 keeps NaN: one that is folded in here stays.
template <operation Op, class T, class Hint = no_policy>
__device__ __forceinline__ void fold_word(in_global<T> to, typename verbs::itself<T>::type value, Hint hint = {}) {
  if constexpr (available<verbs::red_form<Op, T, 1, space::global, semantics::relaxed, scope::gpu, Hint>>)
    red<Op>(to, value, hint);
  else if constexpr (verbs::ordered_by_integers<T> && verbs::least_or_greatest<Op>)
    verbs::red_ordered<Op>(to, value, hint);
  else if constexpr (small_float<T> && (Op == operation::add || verbs::least_or_greatest<Op>))
    verbs::swap_in<Op>(to, value);
  else
    refuse<verbs::red_form<Op, T, 1, space::global, semantics::relaxed, scope::gpu, Hint>>();
}

} // namespace tally::inline v0::primitive
