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

/// V elements that begin at `p`, of which those in [low, high) exist; loaded whole where the address allows. A tile of
/// global memory is read once: its lines leave the cache first, the table's stay.
template <int V, bool Global, class T>
__device__ __forceinline__ lanes<T, V> load_window(T const* p, int low, int high) {
  using word = typename verbs::loaded<int(V * sizeof(T))>::type;
  auto const whole = reinterpret_cast<word const*>(p);
  if (low <= 0 && high >= V && u64(p) % sizeof(word) == 0) {
    if constexpr (Global)
      return __builtin_bit_cast(lanes<T, V>, __ldcs(whole));
    else
      return __builtin_bit_cast(lanes<T, V>, *whole);
  }
  lanes<T, V> window{};
#pragma unroll
  for (int i = 0; i < V; ++i)
    if (i >= low && i < high) window.at[i] = p[i];
  return window;
}

/// Folds those lanes of a window that exist into the window at `to`, one by one.
template <operation Op, int V, class T, class Hint = no_policy>
__device__ __forceinline__ void fold_lanes(T* to, lanes<T, V> const& window, int low, int high, Hint hint = {}) {
#pragma unroll
  for (int i = 0; i < V; ++i)
    if (i >= low && i < high) fold_word<Op>(in_global(to + i), window.at[i], hint);
}

/// The same, a whole window by one red of V elements.
template <operation Op, int V, class T, class Hint>
__device__ __forceinline__ void fold_window(T* to, lanes<T, V> const& window, int low, int high, Hint hint) {
  if constexpr (V > 1) {
    if (low <= 0 && high >= V) {
      using word = operand_t<T, V>;
      red<Op>(in_global(reinterpret_cast<word*>(to)), __builtin_bit_cast(word, window), hint);
      return;
    }
  }
  fold_lanes<Op, V>(to, window, low, high, hint);
}

} // namespace tally::inline v0::primitive
