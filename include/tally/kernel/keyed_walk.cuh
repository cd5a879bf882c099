// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the threads of some blocks walk through all elements of a read by keys: in the order of the source by loads of neighbours, or
// place by place. Layer 4.
#pragma once

#include <tally/fold/groups.hpp>
#include <tally/fold/program.hpp>
#include <tally/kernel/load.cuh>

namespace tally::inline v0::kernel {

/// Neighbouring elements of one column.
template <int V, class Column>
struct neighbours {
  __device__ __forceinline__ void load(Column const&, i64) {}
  __device__ __forceinline__ auto at(Column const& c, int, i64 position) const { return c.at(position); }
};
template <int V, memory_column Column>
struct neighbours<V, Column> {
  using T = typename Column::value_type;
  static constexpr int bytes = V * int(sizeof(T)), of_load = bytes < 16 ? bytes : 16;
  alignas(16) unsigned char held[bytes];
  __device__ __forceinline__ void load(Column const& c, i64 offset) {
    auto const* const from = reinterpret_cast<unsigned char const*>(c.data + offset);
    if constexpr (V == 1) {
      T const one = c.data[offset];
      memcpy(held, &one, sizeof one);
    } else {
#pragma unroll
      for (int b = 0; b < bytes; b += of_load)
        load_streaming<of_load>(held + b, from + b);
    }
  }
  __device__ __forceinline__ T at(Column const&, int v, i64) const {
    T one;
    memcpy(&one, held + v * sizeof(T), sizeof(T));
    return one;
  }
};

/// Neighbouring elements of all columns.
template <int V, class... Columns>
struct rows_beside {
  pack<neighbours<V, Columns>...> of;
  /// Loads the columns whose bits are set.
  template <u32 Wanted, class OffsetOf>
  __device__ __forceinline__ void load(pack<Columns...> const& columns, OffsetOf const& offset_of) {
    for_each_index<int(sizeof...(Columns))>([&](auto c) {
      if constexpr ((Wanted >> c & 1) != 0)
        get<c>(of).load(get<c>(columns), offset_of(int(c)));
    });
  }
  __device__ __forceinline__ auto row_at(pack<Columns...> const& columns, int v, i64 position) const {
    return row_of(columns, v, position, indices_up_to<int(sizeof...(Columns))>{});
  }

private:
  template <int... I>
  __device__ __forceinline__ auto row_of(pack<Columns...> const& columns, int v, i64 position, index_list<I...>) const {
    return group_row<typename Columns::value_type...>{make_pack(get<I>(of).at(get<I>(columns), v, position)...), position, position};
  }
};

/// Says that a walk goes on.
struct to_the_end {
  __device__ __forceinline__ bool operator()() const { return true; }
};
/// A walk of V neighbours a load, U loads in flight, that loads the columns in Wanted; `feed` is given every row, and where it is among
/// the groups; the walk ends early where `more` says no. `feed_load` is given V rows at once, and whether all threads of the block have some.
template <int V, int U, u32 Wanted, class Program>
struct keyed_walk;
template <int V, int U, u32 Wanted, class... Columns, class... Leaves>
struct keyed_walk<V, U, Wanted, program<pack<Columns...>, Leaves...>> {
  static constexpr int columns = int(sizeof...(Columns));
  program<pack<Columns...>, Leaves...> const& p;
  axes_layout const& at;
  i64 block, blocks; ///< which of how many share the elements

  template <class Feed, class More>
  __device__ __forceinline__ void in_order(Feed const& feed, More const& more) const {
    auto const one_by_one = [&](auto const& row_at, bool) {
#pragma unroll
      for (int v = 0; v < V; ++v)
        feed(row_at(v));
    };
    in_order(feed, one_by_one, more);
  }
  template <class Feed, class FeedLoad, class More>
  __device__ __forceinline__ void in_order(Feed const& feed, FeedLoad const& feed_load, More const& more) const {
    i64 const tile = i64(blockDim.x) * V;
    i64 const step = tile * U * blocks, whole = at.extent - at.extent % V;
    for (i64 first = tile * U * block + threadIdx.x * V; first < at.extent && more(); first += step) {
      bool const whole_turn = first - threadIdx.x * V + tile * U <= whole;
      rows_beside<V, Columns...> rows[U];
#pragma unroll
      for (int u = 0; u < U; ++u) {
        i64 const e = first + u * tile;
        if (e < whole)
          rows[u].template load<Wanted>(p.columns, [&](int) { return e; });
      }
#pragma unroll
      for (int u = 0; u < U; ++u) {
        i64 const e = first + u * tile;
        if (e < whole)
          feed_load([&](int v) { return rows[u].row_at(p.columns, v, e + v); }, whole_turn);
      }
    }
    if constexpr (V > 1)
      if (block == 0 && threadIdx.x < at.extent - whole)
        feed(row_at_position(whole + threadIdx.x));
  }
  template <class Feed, class More>
  __device__ __forceinline__ void place_by_place(Feed const& feed, More const& more) const {
    i64 const elements = at.extent * at.groups, step = i64(blockDim.x) * blocks;
    for (i64 t = block * blockDim.x + threadIdx.x; t < elements && more(); t += step) {
      i64 const r = at.groups == 1 ? t : t / at.groups, k = t - r * at.groups;
      grid_place<columns> here = group_origin<columns>(at, k);
      move_along(here, at.reduced, at.reduced_axes, r);
      feed(row_at_place(p.columns, here, here.position), k);
    }
  }
  /// What the block has walked through, whichever way, row by row.
  template <class Feed>
  __device__ void once_more(Feed const& feed) const {
    i64 const elements = at.extent * at.groups, of_turn = i64(blockDim.x) * V * U;
    auto const feed_number = [&](i64 t) {
      i64 const r = t / at.groups;
      grid_place<columns> here = group_origin<columns>(at, t - r * at.groups);
      move_along(here, at.reduced, at.reduced_axes, r);
      feed(row_at_place(p.columns, here, here.position));
    };
    for (i64 turn = of_turn * block; turn < elements; turn += of_turn * blocks)
      for (i64 t = turn + threadIdx.x; t < elements && t < turn + of_turn; t += blockDim.x)
        feed_number(t);
    if (block == 0 && threadIdx.x < elements % V) // the last ones, which are no whole load
      feed_number(elements - elements % V + threadIdx.x);
  }
  /// The row at a position of the source.
  __device__ auto row_at_position(i64 position) const {
    grid_place<columns> here{};
    for (int k = 0; k < at.kept_axes; ++k)
      here.move(at.kept[k], position / at.kept[k].position_step % at.kept[k].extent);
    for (int k = 0; k < at.reduced_axes; ++k)
      here.move(at.reduced[k], position / at.reduced[k].position_step % at.reduced[k].extent);
    return row_at_place(p.columns, here, here.position);
  }
};

} // namespace tally::inline v0::kernel
