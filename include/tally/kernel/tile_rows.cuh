// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which rows of a matrix a tile has, and what is copied of them. Layer 4. The thread that asks for copies is alone: while it reckons, the copies behind do not
// come.
#pragma once

#include <tally/plan/mixed_plan.hpp>

namespace tally::inline v0::kernel {

/// The rows of a tile of Lanes lanes, neighbours: of every lane the first, then of every lane the second, which is `apart` rows behind it.
template <int Lanes>
struct rows_of_lanes {
  __device__ __forceinline__ static constexpr i64 behind_first(int r, i64 apart) { return r / Lanes * apart + r % Lanes; }
  /// How many of them, `Rows` at the most, are among so many rows from the first on.
  template <int Rows>
  __device__ __forceinline__ static constexpr int among(int rows, int apart) {
    if constexpr (Lanes == 1)
      return (rows - 1) / apart + 1;
    int present = 0;
#pragma unroll
    for (int r = 0; r < Rows; r += Lanes)
      if (int const left = rows - r / Lanes * apart; left > 0)
        present += left < Lanes ? left : Lanes;
    return present;
  }
};

/// The copy of a row: `bytes` from `from` on; `rest` bytes of the row are behind them.
struct row_copy {
  unsigned char const* from;
  int bytes, rest;
};
/// The copy of a row of `bytes` bytes: as it is, or where it begins Anywhere in the pieces around it, but none that reaches behind `end`.
template <bool Anywhere>
__device__ __forceinline__ row_copy copied_row(unsigned char const* row, int bytes, unsigned char const* end) {
  if constexpr (!Anywhere) {
    return {row, bytes, 0};
  } else {
    int const late = int(reinterpret_cast<u64>(row) % bytes_of_piece), all = late + bytes;
    unsigned char const* const from = row - late;
    int const pieces = (all + bytes_of_piece - 1) / bytes_of_piece * bytes_of_piece;
    if (from + pieces <= end)
      return {from, pieces, 0};
    return {from, pieces - bytes_of_piece, all - (pieces - bytes_of_piece)};
  }
}

/// The rows of the tiles of a unit in one column of the source: those of tile k are those of lanes k * P.lanes_of_tile and so on.
template <mixed_plan P>
struct rows_in_column {
  static constexpr int lanes = P.lanes_of_tile;
  unsigned char const* first; ///< row of the first lane, from the first column of the unit on
  i64 step, apart;            ///< bytes from a row to the next, and to the next of a lane
  int width;                  ///< bytes of a row in the unit
  unsigned char const* end;   ///< of the column

  __device__ __forceinline__ unsigned char const* first_of(int k) const { return first + i64(k) * lanes * step; }
  __device__ __forceinline__ row_copy copy_of(int k, int r) const { return copied_row<P.begins_anywhere>(first_of(k) + r / lanes * apart + r % lanes * step, width, end); }
  /// Calls f(r, what is copied) for the first `present` rows of tile k.
  template <class F>
  __device__ __forceinline__ void for_each(int k, int present, F const& f) const {
    unsigned char const* row = first_of(k);
#pragma unroll 1
    for (int r = 0; r < present; ++r)
      if constexpr (P.begins_anywhere) { // whose pieces no uniform register has: one addition a row
        f(r, copied_row<true>(row, width, end));
        row += lanes == 1 || r % lanes == lanes - 1 ? apart - (lanes - 1) * step : step;
      } else {
        f(r, copy_of(k, r));
      }
  }
  __device__ __forceinline__ i64 bytes_copied(int k, int present) const {
    if constexpr (!P.begins_anywhere)
      return i64(present) * width;
    i64 all = 0;
    for_each(k, present, [&](int, row_copy const& c) { all += c.bytes; });
    return all;
  }
  /// Bytes of its first piece in front of the first row of tile k, and how many more in front of the row of each lane behind.
  __device__ __forceinline__ u32 late(int k) const { return (u32(reinterpret_cast<u64>(first)) + u32(k) * u32(lanes) * u32(step)) % bytes_of_piece; }
  __device__ __forceinline__ u32 later() const { return lanes == 1 ? 0 : u32(step) % bytes_of_piece; }
};

} // namespace tally::inline v0::kernel
