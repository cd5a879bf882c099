// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bytes that begin anywhere, by accesses that are aligned: a row is copied in the pieces of 16 bytes around it, and what is read of it is
// shifted. Layer 4.
#pragma once

#include <tally/kernel/load.cuh>
#include <tally/plan/mixed_plan.hpp>

namespace tally::inline v0::kernel {

/// The copy of a row: `bytes` from `from` on, of which the row begins `late` behind the first; `rest` bytes of the row are behind them.
struct row_copy {
  unsigned char const* from;
  int bytes, late, rest;
};
/// The copy of a row of `bytes` bytes: as it is, or in the pieces around it where it is Shifted, but none that reaches behind `end`.
template <bool Shifted>
__device__ __forceinline__ row_copy copied_row(unsigned char const* row, int bytes, void const* end) {
  if constexpr (!Shifted) {
    return {row, bytes, 0, 0};
  } else {
    int const late = int(reinterpret_cast<u64>(row) % bytes_of_piece), all = late + bytes;
    unsigned char const* const from = row - late;
    int const pieces = (all + bytes_of_piece - 1) / bytes_of_piece * bytes_of_piece;
    if (from + pieces <= static_cast<unsigned char const*>(end))
      return {from, pieces, late, 0};
    return {from, pieces - bytes_of_piece, late, all - (pieces - bytes_of_piece)};
  }
}

/// Bytes bytes of a copied row that would be aligned if it began with its first piece: it begins `late` bytes behind, a multiple of Unit.
template <int Bytes, int Unit>
__device__ __forceinline__ void load_shifted(unsigned char* to, unsigned char const* from, int late) {
  constexpr int at_once = Bytes % 16 == 0 ? 16 : Bytes % 8 == 0 ? 8 : 4;
  if constexpr (Bytes % 4 != 0) {
#pragma unroll
    for (int b = 0; b < Bytes; b += Unit)
      load_shared<Unit>(to + b, from + late + b);
  } else {
    constexpr int all = (Bytes + at_once) / 4;
    unsigned word[all];
    from += late / at_once * at_once;
#pragma unroll
    for (int b = 0; b < Bytes + at_once; b += at_once)
      load_shared<at_once>(word + b / 4, from + b);
#pragma unroll
    for (int half = at_once / 8; half > 0; half /= 2) // by words, as many as the bits of `late` say
      if ((late & 4 * half) != 0)
#pragma unroll
        for (int i = 0; i + half < all; ++i)
          word[i] = word[i + half];
    if constexpr (Unit % 4 != 0) {
#pragma unroll
      for (int i = 0; i < Bytes / 4; ++i)
        word[i] = __funnelshift_r(word[i], word[i + 1], unsigned(late % 4) * 8);
    }
    memcpy(to, word, Bytes);
  }
}

} // namespace tally::inline v0::kernel
