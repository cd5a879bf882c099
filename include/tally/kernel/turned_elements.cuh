// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The route "turned elements": elements that are neighbours where they are written lie apart in memory, but not along another axis. Layer 4. A block
// takes a tile of both: neighbouring threads load neighbours along the other axis, each for a few that are written beside each other, and the tile
// goes through shared memory. Rows that begin at multiples of 16 bytes leave it by the bulk engine (protocol::store_rows), others by threads.
#pragma once

#include <tally/kernel/elements.cuh>
#include <tally/primitive/store_rows.cuh>

namespace tally::v0::kernel {

/// A tile of a plan, and where it is: neighbours of a thread lie across, neighbouring threads along the axis that memory follows.
template <axes_plan P, int Columns>
struct turned_tile {
  static constexpr int V = P.groups_per_thread, across = strips_across_tile(P) * V, along = elements_along_tile(P), warps_along = warps_along_tile(P);
  grid_place<Columns> origin{};
  i64 element = 0; ///< that is written first
  i64 apart = 0;   ///< elements that are written between neighbours along
  int rows, row;   ///< that exist along and across
  __device__ __forceinline__ turned_tile(axes_layout const& at, int axis, i64 number) {
    grid_axis const &inner = at.kept[at.kept_axes - 1], &turned = at.kept[axis];
    i64 const of_turned = (turned.extent - 1) / along + 1, of_inner = (inner.extent - 1) / across + 1;
    i64 const first = number % of_turned * along, column = number / of_turned % of_inner * across;
    number = number / of_turned / of_inner;
    i64 step = inner.extent;
    for (int k = at.kept_axes - 2; k >= 0; --k) {
      i64 index = first;
      if (k == axis) {
        apart = step;
      } else {
        index = number % at.kept[k].extent;
        number /= at.kept[k].extent;
      }
      origin.move(at.kept[k], index);
      element += index * step;
      step *= at.kept[k].extent;
    }
    origin.move(inner, column);
    element += column;
    rows = int(turned.extent - first < along ? turned.extent - first : along);
    row = int(inner.extent - column < across ? inner.extent - column : across);
  }
  /// The strip of this thread number b: where it stands along and across.
  __device__ __forceinline__ static int warp_of(int b) { return b * P.warps_per_block + int(threadIdx.x / 32); }
  __device__ __forceinline__ static int along_of(int b) { return warp_of(b) % warps_along * P.threads_along() + int(threadIdx.x) % P.threads_along(); }
  __device__ __forceinline__ static int across_of(int b) {
    return (warp_of(b) / warps_along * P.threads_across + int(threadIdx.x % 32) / P.threads_along()) * V;
  }
  __device__ __forceinline__ int present(int b) const {
    int const left = row - across_of(b);
    return along_of(b) >= rows || left <= 0 ? 0 : left < V ? left : V;
  }
  __device__ __forceinline__ grid_place<Columns> place(axes_layout const& at, int axis, int b) const {
    auto here = origin;
    here.move(at.kept[axis], along_of(b));
    here.move(at.kept[at.kept_axes - 1], across_of(b));
    return here;
  }
  /// Bytes between rows in shared memory, such that threads beside each other write to other banks.
  template <class T>
  static constexpr int pitch = across * int(sizeof(T)) + 16;
};

/// Writes every value of every element.
template <axes_plan P, bool InBulk, class Program, class Values, int... BytesPerStore>
__global__ void __launch_bounds__(P.threads_per_block())
    turned_elements(__grid_constant__ Program const p, __grid_constant__ axes_layout const at, __grid_constant__ Values const values,
                    answer_arrays const to, int const axis) {
  constexpr int V = P.groups_per_thread, B = P.batches, columns = decltype(Program::columns)::size, threads = P.threads_per_block();
  using tile_type = turned_tile<P, columns>;
  alignas(128) __shared__ unsigned char room[tile_type::along * (strips_across_tile(P) * 16 + 16)];
  tile_type const tile(at, axis, blockIdx.x);
  grid_axis const& inner = at.kept[at.kept_axes - 1];
  auto strip = strip_of<P, B, V>(p.columns);
#pragma unroll
  for (int b = 0; b < B; ++b)
    if (tile.present(b) == V)
      strip.load(p.columns, tile.place(at, axis, b), b, inner, V);
  primitive::store_rows<1> ring(room, primitive::bulk_bytes::of<sizeof room>());
  for_each_index<int(sizeof...(BytesPerStore))>([&](auto i) {
    constexpr int store = nth_number<decltype(i)::value, BytesPerStore...>();
    auto const& of = get<i>(values);
    using T = cuda::std::remove_cvref_t<decltype(of.eval(row_at_place(p.columns, tile.origin, i64(0))))>;
    constexpr int pitch = tile_type::template pitch<T>, bytes = V * int(sizeof(T)), at_once = (bytes & (bytes - 1)) == 0 ? bytes : int(sizeof(T));
    T* const out = static_cast<T*>(to.at[i]) + tile.element;
    auto const write = [&](unsigned char* stage) {
#pragma unroll
      for (int b = 0; b < B; ++b) {
        int const present = tile.present(b);
        T* const mine = reinterpret_cast<T*>(stage + tile.along_of(b) * pitch) + tile.across_of(b);
        auto const place = tile.place(at, axis, b);
        if (present == V) {
          T v[V];
#pragma unroll
          for (int k = 0; k < V; ++k)
            v[k] = answers::with_one_nan(of.eval(strip.row_at(p.columns, b, k, place.position + k * inner.position_step, 0)));
          store_neighbours<at_once>(mine, v);
        } else {
          for (int k = 0; k < present; ++k) {
            auto here = place;
            here.move(inner, k);
            mine[k] = answers::with_one_nan(of.eval(row_at_place(p.columns, here, i64(0))));
          }
        }
      }
    };
    if constexpr (InBulk && store == 16) {
      ring.turn(write, [&](unsigned char* stage) {
        if (int const r = int(threadIdx.x); r < tile.rows)
          primitive::copy(primitive::in_global(reinterpret_cast<unsigned char*>(out + r * tile.apart)), primitive::in_shared<unsigned char const>(stage + r * pitch),
                          primitive::bulk_bytes::exactly(i64(tile.row) * i64(sizeof(T))));
      });
    } else {
      if constexpr (InBulk)
        ring.finish(); // an array before may have gone in bulk
      __syncthreads();
      write(room);
      __syncthreads();
      constexpr int piece = store > int(sizeof(T)) ? store : int(sizeof(T)), of_row = tile_type::across * int(sizeof(T)) / piece, beside = of_row < 32 ? of_row : 32;
      int const present = tile.row * int(sizeof(T)) / piece;
      for (int r = int(threadIdx.x) / beside; r < tile.rows; r += threads / beside) {
        unsigned char const* const from = room + r * pitch;
        T* const row = out + r * tile.apart;
#pragma unroll
        for (int q = int(threadIdx.x) % beside; q < of_row; q += beside)
          if (q < present) {
            if constexpr (piece > int(sizeof(T)))
              store_at_once<piece>(reinterpret_cast<unsigned char*>(row) + q * piece, from + q * piece);
            else
              row[q] = reinterpret_cast<T const*>(from)[q];
          }
      }
      __syncthreads();
    }
  });
  if constexpr (InBulk)
    ring.finish();
}

} // namespace tally::v0::kernel
