// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The whole of a matrix or of a batch, in the read of its rows and columns, made of rows, of their leaves or of its own. Layer 4. A leaf of the whole that begins
// anywhere is folded by the warp whose row of a tile has its first element: what lies behind the tile comes from L2, where another block has it brought or will
// look for it. The parts of a run of rows meet when its last block has come, in groups.
#pragma once

#include <tally/kernel/leaving.cuh>
#include <tally/kernel/mixed_meeting.cuh>
#include <tally/kernel/tile.cuh>
#include <tally/kernel/warp_leaf.cuh>

namespace tally::v0::kernel {

/// V neighbours of the whole in one column, which are at a position: from a tile's row where they lie inside it, else from memory.
template <mixed_plan P, int I, int V, int Width, class Column>
struct begun_values : tile_values<P, I, V, Width, Column> {
  using values = tile_values<P, I, V, Width, Column>;
  static constexpr int piece = values::piece;
  static constexpr bool as_in_memory = P.bytes_per_copy == 0 || P.bytes_per_copy >= piece; ///< what is aligned there is aligned in the tile
  __device__ __forceinline__ void load(Column const& c, tile_place const& at, bool inside, i64 position) {
    if constexpr (memory_column<Column>) {
      unsigned char const* const here = at.tile.bytes + at.row * tile_row_bytes<P, I, Width, Column>() + (P.begins_anywhere ? at.tile.late_of(I, at.lane) : 0) +
                                        at.column * int(sizeof(typename values::T));
      auto const* const there = reinterpret_cast<unsigned char const*>(c.data + position);
#pragma unroll
      for (int b = 0; b < values::bytes; b += piece)
        if (as_in_memory && inside)
          load_shared<piece>(this->held + b, here + b);
        else
          load_read_only<piece>(this->held + b, there + b);
    }
  }
};

/// The elements of a leaf of the whole that begins in a row of a tile of Rows rows of Width, for fold_leaf_by_warp. Columns lie one row behind the other, and where a leaf begins in
/// them is aligned.
template <mixed_plan P, int Width, int Rows, class Program>
struct leaf_begun_in_tile;
template <mixed_plan P, int Width, int Rows, class... Columns, class... Leaves>
struct leaf_begun_in_tile<P, Width, Rows, program<pack<Columns...>, Leaves...>> {
  static constexpr leaf_shape shape = shape_of<program<pack<Columns...>, Leaves...>>;
  static constexpr int group = shape.group;
  pack<Columns...> const& columns;
  tile_here tile;
  int row, lane; ///< of the tile
  i64 position;  ///< of its first element
  int width;     ///< elements it has
  i64 origin;    ///< position of the first element of the whole

  template <class Row>
  __device__ __forceinline__ void load(Row (&to)[group], i64 e) const {
    auto strip = tile_strip_of<begun_values, P, group, Width, Rows>(columns);
    int const in_row = int(e - position);
    strip.load(columns, {tile, nullptr, row, lane, in_row, 0}, in_row + group <= width, e);
#pragma unroll
    for (int v = 0; v < group; ++v)
      to[v] = strip.row_at(columns, v, e + v, e + v - origin);
  }
  __device__ __forceinline__ auto row_at(i64 e) const {
    auto const value = [&](auto const& c) {
      if constexpr (memory_column<cuda::std::remove_cvref_t<decltype(c)>>)
        return c.data[e];
      else
        return c.at(e);
    };
    return unpack([&](auto const&... c) { return group_row<typename Columns::value_type...>{make_pack(value(c)...), e, e - origin}; }, columns);
  }
};

/// The leaf of the whole that begins in `width` elements from a position on, fewer than two of them; -1 for none.
__device__ __forceinline__ i64 leaf_that_begins(i64 position, int width, int elements) {
  i64 const leaf = (position + elements - 1) / elements;
  return leaf * elements < position + width ? leaf : -1;
}

/// Rows of a leaf that a thread loads before it folds them: as many as leave the open lanes of the columns their registers.
template <class Columns>
constexpr int begun_rows_in_flight(leaf_shape shape) {
  int const values = shape.group * (Columns::size > 0 ? Columns::size : 1), fit = values < 32 ? 32 / values : 1;
  int rows = shape.rows;
  while (rows > fit)
    rows /= 2;
  return rows;
}

/// Folds a leaf of a whole that begins at a position, of all that has n elements, with a warp: valid in lane 0.
template <mixed_plan P, int Width, int Rows, class Total, class Columns>
__device__ __forceinline__ typename Total::states fold_begun_leaf(Total const& total, Columns const& columns, tile_here const& tile, int row, int lane, i64 position, int width,
                                                                  i64 leaf, i64 n, i64 origin) {
  constexpr int elements = shape_of<Total>.elements(), rows = begun_rows_in_flight<decltype(Total::columns)>(shape_of<Total>);
  i64 const first = leaf * elements, left = n - first;
  return fold_leaf_by_warp<rows, false>(total, leaf_begun_in_tile<P, Width, Rows, Total>{columns, tile, row, lane, position, width, origin}, first, left < elements ? int(left) : elements,
                                        int(threadIdx.x % 32));
}

/// The parts of the whole that begin in front of a row, of all rows of a batch.
template <mixed_plan P, class Total>
__device__ __forceinline__ i64 parts_before(mixed_cut const& cut, i64 row) {
  constexpr int width = shape_of<Total>.elements();
  return P.whole == whole_from::rows ? row : P.whole == whole_from::leaves_of_rows ? row * cut.chunks : (row * cut.columns + width - 1) / width;
}

/// Groups of parts that a warp loads before it folds one, where there are many: a matrix of few rows has all of its parts in one band.
template <class States>
inline constexpr int groups_in_flight = sizeof(States) <= 4 ? 4 : sizeof(States) <= 8 ? 2 : 1;

/// The trees over groups of parts `group`, `group` + `apart` and so on, Together of them or as many as lie in front of `end`, by a warp.
template <int Together, class Total>
__device__ __forceinline__ void fold_groups_of_parts(Total const& total, typename Total::states const* parts, i64 count, typename Total::states* groups, i64 group, i64 apart, i64 end) {
  using States = typename Total::states;
  constexpr int each = parts_of_group / 32;
  int const lane = int(threadIdx.x % 32);
  auto const combine = [&](States const& a, States const& b) { return total.combine(a, b); };
  States s[Together][each];
#pragma unroll
  for (int g = 0; g < Together; ++g)
    if (i64 const first = (group + g * apart) * parts_of_group; group + g * apart < end)
#pragma unroll
      for (int i = 0; i < each; ++i)
        s[g][i] = parts[first + lane * each + i < count ? first + lane * each + i : count - 1]; // without a branch: all in flight
#pragma unroll
  for (int g = 0; g < Together; ++g)
    if (i64 const at = group + g * apart; at < end) {
      i64 const left = count - at * parts_of_group;
      int const here = left < parts_of_group ? int(left) : parts_of_group, own = here - lane * each;
      States const mine = combine_in_registers(combine, s[g], own < 1 ? 1 : own < each ? own : each);
      States const all = combine_lanes<32>(combine, mine, (here - 1) / each + 1, lane);
      if (lane == 0)
        groups[at] = all;
    }
}

/// Called by the block that came last of a set of runs, when its parts of the whole are in memory: folds the groups of parts that lie in each, and in the last of all
/// sets of that whole those that reach from one run into the next, and the whole.
template <mixed_plan P, class Total, class Room, class Result>
__device__ __forceinline__ void meet_whole(Total const& total, mixed_cut const& cut, Room const& at, i64 matrix, int set, unsigned char* room, Result const& to_total) {
  constexpr int warps = mixed_threads / 32;
  constexpr leaf_shape shape = shape_of<Total>;
  i64 const first_matrix = P.whole_of_each ? matrix : 0, matrices = P.whole_of_each ? 1 : matrices_of<P>(cut), runs = matrices * cut.runs;
  auto const parts_to = [&](i64 run) {
    if constexpr (P.batched)
      return parts_before<P, Total>(cut, (first_matrix + run / cut.runs) * cut.rows + run % cut.runs * cut.rows_of_run);
    i64 const row = run * cut.rows_of_run;
    return parts_before<P, Total>(cut, row < cut.rows ? row : cut.rows);
  };
  i64 const begin = parts_to(0), count = parts_to(runs) - begin;
  int const warp = int(threadIdx.x) / 32;
  auto const fold_groups = [&]<int Together>(cuda::std::integral_constant<int, Together>, i64 first, i64 last) {
#pragma unroll 1
    for (i64 g = first; g < last; g += warps * Together)
      fold_groups_of_parts<Together>(total, at.parts_of_wholes + begin, count, at.groups_of_whole, g, warps, last);
  };
  constexpr cuda::std::integral_constant<int, 1> one{};
  constexpr cuda::std::integral_constant<int, groups_in_flight<typename Total::states>> some{};
  int const sets_of_band = cut.splits / cut.slots_of_run;
  int const apart = shape.lanes() / cut.rows_of_run, of_set = apart > 0 ? shape.rows : 1;
#pragma unroll 1
  for (int i = 0; i < of_set; ++i) {
    i64 const run = apart > 0 ? i64(set / sets_of_band) * (shape.elements() / cut.rows_of_run) + set % sets_of_band + i * apart : set;
    if (run >= cut.runs)
      break;
    i64 const of_whole = (matrix - first_matrix) * cut.runs + run, end = parts_to(of_whole + 1) - begin;
    i64 const last = end < count ? end / parts_of_group : cut.groups_of_whole;
    i64 const first = (parts_to(of_whole) - begin + parts_of_group - 1) / parts_of_group + warp;
    if (last - first > warps) // what is fetched to run once costs more than it saves
      fold_groups(some, first, last);
    else
      fold_groups(one, first, last);
  }
  if (!comes_last({at.last_arrival, int(matrices * cut.sets_of_runs())}))
    return;
  for (i64 run = 1 + warp; run < runs; run += warps)
    if (i64 const part = parts_to(run) - begin, group = part / parts_of_group; part % parts_of_group != 0 && (run + 1 == runs || (parts_to(run + 1) - begin) / parts_of_group > group))
      fold_groups(one, group, group + 1); // the last run that begins in it
  auto const all = fold_with_block(total, at.groups_of_whole, cut.groups_of_whole, room);
  if (threadIdx.x == 0)
    leaving<Result>::leave(total, all, to_total, first_matrix);
}

} // namespace tally::v0::kernel
