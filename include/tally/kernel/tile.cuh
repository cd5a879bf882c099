// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile of a matrix in shared memory: the rows of one lane of a band, a chunk of columns wide, for every column of the source that is
// read. Layer 4. It comes by bulk copies, row by row, or element by element where rows are not aligned.
#pragma once

#include <tally/fold/groups.hpp>
#include <tally/fold/tree.hpp>
#include <tally/kernel/load.cuh>
#include <tally/plan/mixed_plan.hpp>
#include <tally/primitive/load_ring.cuh>

namespace tally::inline v0::kernel {

/// Bytes of one row of a tile in a column of the source.
template <int Width, class Column>
constexpr int tile_row_bytes() {
  if constexpr (memory_column<Column>)
    return Width * int(sizeof(typename Column::value_type));
  else
    return 0;
}
/// Bytes of a tile in all columns.
template <int Width, int Rows, class... Columns>
constexpr int tile_bytes(pack<Columns...> const*) {
  return (0 + ... + (Rows * tile_row_bytes<Width, Columns>()));
}

/// V neighbours of one row of a tile.
template <int V, class Column>
struct tile_values {
  using T = typename Column::value_type;
  static constexpr int bytes = memory_column<Column> ? V * int(sizeof(T)) : 1;
  static constexpr int piece = bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : bytes % 2 == 0 ? 2 : 1;
  alignas(16) unsigned char held[bytes];
  __device__ __forceinline__ void load(unsigned char const* row, int column) {
    if constexpr (memory_column<Column>)
#pragma unroll
      for (int b = 0; b < bytes; b += piece)
        load_shared<piece>(held + b, row + column * int(sizeof(T)) + b);
  }
  __device__ __forceinline__ T at(Column const& c, int v, i64 position) const {
    if constexpr (memory_column<Column>) {
      T one;
      memcpy(&one, held + v * sizeof(T), sizeof(T));
      return one;
    } else {
      return c.at(position);
    }
  }
};

/// V neighbours in all columns.
template <int V, int Width, int Rows, class... Columns>
struct tile_strip;
template <int V, int Width, int Rows>
struct tile_strip<V, Width, Rows> {
  __device__ __forceinline__ void load(unsigned char const*, int, int) {}
  template <class... Ts>
  __device__ __forceinline__ auto row_at(pack<> const&, int, i64 position, i64 element, Ts... values) const {
    return group_row<Ts...>{make_pack(values...), position, element};
  }
};
template <int V, int Width, int Rows, class Column, class... Columns>
struct tile_strip<V, Width, Rows, Column, Columns...> {
  tile_values<V, Column> here;
  tile_strip<V, Width, Rows, Columns...> rest;
  __device__ __forceinline__ void load(unsigned char const* tile, int row, int column) {
    constexpr int row_bytes = tile_row_bytes<Width, Column>();
    here.load(tile + row * row_bytes, column);
    rest.load(tile + Rows * row_bytes, row, column);
  }
  template <class... Ts>
  __device__ __forceinline__ auto row_at(pack<Column, Columns...> const& c, int v, i64 position, i64 element, Ts... values) const {
    return rest.row_at(c.rest, v, position, element, values..., here.at(c.first, v, position));
  }
};
template <int V, int Width, int Rows, class... Columns>
__device__ __forceinline__ tile_strip<V, Width, Rows, Columns...> tile_strip_of(pack<Columns...> const&) {
  return {};
}

/// Calls f(data, offset in the tile, row bytes in the tile, index) for every column that is read.
template <int Width, int Rows, class F>
__device__ __forceinline__ void for_each_read(pack<> const&, F const&, int = 0, int = 0) {}
template <int Width, int Rows, class F, class Column, class... Columns>
__device__ __forceinline__ void for_each_read(pack<Column, Columns...> const& c, F const& f, int offset = 0, int index = 0) {
  constexpr int row_bytes = tile_row_bytes<Width, Column>();
  if constexpr (memory_column<Column>)
    f(c.first.data, offset, row_bytes, index);
  for_each_read<Width, Rows>(c.rest, f, offset + Rows * row_bytes, index + 1);
}

/// The tiles of a unit, one after the other: read(k, tile) with the folding threads; the whole block calls it, once. Tile k has
/// rows_of(k) rows, of which the first is first_row + k and the others follow `apart` rows below each other.
template <mixed_plan P, int Width, int Rows, class Columns, class RowsOf, class Read>
__device__ __forceinline__ void read_tiles(Columns const& columns, mixed_cut const& cut, i64 first_row, int apart, i64 first_column,
                                           int width, int tiles, unsigned char* room, RowsOf const& rows_of, Read const& read) {
  constexpr int bytes_per_tile = tile_bytes<Width, Rows>(static_cast<Columns const*>(nullptr));
  if constexpr (P.stages > 0) {
    namespace prim = primitive;
    __shared__ prim::ring_barriers<P.stages> barriers;
    prim::load_ring<P.stages> ring(barriers, room, prim::bulk_bytes::of<u32(bytes_per_tile)>());
    int row_bytes = 0; // as they are read, over all columns
    for_each_read<Width, Rows>(columns, [&](auto const* data, int, int, int) { row_bytes += width * int(sizeof(*data)); });
    ring.run(
        tiles, [&](i64 k) { return prim::bulk_bytes::exactly(i64(rows_of(int(k))) * row_bytes); },
        [&](i64 k, unsigned char* stage, prim::expected& told) {
          int const present = rows_of(int(k));
          for_each_read<Width, Rows>(columns, [&](auto const* data, int offset, int bytes, int index) {
            auto const* from = reinterpret_cast<unsigned char const*>(data + (first_row + k) * cut.row_steps[index] + first_column);
            i64 const step = apart * cut.row_steps[index] * i64(sizeof(*data));
            auto const n = prim::bulk_bytes::exactly(i64(width) * i64(sizeof(*data)));
#pragma unroll 1
            for (int r = 0; r < present; ++r)
              prim::copy(prim::in_shared<unsigned char>(stage + offset + r * bytes), prim::in_global<unsigned char const>(from + r * step), n,
                         told);
          });
        },
        [&](i64 k, unsigned char const* tile) { read(int(k), tile); });
    __syncthreads();
  } else {
#pragma unroll 1
    for (int k = 0; k < tiles; ++k) {
      int const present = rows_of(k);
      for_each_read<Width, Rows>(columns, [&](auto const* data, int offset, int, int index) {
        auto* const to = reinterpret_cast<cuda::std::remove_cvref_t<decltype(*data)>*>(room + offset);
        auto const* from = data + (first_row + k) * cut.row_steps[index] + first_column;
        for (int r = 0; r < present; ++r)
          for (int e = int(threadIdx.x); e < width; e += mixed_threads)
            to[r * Width + e] = from[r * apart * cut.row_steps[index] + e];
      });
      __syncthreads();
      if (threadIdx.x >= 32)
        read(k, static_cast<unsigned char const*>(room));
      __syncthreads();
    }
  }
}

} // namespace tally::inline v0::kernel
