// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One element into memory, atomically, whatever that takes on this chip: `red` where it knows the type, an integer `red`
// that sees floats in their order (min and max of f32 and f64), compare and swap for the rest (min and max of one f16 or
// bf16, bf16 sums before sm_90). Layer 2. It is the last step of every ladder and does its peeled ends.
#pragma once

#include <tally/base/ordered_key.hpp>
#include <tally/primitive/red.cuh>
#include <tally/primitive/rung.hpp>

namespace tally::v0::primitive {

template <operation Op, template <class> class Place, class T, class Hint = no_policy>
__device__ __forceinline__ void fold_word(Place<T> to, typename verbs::itself<T>::type value, Hint hint = {});

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
  constexpr space where = space_of<Place<T>>;
  bits const b = value == value ? bits_of(value) : winning_nan<Op, bits>;
  if ((b >> (sizeof b * 8 - 1)) == 0)
    fold_word<least ? operation::min : operation::max>(place<where>(reinterpret_cast<key*>(to.at)), key(b), hint);
  else
    fold_word<least ? operation::max : operation::min>(place<where>(reinterpret_cast<bits*>(to.at)), b, hint);
}

template <operation Op, class T, space To>
__device__ constexpr void refuse_to_accumulate() {
  (void)sizeof(because::nothing_accumulates_it<refused_form<reduction<Op, T>(To)>>);
}

template <form F>
inline constexpr bool trusted = atomic_everywhere(F);
template <operation Op>
inline constexpr bool bits_only = is_bitwise(Op);

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

/// Compare and swap of 16 bits: what was there.
template <class T>
__device__ __forceinline__ u16 swap(in_global<T> to, u16 before, u16 now) {
  u16 seen;
  asm volatile("atom.relaxed.gpu.global.cas.b16 %0, [%1], %2, %3;"
               : "=h"(seen)
               : "l"(to.address()), "h"(before), "h"(now)
               : "memory");
  return seen;
}
template <class T>
__device__ __forceinline__ u16 swap(in_shared<T> to, u16 before, u16 now) {
  u16 seen;
  asm volatile("atom.relaxed.cta.shared::cta.cas.b16 %0, [%1], %2, %3;"
               : "=h"(seen)
               : "r"(to.address()), "h"(before), "h"(now)
               : "memory");
  return seen;
}
template <class T>
__device__ __forceinline__ u16 swap(in_cluster<T> to, u16 before, u16 now) {
  u16 seen;
  asm volatile("atom.relaxed.cluster.shared::cluster.cas.b16 %0, [%1], %2, %3;"
               : "=h"(seen)
               : "r"(to.address()), "h"(before), "h"(now)
               : "memory");
  return seen;
}

template <operation Op, template <class> class Place, small_float T>
__device__ __forceinline__ void swap_in(Place<T> to, T value) {
  u16 seen = *reinterpret_cast<u16 volatile*>(to.at), before;
  do {
    before = seen;
    seen = swap(to, before, folded<Op>(T::from_bits(before), value).bits);
  } while (seen != before);
}

/// Bits of 64 as those of two words, for another block.
template <operation Op, class T>
__device__ __forceinline__ void red_halves(in_cluster<T> to, T value) {
  auto const words = reinterpret_cast<u32*>(to.at);
  red<Op, semantics::relaxed, scope::cluster>(in_cluster<u32>::mapped(words), u32(u64(value)));
  red<Op, semantics::relaxed, scope::cluster>(in_cluster<u32>::mapped(words + 1), u32(u64(value) >> 32));
}
} // namespace verbs

/// *to = Op(*to, value) in global memory, the block's shared memory or that of a block of the cluster, for the threads that
/// can look there. A min or max of f32 or f64 keeps NaN: one that is folded in here stays.
template <operation Op, template <class> class Place, class T, class Hint>
__device__ __forceinline__ void fold_word(Place<T> to, typename verbs::itself<T>::type value, Hint hint) {
  constexpr space where = verbs::space_of<Place<T>>;
  constexpr scope who = verbs::scope_of<where>;
  constexpr form f = verbs::red_form<Op, T, 1, where, semantics::relaxed, who, Hint>;
  if constexpr (available<f> && verbs::trusted<f>)
    red<Op, semantics::relaxed, who>(to, value, hint);
  else if constexpr (available<f> && verbs::bits_only<Op>)
    verbs::red_halves<Op>(to, value);
  else if constexpr (!accumulable<Op, T, where>)
    verbs::refuse_to_accumulate<Op, T, where>();
  else if constexpr (verbs::ordered_by_integers<T> && verbs::least_or_greatest<Op>)
    verbs::red_ordered<Op>(to, value, hint);
  else if constexpr (small_float<T> && (Op == operation::add || verbs::least_or_greatest<Op>))
    verbs::swap_in<Op>(to, value);
  else
    refuse<f>(); // an old chip
}

} // namespace tally::v0::primitive
