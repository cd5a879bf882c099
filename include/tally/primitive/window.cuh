// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A row cut where its destination is aligned: windows of V elements, the first and the last of which may stick out of the
// row. Whole windows take the wide instruction, the others element by element; so heads and tails are peeled whatever
// the alignment of a row, and no rung is given up for them. Layer 2.
#pragma once

#include <tally/primitive/fold_word.cuh>
#include <tally/primitive/red_vector.cuh>
#include <tally/primitive/rung.hpp>

namespace tally::inline v0::primitive {

namespace verbs {
template <class T, int V>
struct operand {
  using type = lanes<T, V>;
};
template <class T>
struct operand<T, 1> {
  using type = T;
};
template <small_float T>
struct operand<T, 2> {
  using type = two<T>;
};
template <small_float T>
struct operand<T, 8> {
  using type = lanes<two<T>, 4>;
};

template <int Bytes>
struct loaded;
template <>
struct loaded<2> {
  using type = unsigned short;
};
template <>
struct loaded<4> {
  using type = unsigned;
};
template <>
struct loaded<8> {
  using type = uint2;
};
template <>
struct loaded<16> {
  using type = uint4;
};
} // namespace verbs

/// V elements as one operand of red.
template <class T, int V>
using operand_t = typename verbs::operand<T, V>::type;

/// How far the first window of a row reaches before the row, in elements.
template <int V, class T>
__device__ __forceinline__ int shift_of(T const* row) {
  return V == 1 ? 0 : int(u64(row) / sizeof(T) % V);
}

/// V elements in the registers that loaded them.
template <class T, int V>
using window_t = typename verbs::loaded<int(V * sizeof(T))>::type;

/// V elements that begin at `p`, aligned to all of them. A tile of global memory is read once: its lines leave the cache
/// first, the table's stay.
template <int V, bool Global, class T>
__device__ __forceinline__ window_t<T, V> load_whole(T const* p) {
  auto const whole = reinterpret_cast<window_t<T, V> const*>(p);
  if constexpr (Global)
    return __ldcs(whole);
  else
    return *whole;
}

/// The same of any alignment, of which only the elements in [low, high) exist.
template <int V, bool Global, class T>
__device__ __forceinline__ window_t<T, V> load_window(T const* p, int low, int high) {
  if (low <= 0 && high >= V && u64(p) % (V * sizeof(T)) == 0) return load_whole<V, Global>(p);
  lanes<T, V> window{};
#pragma unroll
  for (int i = 0; i < V; ++i)
    if (i >= low && i < high) window.at[i] = p[i];
  return __builtin_bit_cast(window_t<T, V>, window);
}

/// Folds a whole window into the window at `to` by one red, or the one element of it.
template <operation Op, int V, class T, class Hint>
__device__ __forceinline__ void fold_whole(T* to, window_t<T, V> window, Hint hint) {
  using word = operand_t<T, V>;
  if constexpr (V == 1)
    fold_word<Op>(in_global(to), __builtin_bit_cast(T, window), hint);
  else
    red<Op>(in_global(reinterpret_cast<word*>(to)), __builtin_bit_cast(word, window), hint);
}

/// Folds those elements of a window that exist into the window at `to`, one by one.
template <operation Op, int V, class T, class Hint = no_policy>
__device__ __forceinline__ void fold_elements(T* to, window_t<T, V> window, int low, int high, Hint hint = {}) {
  auto const elements = __builtin_bit_cast(lanes<T, V>, window);
#pragma unroll
  for (int i = 0; i < V; ++i)
    if (i >= low && i < high) fold_word<Op>(in_global(to + i), elements.at[i], hint);
}

/// Whole, or one by one.
template <operation Op, int V, class T, class Hint>
__device__ __forceinline__ void fold_window(T* to, window_t<T, V> window, int low, int high, Hint hint) {
  if (low <= 0 && high >= V)
    fold_whole<Op, V>(to, window, hint);
  else
    fold_elements<Op, V>(to, window, low, high, hint);
}

} // namespace tally::inline v0::primitive
