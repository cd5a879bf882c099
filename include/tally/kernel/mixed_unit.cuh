// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A unit of the route "mixed", the work of one block. Layer 4. Lane l of a column's leaf is rows l, l + lanes, ... of a band, so a tile of these rows closes one lane of every
// column of a chunk, and each of its rows is one leaf of a row. A block walks lane after lane.
#pragma once

#include <tally/kernel/beside.cuh>
#include <tally/kernel/column_lanes.cuh>
#include <tally/kernel/launch_order.cuh>
#include <tally/kernel/mixed_whole.cuh>
#include <tally/kernel/tile.cuh>

namespace tally::v0::kernel {

/// The leaf of one row: its states in lane 0 of the warp. `Own` folds call their place by its column, the others by that in the whole.
template <mixed_plan P, bool Whole, int Own, class... Columns, class... Leaves>
__device__ __forceinline__ auto fold_row_leaf(program<pack<Columns...>, Leaves...> const& p, tile_place at, i64 position, i64 column, i64 of_whole, int width) {
  using Program = program<pack<Columns...>, Leaves...>;
  constexpr leaf_shape shape = shape_of<Program>;
  constexpr int V = shape.group;
  int const lane = int(threadIdx.x % 32);
  auto running = unpack([](auto const&... l) { return make_pack(lanes_t<typename cuda::std::remove_cvref_t<decltype(l)>::monoid_type, V>(l.monoid)...); },
                        p.leaves);
  auto const add_strip = [&](int r, auto whole) {
    auto strip = tile_strip_of<tile_values, P, V, shape.elements(), shape.rows>(p.columns);
    int const first = r * shape.lanes();
    at.column = first + place_of_thread<P, V>(lane, 0);
    strip.load(p.columns, at);
#pragma unroll
    for (int v = 0; v < V; ++v)
      for_each_index<int(sizeof...(Leaves))>([&](auto i) {
        int const e = first + place_of_thread<P, V>(lane, v);
        get<i>(p.leaves).step(get<i>(running), v, decltype(whole)::value || e < width, strip.row_at(p.columns, v, position + e, (i < Own ? column : of_whole) + e));
      });
  };
  if constexpr (Whole) {
#pragma unroll
    for (int r = 0; r < shape.rows; ++r)
      add_strip(r, cuda::std::true_type{});
  } else {
    for_each_in_fours(width / shape.lanes(), [&](int r) { add_strip(r, cuda::std::true_type{}); });
    if (width % shape.lanes() > 0)
      add_strip(width / shape.lanes(), cuda::std::false_type{});
  }
  typename Program::states s;
  for_each_index<int(sizeof...(Leaves))>([&](auto i) {
    using moves = moving<Whole, nth_t<i, Leaves...>>;
    auto const& m = get<i>(p.leaves).monoid;
    typename nth_t<i, Leaves...>::state of[V];
#pragma unroll
    for (int v = 0; v < V; ++v)
      of[v] = get<i>(running).close(m, v);
    typename moves::state all;
    if constexpr (P.begins_anywhere) {
      typename moves::state trees[V]; // each over 32 neighbours
#pragma unroll
      for (int v = 0; v < V; ++v)
        trees[v] = moves::from(m, of[v]);
      typename moves::combine const within{m, u64(shape.rows)}, between{m, u64(32 * shape.rows)};
      merge_trees(within, trees, lane);
      all = combine_lanes<V>(between, finish_trees<V>(within, trees[0]), V, lane);
    } else {
      typename moves::combine const combine{m, u64(V) * u64(shape.rows)};
      all = finish_trees<1>(combine, moves::from(m, combine_in_registers([&](auto const& a, auto const& b) { return m.combine(a, b); }, of)));
    }
    get<i>(s) = moves::back(m, all, u64(shape.elements()));
  });
  return s;
}

/// What is in shared memory behind the tiles of a unit, of Rows rows of Width elements: what stands, the states of its rows and those of the leaves of the whole that begin in them.
template <mixed_plan P, int Width, int Rows, class Program, class Along, class Total>
struct behind_tiles {
  static constexpr bool folds_rows = Along::leaf_count > 0;
  unsigned char* standing;
  typename Along::states* rows;
  typename Total::states* leaves;
  __device__ __forceinline__ behind_tiles(Program const& down, unsigned char* room) {
    constexpr int width = shape_of<Program>.elements();
    standing = room + P.stages * tile_bytes<P, Width, Rows>(&down.columns);
    unsigned char* const states = standing + all_standing_bytes<P, width>(&down.columns);
    rows = reinterpret_cast<typename Along::states*>(states);
    leaves = reinterpret_cast<typename Total::states*>(states + (folds_rows ? whole_pieces(width * i64(sizeof(typename Along::states))) : 0));
  }
};

/// What a unit leaves in memory of its rows, of a band that has `height`, and of the leaves of the whole that begin in `here` columns of them. The folding threads call it.
template <mixed_plan P, int Own, class Program, class Behind, class Room>
__device__ __forceinline__ void leave_rows(mixed_cut const& cut, i64 matrix, int slot, int chunk, i64 height, [[maybe_unused]] int here, Behind const& behind, Room const& to) {
  constexpr leaf_shape shape = shape_of<Program>;
  constexpr int width = shape.elements(), rows_of_lane = Behind::folds_rows || P.whole == whole_from::leaves ? shape.rows / P.lanes_of_tile : 0;
  int const lane = slot % cut.splits * cut.lanes_of_unit;
  i64 const band = i64(slot / cut.splits) * width;
  for (int i = int(threadIdx.x) - 32; i < rows_of_lane * cut.lanes_of_unit; i += mixed_folding_threads)
    if (int const of_band = lane + i % cut.lanes_of_unit + i / cut.lanes_of_unit * shape.lanes(); of_band < height) {
      i64 const row = band + of_band;
      if constexpr (Behind::folds_rows)
        to.rows[i64(chunk) * cut.rows + row] = behind.rows[i];
      if constexpr (P.whole == whole_from::leaves_of_rows)
        take_states<Own>(to.parts_of_wholes[(matrix * cut.rows + row) * cut.chunks + chunk], behind.rows[i]);
      if constexpr (P.whole == whole_from::leaves)
        if (i64 const leaf = leaf_that_begins(row_of_source<P>(cut, matrix, row) * cut.columns + i64(chunk) * width, here, width); leaf >= 0)
          to.parts_of_wholes[leaf] = behind.leaves[i];
    }
}

/// One unit: the states of its columns and of the leaves of its rows go to memory when its tiles are folded, those of the rows through
/// shared memory: a lane's rows lie far from each other. So do those of the leaves of the whole that begin in them, where they are folded by themselves.
/// Whole: all of its tiles are full.
template <mixed_plan P, bool Whole, int Own, class Program, class Along, class Total, class Room, class Beside>
__device__ __forceinline__ void fold_unit(Program const& down, Along const& along, [[maybe_unused]] Total const& total, mixed_cut const& cut, i64 matrix, int slot, int chunk,
                                          Room const& to, unsigned char* room, Beside const& beside) {
  constexpr leaf_shape shape = shape_of<Program>;
  constexpr int width = shape.elements(), V = width / mixed_folding_threads, Lanes = P.lanes_of_tile, rows_of_lane = shape.rows / Lanes;
  using in_tile = rows_of_lanes<Lanes>;
  int const thread = int(threadIdx.x) - 32, warp = thread / 32;
  int const lane = slot % cut.splits * cut.lanes_of_unit;
  i64 const band = i64(slot / cut.splits) * width, first_column = i64(chunk) * width;
  int const height = Whole ? rows_of_lane * shape.lanes() : int(cut.rows - band < width ? cut.rows - band : width);
  int const here = Whole ? width : int(cut.columns - first_column < width ? cut.columns - first_column : width);
  int const below = (height < shape.lanes() ? height : shape.lanes()) - lane; // lanes from here on that have a row
  int const lanes = Whole ? cut.lanes_of_unit : below < 0 ? 0 : below < cut.lanes_of_unit ? below : cut.lanes_of_unit, tiles = (lanes + Lanes - 1) / Lanes;
  behind_tiles<P, width, shape.rows, Program, Along, Total> const behind(down, room);
  column_lanes<Whole, rows_of_lane, V, Program> columns;
  if constexpr ((P.standing_down | P.standing_along) != 0) {
    fill_standing<P, width>(down.columns, cut, matrix, first_column, here, rows_of_lane * cut.lanes_of_unit, behind.standing, [&](int i) {
      int const row = lane + i % cut.lanes_of_unit + i / cut.lanes_of_unit * shape.lanes();
      return row < height ? band + row : i64(-1);
    });
    __syncthreads();
  }
  auto const begin_of_row = [&](i64 row) { return row_of_source<P>(cut, matrix, row) * cut.columns + first_column; };
  auto const of_unit = [&](int k, int r) { return r / Lanes * cut.lanes_of_unit + k * Lanes + r % Lanes; }; // row r of tile k
  auto const rows_of = [&](int k) { return Whole ? shape.rows : in_tile::template among<shape.rows>(height - lane - k * Lanes, shape.lanes()); };
  read_tiles<P, width, shape.rows, Lanes>(down.columns, cut, matrix, band + lane, {1, Lanes, shape.lanes()}, first_column, here, tiles, room, rows_of,
                                   [&](int k, tile_here const& tile) {
    int const present = rows_of(k);
    i64 const first_row = band + lane + k * Lanes, row_of_warp = first_row + in_tile::behind_first(warp, shape.lanes());
    if constexpr (Along::leaf_count > 0)
      if (Whole || warp < present) {
        auto const s = fold_row_leaf<P, Whole, Own>(along, {tile, behind.standing, warp, warp % Lanes, 0, of_unit(k, warp)}, begin_of_row(row_of_warp), first_column,
                                                    P.whole_of_each ? row_of_warp * cut.columns + first_column : begin_of_row(row_of_warp), here);
        if (thread % 32 == 0)
          behind.rows[of_unit(k, warp)] = s;
      }
    if constexpr (P.whole == whole_from::leaves)
      if (Whole || warp < present) {
        i64 const position = begin_of_row(row_of_warp);
        if (i64 const leaf = leaf_that_begins(position, here, width); leaf >= 0) {
          auto const s = fold_begun_leaf<P, width, shape.rows>(total, down.columns, tile, warp, warp % Lanes, position, here, leaf, matrices_of<P>(cut) * cut.rows * cut.columns,
                                            P.whole_of_each ? matrix * cut.rows * cut.columns : 0);
          if (thread % 32 == 0)
            behind.leaves[of_unit(k, warp)] = s;
        }
      }
    if (!Whole && warp * 32 * V >= here)
      return;
#pragma unroll 2
    for (int l = 0; l < Lanes; ++l)
      columns.add(down, k * Lanes + l, [&](auto const& step) {
        auto const add_row = [&](int i) {
          int const r = i * Lanes + l;
          auto strip = tile_strip_of<tile_values, P, V, width, shape.rows>(down.columns);
          strip.load(down.columns, {tile, behind.standing, r, l, place_of_thread<P, V>(thread, 0), of_unit(k, r)});
          i64 const row = first_row + in_tile::behind_first(r, shape.lanes());
          auto const row_at = [&](int v) { return strip.row_at(down.columns, v, begin_of_row(row) + place_of_thread<P, V>(thread, v), row); };
#pragma unroll
          for (int v = 0; v < V; ++v)
            step(v, row_at(v));
          if constexpr (Whole)
            beside.template add_warp<V>(row_at);
          else
            for (int v = 0; v < V; ++v)
              if (place_of_thread<P, V>(thread, v) < here)
                beside.add(row_at(v));
        };
        if constexpr (Whole) {
#pragma unroll
          for (int i = 0; i < rows_of_lane; ++i)
            add_row(i);
        } else {
          for_each_in_fours((present - l + Lanes - 1) / Lanes, add_row);
        }
      });
  });
  if constexpr (P.reads_ahead)
    wait_for_launch_in_front();
  if (thread < 0)
    return;
  leave_rows<P, Own, Program>(cut, matrix, slot, chunk, Whole ? i64(width) : cut.rows - band, here, behind, to);
  if constexpr (Program::leaf_count > 0) {
    if (!Whole && tiles * Lanes < cut.lanes_of_unit)
      columns.add_nothing(down, tiles * Lanes, cut.lanes_of_unit);
#pragma unroll
    for (int v = 0; v < V; ++v)
      if (int const c = place_of_thread<P, V>(thread, v); Whole || c < here)
        to.columns[i64(slot) * cut.columns + first_column + c] = columns.of(down, v, cut.lanes_of_unit);
  }
}

} // namespace tally::v0::kernel
