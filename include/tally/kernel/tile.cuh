// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile of a matrix in shared memory: the rows of one lane of a band, or of a few where lanes have few rows, a chunk of columns wide, for every column of the
// source that is read. Layer 4. It comes by bulk copies, row by row: of pieces around rows that begin anywhere. Chips
// without a copy engine copy by their threads.
#pragma once

#include <tally/fold/groups.hpp>
#include <tally/fold/tree.hpp>
#include <tally/kernel/arrivals.cuh>
#include <tally/kernel/copy_ahead.cuh>
#include <tally/kernel/load.cuh>
#include <tally/kernel/tile_rows.cuh>
#include <tally/plan/mixed_plan.hpp>
#include <tally/primitive/load_ring.cuh>

namespace tally::v0::kernel {

/// Bytes of one row of a tile in column I of the source: none of a column that stands beside it.
template <mixed_plan P, int I, int Width, class Column>
constexpr int tile_row_bytes() {
  if constexpr (memory_column<Column> && !P.stands_beside(I))
    return (P.stands_along(I) ? 1 : Width) * int(sizeof(typename Column::value_type)) + (P.begins_anywhere ? bytes_of_piece : 0);
  else
    return 0;
}
/// What stands beside tiles of so many columns and rows has places for: the elements of a leaf, or few columns.
template <mixed_plan P>
constexpr int width_of_unit(int width, int rows) {
  return P.few_columns > 0 ? width : width * rows / (mixed_folding_threads / 32);
}
/// Bytes of a column that stands beside the tiles: an element a column of the unit, or a row.
template <mixed_plan P, int I, int Width, class Column>
constexpr int standing_bytes() {
  if constexpr (memory_column<Column> && P.stands_beside(I))
    return int(whole_pieces(Width * i64(sizeof(typename Column::value_type))));
  else
    return 0;
}
/// Bytes of a tile in all columns, and of all columns that stand.
template <mixed_plan P, int Width, int Rows, class... Columns>
constexpr int tile_bytes(pack<Columns...> const*) {
  return []<int... I>(index_list<I...>) { return (0 + ... + (Rows * tile_row_bytes<P, I, Width, Columns>())); }(indices_up_to<int(sizeof...(Columns))>{});
}
template <mixed_plan P, int Width, class... Columns>
constexpr int all_standing_bytes(pack<Columns...> const*) {
  return []<int... I>(index_list<I...>) { return (0 + ... + standing_bytes<P, I, Width, Columns>()); }(indices_up_to<int(sizeof...(Columns))>{});
}

/// A tile as it came. Its first row begins so many bytes behind a piece, 4 bits a column of the source; those of the lane behind each begin as much later again.
struct tile_here {
  unsigned char const* bytes;
  u32 late, later;
  __device__ __forceinline__ int late_of(int column, int lane) const { return int((late >> 4 * column) + u32(lane) * (later >> 4 * column)) & 15; }
};
/// Where a thread's elements are: of one row of a tile, which is one of a lane of it, from a column of it on, which is row `of_unit` of all rows of the unit; and what
/// stands.
struct tile_place {
  tile_here tile;
  unsigned char const* standing;
  int row, lane, column, of_unit;
};

/// The widest load, of 16 bytes at the most, that so many bytes are a multiple of.
constexpr int piece_of(int bytes) { return bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : bytes % 2 == 0 ? 2 : 1; }

/// Which element of a row, or of strips of 32 V of it, a thread has as its v-th of V: neighbours, or, of rows that begin anywhere, every 32nd of a strip.
template <mixed_plan P, int V>
__device__ __forceinline__ int place_of_thread(int thread, int v) {
  return P.begins_anywhere ? thread / 32 * 32 * V + thread % 32 + 32 * v : thread * V + v;
}

/// V elements of one strip of a row of a tile, or the one element that all of them have.
template <mixed_plan P, int I, int V, int Width, class Column>
struct tile_values {
  using T = typename Column::value_type;
  static constexpr bool down = P.stands_down(I), along = P.stands_along(I);
  static constexpr int bytes = memory_column<Column> ? (along ? 1 : V) * int(sizeof(T)) : 1;
  static constexpr int piece = piece_of(bytes);
  alignas(16) unsigned char held[bytes];
  __device__ __forceinline__ void load(Column const&, tile_place const& at) {
    if constexpr (memory_column<Column>) {
      unsigned char const* const from = P.stands_beside(I) ? at.standing + (along ? at.of_unit : at.column) * int(sizeof(T))
                                                           : at.tile.bytes + at.row * tile_row_bytes<P, I, Width, Column>() + (along ? 0 : at.column) * int(sizeof(T));
      constexpr bool apart = P.begins_anywhere && !along; // elements, as far as the threads of a warp
      constexpr int at_once = piece_of(apart ? int(alignof(T)) : bytes);
      unsigned char const* const first = from + (P.begins_anywhere && !P.stands_beside(I) ? at.tile.late_of(I, at.lane) : 0);
#pragma unroll
      for (int b = 0; b < bytes; b += at_once)
        load_shared<at_once>(held + b, first + (apart ? b / int(sizeof(T)) * 31 * int(sizeof(T)) : 0) + b);
    }
  }
  __device__ __forceinline__ T at(Column const& c, int v, i64 position) const {
    if constexpr (memory_column<Column>) {
      T one;
      memcpy(&one, held + (along ? 0 : v) * sizeof(T), sizeof(T));
      return one;
    } else {
      return c.at(position);
    }
  }
};

/// V elements of a strip in all columns, each as Values has them: load(column, place, ...) and at(column, v, position).
template <template <mixed_plan, int, int, int, class> class Values, mixed_plan P, int I, int V, int Width, int Rows, class... Columns>
struct tile_strip;
template <template <mixed_plan, int, int, int, class> class Values, mixed_plan P, int I, int V, int Width, int Rows>
struct tile_strip<Values, P, I, V, Width, Rows> {
  template <class... More>
  __device__ __forceinline__ void load(pack<> const&, tile_place const&, More...) {}
  template <class... Ts>
  __device__ __forceinline__ auto row_at(pack<> const&, int, i64 position, i64 element, Ts... values) const {
    return group_row<Ts...>{make_pack(values...), position, element};
  }
};
template <template <mixed_plan, int, int, int, class> class Values, mixed_plan P, int I, int V, int Width, int Rows, class Column, class... Columns>
struct tile_strip<Values, P, I, V, Width, Rows, Column, Columns...> {
  Values<P, I, V, Width, Column> here;
  tile_strip<Values, P, I + 1, V, Width, Rows, Columns...> rest;
  template <class... More>
  __device__ __forceinline__ void load(pack<Column, Columns...> const& c, tile_place const& at, More... more) {
    here.load(c.first, at, more...);
    rest.load(c.rest, {{at.tile.bytes + Rows * tile_row_bytes<P, I, Width, Column>(), at.tile.late, at.tile.later}, at.standing + standing_bytes<P, I, width_of_unit<P>(Width, Rows), Column>(), at.row, at.lane, at.column, at.of_unit}, more...);
  }
  template <class... Ts>
  __device__ __forceinline__ auto row_at(pack<Column, Columns...> const& c, int v, i64 position, i64 element, Ts... values) const {
    return rest.row_at(c.rest, v, position, element, values..., here.at(c.first, v, position));
  }
};
template <template <mixed_plan, int, int, int, class> class Values, mixed_plan P, int V, int Width, int Rows, class... Columns>
__device__ __forceinline__ tile_strip<Values, P, 0, V, Width, Rows, Columns...> tile_strip_of(pack<Columns...> const&) {
  return {};
}

/// Calls f(data, offset in the tile, row bytes in the tile, index) for every column that tiles hold.
template <mixed_plan P, int Width, int Rows, int I = 0, class F>
__device__ __forceinline__ void for_each_read(pack<> const&, F const&, int = 0) {}
template <mixed_plan P, int Width, int Rows, int I = 0, class F, class Column, class... Columns>
__device__ __forceinline__ void for_each_read(pack<Column, Columns...> const& c, F const& f, int offset = 0) {
  constexpr int row_bytes = tile_row_bytes<P, I, Width, Column>();
  if constexpr (row_bytes > 0)
    f(c.first.data, offset, row_bytes, I);
  for_each_read<P, Width, Rows, I + 1>(c.rest, f, offset + Rows * row_bytes);
}

/// How many matrices there are, which row of the source a row of a matrix is, and how far from the first matrix it begins in column I: numbers where there is one.
template <mixed_plan P>
__device__ __forceinline__ i64 matrices_of(mixed_cut const& cut) {
  return P.batched ? cut.matrices : 1;
}
template <mixed_plan P>
__device__ __forceinline__ i64 row_of_source(mixed_cut const& cut, i64 matrix, i64 row) {
  return P.batched ? cut.row_of_source(matrix, row) : row;
}
template <mixed_plan P>
__device__ __forceinline__ i64 begin_of_matrix(mixed_cut const& cut, i64 matrix, int i) {
  return P.batched ? matrix * cut.matrix_steps[i] : 0;
}

/// Fills what stands beside the tiles of a unit: row_of(i) is the row of its i-th of `rows`, or none of the matrix where that is negative. The whole block
/// calls it.
template <mixed_plan P, int Width, int I = 0, class RowOf>
__device__ __forceinline__ void fill_standing(pack<> const&, mixed_cut const&, i64, i64, int, int, unsigned char*, RowOf const&) {}
template <mixed_plan P, int Width, int I = 0, class RowOf, class Column, class... Columns>
__device__ __forceinline__ void fill_standing(pack<Column, Columns...> const& c, mixed_cut const& cut, i64 matrix, i64 first_column, int width, int rows,
                                              unsigned char* standing, RowOf const& row_of) {
  if constexpr (memory_column<Column> && P.stands_beside(I)) {
    constexpr bool down = P.stands_down(I);
    auto* const to = reinterpret_cast<typename Column::value_type*>(standing);
    auto const* const from = c.first.data + begin_of_matrix<P>(cut, matrix, I);
    for (int i = int(threadIdx.x); i < (down ? width : rows); i += mixed_threads)
      if (i64 const row = down ? 0 : row_of(i); row >= 0)
        to[i] = from[down ? first_column + i : row * cut.row_steps[I]];
  }
  fill_standing<P, Width, I + 1>(c.rest, cut, matrix, first_column, width, rows, standing + standing_bytes<P, I, Width, Column>(), row_of);
}

/// The tiles of a unit, one after the other: read(k, tile) with the folding threads; the whole block calls it, once. Tile k has
/// rows_of(k) rows of Lanes lanes: of every lane the first, then of every lane the second and so on.
template <mixed_plan P, int Width, int Rows, int Lanes, class Columns, class RowsOf, class Read>
__device__ __forceinline__ void read_tiles(Columns const& columns, mixed_cut const& cut, i64 matrix, i64 first_row, lanes_of_tiles const& apart, i64 first_column, int width,
                                           int tiles, unsigned char* room, RowsOf const& rows_of, Read const& read) {
  constexpr int bytes_per_tile = tile_bytes<P, Width, Rows>(static_cast<Columns const*>(nullptr));
  auto const rows_in = [&](auto const* data, int index) {
    i64 const step = cut.row_steps[index], of_matrix = cut.matrix_steps[index], size = i64(sizeof(*data));
    i64 const last = (step > 0 ? (cut.rows - 1) * step : 0) + (P.batched && of_matrix > 0 ? (cut.matrices - 1) * of_matrix : 0);
    return rows_in_column<P.begins_anywhere, Lanes>{reinterpret_cast<unsigned char const*>(data + begin_of_matrix<P>(cut, matrix, index) + first_row * step + first_column), step * size,
                                                    {apart.lane * step * size, apart.tile * step * size, apart.row * step * size}, width * int(size),
                                                    reinterpret_cast<unsigned char const*>(data + last + cut.columns)};
  };
  if constexpr (P.bytes_per_copy == 0) {
    namespace prim = primitive;
    __shared__ prim::ring_barriers<P.stages> barriers;
    u32 late = 0, later_by_tile = 0, later_by_lane = 0;
    bool ends = false; // a row behind whose pieces its column may end
    if constexpr (P.begins_anywhere)
      for_each_read<P, Width, Rows>(columns, [&](auto const* data, int, int, int index) {
        auto const rows = rows_in(data, index);
        late |= rows.late() << 4 * index;
        later_by_tile |= rows.later_by_tile() << 4 * index;
        later_by_lane |= rows.later_by_lane() << 4 * index;
        ends |= (cut.columns - first_column - width) * i64(sizeof(*data)) < bytes_of_piece; // else the pieces end in a row
      });
    constexpr int askers = !P.begins_anywhere && Lanes == P.lanes_of_tile ? 1 : Rows < 32 ? Rows : 32; // pieces are in no uniform register, or rows are many: a thread for each row
    auto const for_each_copy = [&](int k, auto const& f) { // that this thread asks for of tile k
      int const present = rows_of(k);
      for_each_read<P, Width, Rows>(columns, [&](auto const* data, int offset, int bytes, int index) {
        auto const rows = rows_in(data, index);
#pragma unroll 1
        for (int r = askers > 1 ? int(threadIdx.x) : 0; r < present; r += askers)
          f(offset + r * bytes, rows.copy_of(k, r));
      });
    };
    prim::load_ring<P.stages, askers> ring(barriers, room, prim::bulk_bytes::of<u32(bytes_per_tile)>());
    ring.run(
        tiles,
        [&](i64 k) {
          i64 all = 0;
          if constexpr (askers > 1)
            for_each_copy(int(k), [&](int, row_copy const& c) { all += c.bytes; });
          else
            for_each_read<P, Width, Rows>(columns, [&](auto const* data, int, int, int index) { all += i64(rows_of(int(k))) * rows_in(data, index).width; });
          return prim::bulk_bytes::exactly(all);
        },
        [&](i64 k, unsigned char* stage, prim::expected& told) {
          for_each_copy(int(k), [&](int to, row_copy const& c) {
            if (!P.begins_anywhere || c.bytes > 0)
              prim::copy(prim::in_shared<unsigned char>(stage + to), prim::in_global<unsigned char const>(c.from), prim::bulk_bytes::exactly(c.bytes), told);
          });
        },
        [&](i64 k, unsigned char* tile) {
          if (P.begins_anywhere && ends) {
            bool more = false;
            for_each_read<P, Width, Rows>(columns, [&](auto const* data, int offset, int bytes, int index) {
              auto const rows = rows_in(data, index);
              int const r = rows.step > 0 ? rows_of(int(k)) - 1 : 0; // the only one that may be the last of its column
              row_copy const c = rows.copy_of(int(k), r);
              more |= c.rest > 0;
              if (int const b = int(threadIdx.x) - 32; b < c.rest)
                tile[offset + r * bytes + c.bytes + b] = c.from[c.bytes + b];
            });
            if (more)
              folding_threads_meet();
          }
          read(int(k), tile_here{tile, late, later_by_lane});
          late = sums_of_four_bits(late, later_by_tile);
        });
    __syncthreads();
  } else {
    auto const ask_for = [&](int k) {
      int const present = k < tiles ? rows_of(k) : 0;
      unsigned char* const stage = room + k % P.stages * bytes_per_tile;
      for_each_read<P, Width, Rows>(columns, [&](auto const* data, int offset, int bytes, int index) {
        auto const rows = rows_in(data, index);
#pragma unroll 1
        for (int r = 0; r < present; ++r) {
          unsigned char const* const from = rows.copy_of(k, r).from;
          for (int b = int(threadIdx.x) * P.bytes_per_copy; b < rows.width; b += mixed_threads * P.bytes_per_copy)
            copy_ahead<P.bytes_per_copy>(stage + offset + r * bytes + b, from + b);
        }
      });
      close_copies();
    };
    for (int k = 0; k + 1 < P.stages; ++k)
      ask_for(k);
#pragma unroll 1
    for (int k = 0; k < tiles; ++k) {
      ask_for(k + P.stages - 1);
      wait_for_copies<P.stages - 1>();
      __syncthreads();
      if (threadIdx.x >= 32)
        read(k, tile_here{room + k % P.stages * bytes_per_tile, 0, 0});
      __syncthreads();
    }
  }
}

} // namespace tally::v0::kernel
