// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which rows of a matrix a tile has, and what is copied of them. Layer 4.
#pragma once

#include <tally/plan/mixed_plan.hpp>

namespace tally::v0::kernel {

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

/// The sums of the numbers of 4 bits in two words, modulo 16.
__device__ __forceinline__ u32 sums_of_four_bits(u32 a, u32 b) { return ((a & 0x77777777u) + (b & 0x77777777u)) ^ ((a ^ b) & 0x88888888u); }

/// How far a lane is from the next of its tile, and a tile from the next, in lanes, and the rows of a lane, in rows.
struct lanes_of_tiles {
  i64 lane, tile, row;
};

/// The rows of the tiles of a unit in one column of the source, each of Lanes lanes.
template <bool Anywhere, int Lanes>
struct rows_in_column {
  unsigned char const* first; ///< row of the first lane, from the first column of the unit on
  i64 step;                   ///< from one row of the source to the next, in bytes
  lanes_of_tiles apart;       ///< in bytes
  int width;                  ///< bytes of a row in the unit
  unsigned char const* end;   ///< of the column

  __device__ __forceinline__ unsigned char const* first_of(int k) const { return first + k * apart.tile; }
  __device__ __forceinline__ row_copy copy_of(int k, int r) const { return copied_row<Anywhere>(first_of(k) + r / Lanes * apart.row + r % Lanes * apart.lane, width, end); }
  /// Bytes of its first piece in front of the first row of the first tile, and how many more in front of that of each tile behind, and of the row of each lane behind.
  __device__ __forceinline__ u32 late() const { return u32(reinterpret_cast<u64>(first)) % bytes_of_piece; }
  __device__ __forceinline__ u32 later_by_tile() const { return u32(apart.tile) % bytes_of_piece; }
  __device__ __forceinline__ u32 later_by_lane() const { return Lanes == 1 ? 0 : u32(apart.lane) % bytes_of_piece; }
};

} // namespace tally::v0::kernel
