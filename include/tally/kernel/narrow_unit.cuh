// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A unit of the route "mixed" whose chunk has few columns, and whose rows are all there. Layer 4. Its lanes are split into shares of neighbours: a tile has the rows of one lane
// of every share, a few warps fold those of a share, and the subtrees of the shares meet in the block.
#pragma once

#include <tally/kernel/mixed_unit.cuh>

namespace tally::v0::kernel {

/// What a narrow unit's warps share: of a tile's rows, each has those of one lane, and folds some of them along the row.
template <mixed_plan P, class Program>
struct narrow_shape {
  static constexpr leaf_shape leaf = shape_of<Program>;
  static constexpr int shares = P.shares_of_last_chunk, width = leaf.elements() / shares, rows = leaf.rows * shares, warps = mixed_folding_threads / 32 / shares;
  static constexpr int rows_of_warp = leaf.rows / warps, strips = leaf.rows / shares;
  static constexpr int group = leaf.group;
  static_assert(leaf.rows == mixed_folding_threads / 32, "a warp for each row of a lane");
  static constexpr int lanes_of_row = P.begins_anywhere ? group : 1; ///< neighbouring lanes among which the trees of one row end
  static constexpr int rows_at_once = rows_of_warp < 32 / lanes_of_row ? rows_of_warp : 32 / lanes_of_row;
};

/// Where a row of a tile is, and the position, column and place in the whole of its first element.
struct short_row {
  tile_place at;
  i64 position, column, of_whole;
};
/// The leaves of the rows row_of(0), row_of(1) and so on of a tile, as many as are folded at once: lane n * lanes_of_row has the states of row n.
template <mixed_plan P, int Own, class... Columns, class... Leaves, class RowOf>
__device__ __forceinline__ auto fold_short_rows(program<pack<Columns...>, Leaves...> const& p, int width, RowOf const& row_of) {
  using Program = program<pack<Columns...>, Leaves...>;
  using narrow = narrow_shape<P, Program>;
  constexpr int V = narrow::group, N = narrow::rows_at_once, apart = narrow::lanes_of_row;
  int const lane = int(threadIdx.x % 32);
  pack<typename Leaves::state...> rows[N];
#pragma unroll
  for (int n = 0; n < N; ++n) {
    auto running = unpack([](auto const&... l) { return make_pack(lanes_t<typename cuda::std::remove_cvref_t<decltype(l)>::monoid_type, V>(l.monoid)...); },
                          p.leaves);
    auto const row = row_of(n);
#pragma unroll
    for (int r = 0; r < narrow::strips; ++r) {
      auto strip = tile_strip_of<tile_values, P, V, narrow::width, narrow::rows>(p.columns);
      tile_place at = row.at;
      at.column = r * narrow::leaf.lanes() + place_of_thread<P, V>(lane, 0);
      strip.load(p.columns, at);
#pragma unroll
      for (int v = 0; v < V; ++v)
        for_each_index<int(sizeof...(Leaves))>([&](auto i) {
          int const e = r * narrow::leaf.lanes() + place_of_thread<P, V>(lane, v);
          bool const there = 2 * (r + 1) <= narrow::strips || e < width; // a narrower chunk had more shares
          get<i>(p.leaves).step(get<i>(running), v, there, strip.row_at(p.columns, v, row.position + e, (i < Own ? row.column : row.of_whole) + e));
        });
    }
    for_each_index<int(sizeof...(Leaves))>([&](auto i) {
      auto const& m = get<i>(p.leaves).monoid;
      auto const combine = [&](auto const& a, auto const& b) { return m.combine(a, b); };
      typename nth_t<i, Leaves...>::state of[V];
#pragma unroll
      for (int v = 0; v < V; ++v)
        of[v] = get<i>(running).close(m, v);
      if constexpr (P.begins_anywhere)
        merge_trees(combine, of, lane), get<i>(rows[n]) = of[0]; // each over every 32nd
      else
        get<i>(rows[n]) = combine_in_registers(combine, of);
    });
  }
  typename Program::states s;
  for_each_index<int(sizeof...(Leaves))>([&](auto i) {
    auto const& m = get<i>(p.leaves).monoid;
    auto const combine = [&](auto const& a, auto const& b) { return m.combine(a, b); };
#pragma unroll
    for (int h = 1; h < N; h *= 2)
#pragma unroll
      for (int n = 0; n < N; n += 2 * h)
        get<i>(rows[n]) = merge_trees(combine, get<i>(rows[n]), get<i>(rows[n + h]), h * apart, lane);
    auto tree = finish_trees<N * apart>(combine, get<i>(rows[0]));
#pragma unroll
    for (int h = 1; h < apart; h *= 2)
      tree = combine(tree, shuffled_down(tree, h));
    get<i>(s) = tree;
  });
  return s;
}

/// One unit of few columns, as fold_unit does others.
template <mixed_plan P, int Own, class Program, class Along, class Total, class Room, class Beside>
__device__ __forceinline__ void fold_narrow_unit(Program const& down, Along const& along, [[maybe_unused]] Total const& total, mixed_cut const& cut, i64 matrix, int slot,
                                                 int chunk, Room const& to, unsigned char* room, Beside const& beside) {
  using narrow = narrow_shape<P, Program>;
  constexpr leaf_shape shape = narrow::leaf;
  constexpr int width = shape.elements(), V = shape.group, shares = narrow::shares;
  int const thread = int(threadIdx.x) - 32, warp = thread / 32, share = warp / narrow::warps, of_share = thread - share * narrow::warps * 32, lane_of_warp = thread & 31;
  int const lane = slot % cut.splits * cut.lanes_of_unit, lanes = cut.lanes_of_unit / shares;
  i64 const band = i64(slot / cut.splits) * width, first_column = i64(chunk) * width;
  int const here = int(cut.columns - first_column);
  behind_tiles<P, narrow::width, narrow::rows, Program, Along, Total> const behind(down, room);
  if constexpr ((P.standing_down | P.standing_along) != 0) {
    fill_standing<P, width>(down.columns, cut, matrix, first_column, here, shape.rows * cut.lanes_of_unit, behind.standing,
                            [&](int i) { return band + lane + i % cut.lanes_of_unit + i / cut.lanes_of_unit * shape.lanes(); });
    __syncthreads();
  }
  auto const begin_of_row = [&](i64 row) { return row_of_source<P>(cut, matrix, row) * cut.columns + first_column; };
  column_lanes<true, shape.rows, V, Program> columns;
  read_tiles<P, narrow::width, narrow::rows, shares>(down.columns, cut, matrix, band + lane, {lanes, 1, shape.lanes()}, first_column, here, lanes, room,
                                                     [](int) { return narrow::rows; }, [&](int k, tile_here const& tile) {
    i64 const first_row = band + lane + share * lanes + k;
    auto const place = [&](int i) { return tile_place{tile, behind.standing, i * shares + share, share, 0, i * cut.lanes_of_unit + share * lanes + k}; };
    int const first = warp % narrow::warps * narrow::rows_of_warp;
    if constexpr (Along::leaf_count > 0) {
#pragma unroll
      for (int n = first; n < first + narrow::rows_of_warp; n += narrow::rows_at_once) {
        auto const s = fold_short_rows<P, Own>(along, here, [&](int i) {
          i64 const row = first_row + (n + i) * shape.lanes();
          return short_row{place(n + i), begin_of_row(row), first_column, P.whole_of_each ? row * cut.columns + first_column : begin_of_row(row)};
        });
        if (int const i = lane_of_warp / narrow::lanes_of_row; lane_of_warp % narrow::lanes_of_row == 0 && i < narrow::rows_at_once)
          behind.rows[place(n + i).of_unit] = s;
      }
    }
    if constexpr (P.whole == whole_from::leaves) {
#pragma unroll 1
      for (int i = first; i < first + narrow::rows_of_warp; ++i) {
        i64 const position = begin_of_row(first_row + i * shape.lanes());
        if (i64 const leaf = leaf_that_begins(position, here, width); leaf >= 0) {
          auto const s = fold_begun_leaf<P, narrow::width, narrow::rows>(total, down.columns, tile, place(i).row, share, position, here, leaf,
                                                                          matrices_of<P>(cut) * cut.rows * cut.columns, P.whole_of_each ? matrix * cut.rows * cut.columns : 0);
          if (lane_of_warp == 0)
            behind.leaves[place(i).of_unit] = s;
        }
      }
    }
    columns.add(down, k, [&](auto const& step) {
#pragma unroll
      for (int i = 0; i < shape.rows; ++i) {
        auto strip = tile_strip_of<tile_values, P, V, narrow::width, narrow::rows>(down.columns);
        tile_place at = place(i);
        at.column = place_of_thread<P, V>(of_share, 0);
        strip.load(down.columns, at);
        i64 const row = first_row + i * shape.lanes();
#pragma unroll
        for (int v = 0; v < V; ++v) {
          int const c = place_of_thread<P, V>(of_share, v);
          auto const element = strip.row_at(down.columns, v, begin_of_row(row) + c, row);
          step(v, element);
          if (c < here)
            beside.add(element);
        }
      }
    });
  });
  if constexpr (P.reads_ahead)
    wait_for_launch_in_front();
  if (thread < 0)
    return;
  leave_rows<P, Own, Program>(cut, matrix, slot, chunk, width, here, behind, to);
  if constexpr (Program::leaf_count > 0) {
    using States = typename Program::states;
    static_assert(i64(sizeof(States)) * width <= P.stages * tile_bytes<P, narrow::width, narrow::rows>(static_cast<decltype(&down.columns)>(nullptr)));
    auto* const met = reinterpret_cast<States*>(room); // tiles have been read
#pragma unroll
    for (int v = 0; v < V; ++v)
      met[share * narrow::width + place_of_thread<P, V>(of_share, v)] = columns.of(down, v, lanes);
    folding_threads_meet();
    for (int c = thread; c < here; c += mixed_folding_threads) {
      States s[shares];
#pragma unroll
      for (int i = 0; i < shares; ++i)
        s[i] = met[i * narrow::width + c];
      to.columns[i64(slot) * cut.columns + first_column + c] = combine_in_registers([&](States const& a, States const& b) { return down.combine(a, b); }, s);
    }
  }
}

} // namespace tally::v0::kernel
