// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A row cut where its destination is aligned: windows of V elements, the first and the last of which may stick out of the
// row. Whole windows take the wide instruction, the others are halved until their parts are whole; so heads and tails are
// peeled whatever the alignment of a row, and no rung is given up for them. Layer 2.
#pragma once

#include <tally/primitive/fold_word.cuh>
#include <tally/primitive/red_vector.cuh>
#include <tally/primitive/rung.hpp>

namespace tally::v0::primitive {

namespace verbs {
/// What a red of V elements takes: neighbours one by one, or pairs of halves.
template <class T, int V, bool Pairs>
struct operand {
  using type = lanes<T, V>;
};
template <class T, bool Pairs>
struct operand<T, 1, Pairs> {
  using type = T;
};
template <small_float T>
struct operand<T, 2, true> {
  using type = two<T>;
};
template <small_float T, int V>
  requires(V > 2)
struct operand<T, V, true> {
  using type = lanes<two<T>, V / 2>;
};
/// One pair is added everywhere; its least and greatest are a vector's only, and vectors are global memory's.
template <operation Op, class T, int V, halves Travel, space To>
inline constexpr bool in_pairs = !vector_reducible<Op, T, V, compiled_for> || To != space::global ||
                                 (Travel == halves::in_pairs && (V > 2 || Op == operation::add));

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
template <operation Op, class T, int V, halves Travel = halves::in_pairs, space To = space::global>
using operand_t = typename verbs::operand<T, V, verbs::in_pairs<Op, T, V, Travel, To>>::type;

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

/// How windows are folded: into which space, by which operation, and how halves travel.
template <operation Op, space To = space::global, halves Travel = halves::in_pairs>
struct folding {
  static constexpr operation op = Op;
  static constexpr space to = To;
  static constexpr halves travel = Travel;
};

/// Folds a whole window into the window at `to` by one red, or the one element of it.
template <class How, int V, class T, class Hint>
__device__ __forceinline__ void fold_whole(T* to, window_t<T, V> window, Hint hint) {
  using word = operand_t<How::op, T, V, How::travel, How::to>;
  if constexpr (V == 1)
    fold_word<How::op>(verbs::place<How::to>(to), __builtin_bit_cast(T, window), hint);
  else
    red<How::op, semantics::relaxed, verbs::scope_of<How::to>>(verbs::place<How::to>(reinterpret_cast<word*>(to)),
                                                               __builtin_bit_cast(word, window), hint);
}

/// Folds those elements of a window that exist, the ones in [low, high), into the window at `to`: whole, or else each half
/// of it in the same way, so that a row aligned to 8 bytes ends in a red of 8.
template <class How, int V, class T, class Hint = no_policy>
__device__ __forceinline__ void fold_window(T* to, window_t<T, V> window, int low, int high, Hint hint = {}) {
  constexpr bool one_red = V <= red_elements<How::op, T, compiled_for, How::to>;
  if (one_red && low <= 0 && high >= V) {
    if constexpr (one_red) fold_whole<How, V>(to, window, hint);
  } else if constexpr (V > 1) {
    constexpr int H = V / 2;
    struct halves_of_window {
      window_t<T, H> first, second;
    };
    auto const both = __builtin_bit_cast(halves_of_window, window);
    fold_window<How, H>(to, both.first, low, high, hint);
    fold_window<How, H>(to + H, both.second, low - H, high - H, hint);
  }
}

} // namespace tally::v0::primitive
