// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the threads of some blocks walk through all elements of a read by keys: in the order of the source by loads of neighbours, along
// rows whose places follow from each other, or place by place. Layer 4.
#pragma once

#include <tally/fold/groups.hpp>
#include <tally/fold/program.hpp>
#include <tally/kernel/load.cuh>

namespace tally::v0::kernel {

/// How neighbouring elements of one column are loaded: at once, as one that is the same for all, or one by one.
enum class loaded_as { together, same, apart };
template <int V, loaded_as As, class Column>
struct neighbours {
  template <class Offset>
  __device__ __forceinline__ void load(Column const&, Offset const&) {}
  __device__ __forceinline__ auto at(Column const& c, int, i64 position) const { return c.at(position); }
};
template <int V, loaded_as As, memory_column Column>
struct neighbours<V, As, Column> {
  using T = typename Column::value_type;
  static constexpr int bytes = (As == loaded_as::same ? 1 : V) * int(sizeof(T)), of_load = bytes < 16 ? bytes : 16;
  alignas(16) unsigned char held[bytes];
  /// offset(v): where neighbour v is in the column.
  template <class Offset>
  __device__ __forceinline__ void load(Column const& c, Offset const& offset) {
    if constexpr (V == 1 || As != loaded_as::together) {
#pragma unroll
      for (int v = 0; v < bytes / int(sizeof(T)); ++v) {
        T const one = c.data[offset(v)];
        memcpy(held + v * sizeof(T), &one, sizeof one);
      }
    } else {
      auto const* const from = reinterpret_cast<unsigned char const*>(c.data + offset(0));
#pragma unroll
      for (int b = 0; b < bytes; b += of_load)
        load_streaming<of_load>(held + b, from + b);
    }
  }
  __device__ __forceinline__ T at(Column const&, int v, i64) const {
    T one;
    memcpy(&one, held + (As == loaded_as::same ? 0 : v) * sizeof(T), sizeof(T));
    return one;
  }
};

/// Neighbouring elements of all columns; Standing, Apart: the bits of those that are not loaded together.
template <int V, int Standing, int Apart, class... Columns>
struct rows_beside {
  __device__ static constexpr loaded_as how(int c) { return (Standing >> c & 1) != 0 ? loaded_as::same : (Apart >> c & 1) != 0 ? loaded_as::apart : loaded_as::together; }
  template <class Numbers>
  struct parts;
  template <int... I>
  struct parts<index_list<I...>> {
    using type = pack<neighbours<V, how(I), Columns>...>;
  };
  typename parts<indices_up_to<int(sizeof...(Columns))>>::type of;
  /// Loads the columns whose bits are set; offset_of(c, v): where neighbour v is in column c.
  template <u32 Wanted, class OffsetOf>
  __device__ __forceinline__ void load(pack<Columns...> const& columns, OffsetOf const& offset_of) {
    for_each_index<int(sizeof...(Columns))>([&](auto c) {
      if constexpr ((Wanted >> c & 1) != 0)
        get<c>(of).load(get<c>(columns), [&](int v) { return offset_of(int(c), v); });
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

/// Where an element is in the order of the source, or how far two are from each other.
struct place_in_order {
  i64 element;
  __device__ __forceinline__ place_in_order(axes_layout const&, i64 number) : element(number) {}
  __device__ __forceinline__ void move(axes_layout const&, place_in_order const& by) { element += by.element; }
  __device__ __forceinline__ i64 position(axes_layout const&, int neighbour) const { return element + neighbour; }
  __device__ __forceinline__ i64 offset(axes_layout const&, int, int neighbour) const { return element + neighbour; }
};
/// The same along one axis or two; a row has as many elements as there are neighbours, at least.
struct place_on_rows {
  i64 row, in_row;
  __device__ __forceinline__ static grid_axis const& inner(axes_layout const& at) { return at.reduced[at.reduced_axes - 1]; }
  __device__ __forceinline__ static grid_axis const& outer(axes_layout const& at) { return at.reduced[0]; } // with one axis there is one row, 0
  __device__ __forceinline__ place_on_rows(axes_layout const& at, i64 number)
      : row(at.reduced_axes > 1 ? number / inner(at).extent : 0), in_row(number - row * inner(at).extent) {}
  __device__ __forceinline__ void move(axes_layout const& at, place_on_rows const& by) {
    row += by.row;
    in_row += by.in_row;
    if (at.reduced_axes > 1 && in_row >= inner(at).extent) {
      in_row -= inner(at).extent;
      ++row;
    }
  }
  __device__ __forceinline__ i64 position(axes_layout const& at, int neighbour) const {
    return along(at, neighbour, [](grid_axis const& axis) { return axis.position_step; });
  }
  __device__ __forceinline__ i64 offset(axes_layout const& at, int column, int neighbour) const {
    return along(at, neighbour, [=](grid_axis const& axis) { return axis.steps[column]; });
  }

private:
  template <class StepOf>
  __device__ __forceinline__ i64 along(axes_layout const& at, int neighbour, StepOf const& step_of) const {
    bool const on_next = neighbour > 0 && at.reduced_axes > 1 && in_row + neighbour >= inner(at).extent;
    return (row + (on_next ? 1 : 0)) * step_of(outer(at)) + (in_row + neighbour - (on_next ? inner(at).extent : 0)) * step_of(inner(at));
  }
};

/// Says that a walk goes on.
struct to_the_end {
  __device__ __forceinline__ bool operator()() const { return true; }
};
/// A walk of V neighbours a load, U loads in flight, that loads the columns in Wanted; `feed` is given every row, and where it is among
/// the groups; the walk ends early where `more` says no. `feed_load` is given V rows at once, and whether all threads of the block have some. OnRows, Standing,
/// Apart: what the plan says of them.
template <int V, int U, u32 Wanted, class Program, bool OnRows = false, int Standing = 0, int Apart = 0>
struct keyed_walk;
template <int V, int U, u32 Wanted, class... Columns, class... Leaves, bool OnRows, int Standing, int Apart>
struct keyed_walk<V, U, Wanted, program<pack<Columns...>, Leaves...>, OnRows, Standing, Apart> {
  static constexpr int columns = int(sizeof...(Columns));
  program<pack<Columns...>, Leaves...> const& p;
  axes_layout const& at;
  i64 block, blocks; ///< which of how many share the elements: the turn that is taken first, and how many from one to the next
  i64 end = cuda::std::numeric_limits<i64>::max(); ///< of the elements that it takes, in order

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
    i64 const step = tile * U * blocks, whole = at.extent - at.extent % V, begin = tile * U * block + threadIdx.x * V, last = end < at.extent ? end : at.extent;
    using place = cuda::std::conditional_t<OnRows, place_on_rows, place_in_order>;
    place next(at, begin);
    place const to_next(at, tile), to_first(at, step - U * tile);
    for (i64 first = begin; first < last && more(); first += step) {
      bool const whole_turn = first - threadIdx.x * V + tile * U <= whole;
      rows_beside<V, Standing, Apart, Columns...> rows[U];
      place const start = next;
#pragma unroll
      for (int u = 0; u < U; ++u) {
        if (first + u * tile < whole)
          rows[u].template load<Wanted>(p.columns, [&](int c, int v) { return next.offset(at, c, v); });
        next.move(at, to_next);
      }
      place here = start;
#pragma unroll
      for (int u = 0; u < U; ++u) {
        if (first + u * tile < whole)
          feed_load([&](int v) { return rows[u].row_at(p.columns, v, here.position(at, v)); }, whole_turn);
        here.move(at, to_next);
      }
      next.move(at, to_first);
    }
    if constexpr (V > 1)
      if (block == 0 && threadIdx.x < at.extent - whole)
        feed(row_of_number(whole + threadIdx.x));
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
    for (i64 turn = of_turn * block; turn < elements && turn < end; turn += of_turn * blocks)
      for (i64 t = turn + threadIdx.x; t < elements && t < turn + of_turn; t += blockDim.x)
        feed(row_of_number(t));
    if (block == 0 && threadIdx.x < elements % V) // the last ones, which are no whole load
      feed(row_of_number(elements - elements % V + threadIdx.x));
  }
  /// The row that is element number t of all, in the order of groups and their elements.
  __device__ auto row_of_number(i64 t) const {
    i64 const r = t / at.groups;
    grid_place<columns> here = group_origin<columns>(at, t - r * at.groups);
    move_along(here, at.reduced, at.reduced_axes, r);
    return row_at_place(p.columns, here, here.position);
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

} // namespace tally::v0::kernel
