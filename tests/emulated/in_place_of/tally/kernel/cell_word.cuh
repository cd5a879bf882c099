// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// kernel/cell_word.cuh as host code: one thread runs at a time, so an operation on a word is one. Whose word it is said to be is checked.
#pragma once

#include <doctest/doctest.h>

#include <tally/base/ordered_key.hpp>
#include <tally/base/word_pair.hpp>
#include <tally/primitive/form.hpp>
#include <tally/primitive/rung.hpp>

#include <algorithm>

namespace tally::v0::kernel {

using primitive::operation, primitive::halves;

template <operation Op, class T>
T folded(T a, T b) {
  if constexpr (small_float<T> && Op != operation::add) { // the number where one is NaN, of two NaN that of all instructions, -0 below +0
    if (!(a == a) || !(b == b)) return !(a == a) && !(b == b) ? T::from_bits(0x7fff) : a == a ? a : b;
    return (ordered_key<true>(a) < ordered_key<true>(b)) == (Op == operation::min) ? a : b;
  } else if constexpr (Op == operation::add) return T(a + b);
  else if constexpr (Op == operation::min) return std::min(a, b);
  else if constexpr (Op == operation::max) return std::max(a, b);
  else if constexpr (Op == operation::bit_and) return a & b;
  else if constexpr (Op == operation::bit_or) return a | b;
  else if constexpr (Op == operation::bit_xor) return a ^ b;
  else if constexpr (Op == operation::inc) return a >= b ? 0 : a + 1;
  else return a == 0 || a > b ? b : a - 1;
}
enum class owner { all, block, cluster };
inline void publish_bit(u32* at, u32 bit) { *at |= bit; }
inline bool has_bit(u32 const* at, u32 bit) { return (*at & bit) != 0; }
template <operation Op, owner Of, class T>
void fold_into(T* at, T value) {
  auto const place = reinterpret_cast<char*>(at);
  bool const own = place >= emulated::shared_begin && place < emulated::shared_end;
  if (Of == owner::cluster ? !own && !emulated::cluster().keeps(place) : own != (Of == owner::block)) FAIL("a word of another memory than the instruction's");
  *at = folded<Op>(*at, value);
}
template <int N, class T, class I>
void add_halves(T* at, I apart, T const (&value)[N]) {
  for (int i = 0; i < N; ++i) fold_into<operation::add, owner::block>(at + I(i) * apart, value[i]);
}
template <owner Of>
unsigned add_and_carry(u64* at, u64 value) {
  fold_into<operation::add, Of>(at, value);
  return *at < value;
}
template <owner Of>
word_pair look_at_pair(word_pair* at) {
  CHECK(reinterpret_cast<std::uintptr_t>(at) % alignof(word_pair) == 0);
  return *at;
}
template <owner Of>
word_pair swap_pair(word_pair* at, word_pair const& expected, word_pair const& desired) {
  auto const place = reinterpret_cast<char*>(at);
  if ((place >= emulated::shared_begin && place < emulated::shared_end) != (Of == owner::block)) FAIL("a pair of another memory than the instruction's");
  word_pair const was = *at;
  if (was == expected) *at = desired;
  return was;
}
template <operation Op, halves, int V, class T>
void fold_neighbours_into(T* at, T const (&v)[V]) {
  for (int j = 0; j < V; ++j) fold_into<Op, owner::all>(at + j, v[j]);
}

} // namespace tally::v0::kernel
