// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// kernel/cell_word.cuh as host code: one thread runs at a time, so an operation on a word is one.
#pragma once

#include <tally/primitive/form.hpp>

#include <algorithm>

namespace tally::inline v0::kernel {

using primitive::operation;

template <operation Op, class T>
T folded(T a, T b) {
  if constexpr (Op == operation::add) return a + b;
  else if constexpr (Op == operation::min) return std::min(a, b);
  else if constexpr (Op == operation::max) return std::max(a, b);
  else if constexpr (Op == operation::bit_and) return a & b;
  else if constexpr (Op == operation::bit_or) return a | b;
  else if constexpr (Op == operation::bit_xor) return a ^ b;
  else if constexpr (Op == operation::inc) return a >= b ? 0 : a + 1;
  else return a == 0 || a > b ? b : a - 1;
}
template <operation Op, bool, class T>
void fold_into(T* at, T value) { *at = folded<Op>(*at, value); }
template <operation Op, int V, class T>
void fold_neighbours_into(T* at, T const (&v)[V]) {
  for (int j = 0; j < V; ++j) fold_into<Op, false>(at + j, v[j]);
}

} // namespace tally::inline v0::kernel
