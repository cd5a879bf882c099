// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Some bands of a matrix of few columns, the work of one block. Layer 4. A tile has whole rows, one behind the other: those of lane after lane of a band, or of several side by side. A
// thread, or a few neighbours, have a row of a lane, and keep that lane of every column open until the band is done; so an element costs a load from shared memory and a step of each fold.
#pragma once

#include <tally/kernel/mixed_whole.cuh>
#include <tally/kernel/tile.cuh>

namespace tally::v0::kernel {

/// What a block of the route knows of its tiles. A piece of one is the rows of all lanes of one band, rows_of_lane of each.
template <mixed_plan P, class Program>
struct few_columns_unit {
  static constexpr leaf_shape leaf = shape_of<Program>;
  static constexpr few_columns_shape shape{leaf.group, P.few_columns};
  static constexpr int columns = P.few_columns, lanes = leaf.lanes(), band = leaf.elements();
  static constexpr int rows_of_piece = P.rows_of_lane * lanes, pieces = shape.bands_beside(), rows = rows_of_piece * pieces, tiles_of_band = leaf.rows / P.rows_of_lane;
  static constexpr int V = shape.neighbours(), T = shape.threads_of_row(), L = shape.lanes_of_thread(), loads = shape.loads();
  static constexpr int warps_of_band = shape.threads_of_band() / 32;
  static constexpr bool all_load = loads * V * T == columns; ///< else the last load of some threads is of nothing
  static constexpr int bytes_of_tile = tile_bytes<P, columns, rows>(static_cast<typename Program::columns_type const*>(nullptr));
  static constexpr int bytes_beside = all_standing_bytes<P, columns>(static_cast<typename Program::columns_type const*>(nullptr));
};

/// The leaf of the whole that begins at a position of a tile's piece, for fold_leaf_by_warp.
template <mixed_plan P, class Program>
struct leaf_of_piece;
template <mixed_plan P, class... Columns, class... Leaves>
struct leaf_of_piece<P, program<pack<Columns...>, Leaves...>> {
  using unit = few_columns_unit<P, program<pack<Columns...>, Leaves...>>;
  static constexpr int group = unit::leaf.group;
  pack<Columns...> const& columns;
  tile_here tile;
  unsigned char const* standing;
  i64 late; ///< position of an element less its place in the tile

  template <class Row>
  __device__ __forceinline__ void load(Row (&to)[group], i64 e) const {
    load_neighbours(to, e);
  }
  __device__ __forceinline__ auto row_at(i64 e) const {
    group_row<typename Columns::value_type...> one[1];
    load_neighbours(one, e);
    return one[0];
  }

private:
  template <class Row, int N>
  __device__ __forceinline__ void load_neighbours(Row (&to)[N], i64 e) const {
    auto strip = tile_strip_of<tile_values, P, N, unit::columns, unit::rows>(columns);
    if constexpr (P.standing_down != 0 || P.standing_along != 0)
      strip.load(columns, {tile, standing, int(e - late) / unit::columns, 0, int(e - late) % unit::columns, 0}); // neighbours are of one row
    else
      strip.load(columns, {tile, nullptr, 0, 0, int(e - late), 0});
#pragma unroll
    for (int v = 0; v < N; ++v)
      to[v] = strip.row_at(columns, v, e + v, e + v);
  }
};

/// The rows of a lane each that neighbouring threads have, in one fold, as trees over what a thread loads at once.
template <few_columns_shape S, class Leaf>
struct few_columns_rows {
  using M = typename Leaf::monoid_type;
  using State = typename Leaf::state;
  static constexpr int T = S.threads_of_row(), L = S.lanes_of_thread(), loads = S.loads();
  static constexpr int padded() {
    int p = 1;
    while (p < loads)
      p *= 2;
    return p;
  }
  State of[loads][L];
  /// The tree over a row's columns, and the lanes that have none: that of lane p of the threads in the p-th of them.
  __device__ __forceinline__ State close(M const& m, int lane) {
    auto const combine = [&](State const& a, State const& b) { return m.combine(a, b); };
    State const nothing = lanes_t<M, 1>(m).close(m, 0);
    State trees[padded()];
#pragma unroll
    for (int j = 0; j < padded(); ++j)
      if (j < loads) {
        merge_trees(combine, of[j], lane);
        trees[j] = of[j][0];
#pragma unroll
        for (int h = L; h < T; h *= 2)
          trees[j] = combine(trees[j], shuffled_down(trees[j], h));
      } else {
        trees[j] = nothing;
      }
    State s = combine_in_registers(combine, trees);
#pragma unroll
    for (int h = S.neighbours() * T * padded(); h < S.lanes(); h *= 2)
      s = combine(s, nothing);
    return s;
  }
};

/// The same in every fold of a program.
template <few_columns_shape S, class Program>
struct few_columns_rows_of;
template <few_columns_shape S, class Columns, class... Leaves>
struct few_columns_rows_of<S, program<Columns, Leaves...>> {
  using type = pack<few_columns_rows<S, Leaves>...>;
};

/// The lanes of its columns that a thread keeps open while a band is folded.
template <mixed_plan P, class Program>
struct few_columns_lanes;
template <mixed_plan P, class Columns, class... Leaves>
struct few_columns_lanes<P, program<Columns, Leaves...>> {
  using Program = program<Columns, Leaves...>;
  using unit = few_columns_unit<P, Program>;
  static constexpr int open = unit::shape.open_columns(), of_lane = open / unit::L;
  pack<lanes_t<typename Leaves::monoid_type, open>...> running;

  __device__ __forceinline__ explicit few_columns_lanes(Program const& p)
      : running(unpack([](auto const&... l) { return make_pack(lanes_t<typename cuda::std::remove_cvref_t<decltype(l)>::monoid_type, open>(l.monoid)...); }, p.leaves)) {}
  template <class Row>
  __device__ __forceinline__ void step(Program const& p, int lane, int column, bool there, Row const& row) {
    for_each_index<Program::leaf_count>([&](auto i) { get<i>(p.leaves).step(get<i>(running), lane * of_lane + column, there, row); });
  }
  /// The trees over the lanes of the warp: leave(column of this thread, state of fold i, i).
  template <class Leave>
  __device__ __forceinline__ void close(Program const& p, Leave const& leave) const {
    constexpr int apart = unit::T, threads = 32 / apart;
    int const lane = int(threadIdx.x % 32);
    for_each_index<Program::leaf_count>([&](auto i) {
      auto const& m = get<i>(p.leaves).monoid;
      using State = typename nth_t<i, Leaves...>::state;
      auto const combine = [&](State const& a, State const& b) { return m.combine(a, b); };
#pragma unroll
      for (int first = 0; first < of_lane; first += threads) { // as many columns as share the warp's steps
        State s[threads];
#pragma unroll
        for (int c = 0; c < threads; ++c)
          if (first + c < of_lane) {
            State lanes[unit::L];
#pragma unroll
            for (int l = 0; l < unit::L; ++l)
              lanes[l] = get<i>(running).close(m, l * of_lane + first + c);
            s[c] = combine_in_registers(combine, lanes);
          }
#pragma unroll
        for (int h = 1; h < threads; h *= 2)
#pragma unroll
          for (int c = 0; c < threads; c += 2 * h)
            if (first + c < of_lane)
              s[c] = merge_trees(combine, s[c], s[first + c + h < of_lane ? c + h : c], h * apart, lane);
        if (int const c = first + lane / apart; c < of_lane)
          leave(c, s[0], i);
      }
    });
  }
};
template <mixed_plan P, class Columns>
struct few_columns_lanes<P, program<Columns>> {
  __device__ __forceinline__ explicit few_columns_lanes(program<Columns> const&) {}
  template <class Row>
  __device__ __forceinline__ void step(program<Columns> const&, int, int, bool, Row const&) {}
  template <class Leave>
  __device__ __forceinline__ void close(program<Columns> const&, Leave const&) const {}
};

/// The tiles of a unit, one after the other: read(k, tile) with the folding threads; the whole block calls it, once. Rows lie one behind the other in every column, which begins at a multiple
/// of a piece. Whole: all of the unit's bands are.
template <mixed_plan P, bool Whole, class Program, class Read>
__device__ __forceinline__ void read_few_columns(Program const& p, i64 rows, i64 first_band, int bands, unsigned char* room, Read const& read) {
  using unit = few_columns_unit<P, Program>;
  namespace prim = primitive;
  __shared__ prim::ring_barriers<P.stages> barriers;
  prim::load_ring<P.stages> ring(barriers, room, prim::bulk_bytes::of<u32(unit::bytes_of_tile)>());
  auto const for_each_piece = [&](int k, auto const& f) { // f(first byte, place in the tile, bytes)
    int const turn = k / unit::tiles_of_band, strip = k % unit::tiles_of_band;
    for_each_read<P, unit::columns, unit::rows>(p.columns, [&](auto const* data, int offset, int row_bytes, int) {
#pragma unroll 1
      for (int w = 0; w < unit::pieces && turn * unit::pieces + w < bands; ++w) {
        i64 const row = (first_band + turn * unit::pieces + w) * unit::band + strip * unit::rows_of_piece, left = rows - row;
        if (left > 0)
          f(reinterpret_cast<unsigned char const*>(data) + row * row_bytes, offset + w * unit::rows_of_piece * row_bytes,
            (left < unit::rows_of_piece ? int(left) : unit::rows_of_piece) * row_bytes);
      }
    });
  };
  ring.run(
      (bands + unit::pieces - 1) / unit::pieces * unit::tiles_of_band,
      [&](i64 k) {
        i64 all = 0;
        for_each_piece(int(k), [&](unsigned char const*, int, int bytes) { all += bytes / bytes_of_piece * bytes_of_piece; });
        return prim::bulk_bytes::exactly(all);
      },
      [&](i64 k, unsigned char* stage, prim::expected& told) {
        for_each_piece(int(k), [&](unsigned char const* from, int to, int bytes) {
          if (int const pieces = bytes / bytes_of_piece * bytes_of_piece; pieces > 0)
            prim::copy(prim::in_shared<unsigned char>(stage + to), prim::in_global<unsigned char const>(from), prim::bulk_bytes::exactly(pieces), told);
        });
      },
      [&](i64 k, unsigned char* tile) {
        if constexpr (!Whole) { // the last rows may end inside a piece
          bool more = false;
          for_each_piece(int(k), [&](unsigned char const* from, int to, int bytes) {
            int const rest = bytes % bytes_of_piece, b = int(threadIdx.x) - 32;
            more |= rest > 0;
            if (b < rest)
              tile[to + bytes - rest + b] = from[bytes - rest + b];
          });
          if (more)
            folding_threads_meet();
        }
        read(int(k), tile_here{tile, 0, 0});
      });
  __syncthreads();
}

/// Where a folding thread is: in which of the bands that are folded beside each other, which of the neighbours that have a row, and at which of the band's lanes.
template <mixed_plan P, class Program>
struct few_columns_thread {
  using unit = few_columns_unit<P, Program>;
  int const thread = int(threadIdx.x) - 32, lane_of_warp = thread & 31;
  int const beside = thread / unit::shape.threads_of_band(), of_band = thread % unit::shape.threads_of_band();
  int const t = of_band % unit::T, first_lane = of_band / unit::T * unit::L;
};
/// What a tile has: rows from `strip` on of each lane of bands from `first_band` on, as many as are `left` of the unit.
struct few_columns_tile {
  tile_here tile;
  unsigned char const* standing; ///< beside it
  i64 first_band;
  int left, strip;
};

/// The rows of a tile: steps of the columns' open lanes, and row_done(states, row) of each.
template <mixed_plan P, bool Whole, class Program, class Rows, class RowDone>
__device__ __forceinline__ void fold_rows_of_tile(Program const& down, Rows const& along, few_columns_lanes<P, Program>& columns, few_columns_tile const& at, i64 rows_of_matrix,
                                                  few_columns_thread<P, Program> const& own, RowDone const& row_done) {
  using unit = few_columns_unit<P, Program>;
  constexpr int V = unit::V, T = unit::T, L = unit::L, C = unit::columns;
  i64 const first_row = (at.first_band + own.beside) * unit::band + own.first_lane;
  bool const here = unit::pieces == 1 || own.beside < at.left;
#pragma unroll 2
  for (int r = 0; r < P.rows_of_lane; ++r) {
    typename few_columns_rows_of<unit::shape, Rows>::type rows;
#pragma unroll
    for (int l = 0; l < L; ++l) {
      i64 const row = first_row + i64(at.strip + r) * unit::lanes + l;
      bool const there = Whole ? here : here && row < rows_of_matrix;
#pragma unroll
      for (int j = 0; j < unit::loads; ++j) {
        int const first = (j * T + own.t) * V;
        bool const loads = unit::all_load || first < C;
        auto strip_of_row = tile_strip_of<tile_values, P, V, C, unit::rows>(down.columns);
        if (loads)
          strip_of_row.load(down.columns, {at.tile, at.standing, own.beside * unit::rows_of_piece + r * unit::lanes + own.first_lane + l, 0, first, 0});
#pragma unroll
        for (int v = 0; v < V; ++v)
          columns.step(down, l, j * V + v, there && loads, strip_of_row.row_at(down.columns, v, row * C + first + v, row));
        for_each_index<Rows::leaf_count>([&](auto i) {
          auto const& leaf = get<i>(along.leaves);
          using Leaf = cuda::std::remove_cvref_t<decltype(leaf)>;
          lanes_t<typename Leaf::monoid_type, V> running(leaf.monoid);
          typename Leaf::state of[V];
#pragma unroll
          for (int v = 0; v < V; ++v) {
            leaf.step(running, v, loads, strip_of_row.row_at(down.columns, v, row * C + first + v, first + v));
            of[v] = running.close(leaf.monoid, v);
          }
          get<i>(rows).of[j][l] = combine_in_registers([&](auto const& a, auto const& b) { return leaf.monoid.combine(a, b); }, of);
        });
      }
    }
    if constexpr (Rows::leaf_count > 0) {
      typename Rows::states s;
      for_each_index<Rows::leaf_count>([&](auto i) { get<i>(s) = get<i>(rows).close(get<i>(along.leaves).monoid, own.lane_of_warp); });
      if (i64 const row = first_row + i64(at.strip + r) * unit::lanes + own.t; own.t < L && here && (Whole || row < rows_of_matrix))
        row_done(s, row);
    }
  }
}

/// The leaves of the whole that lie in a tile, one a warp: parts of it.
template <mixed_plan P, bool Whole, class Program, class Total, class Parts>
__device__ __forceinline__ void fold_leaves_of_tile(Program const& down, Total const& total, few_columns_tile const& at, i64 elements_of_matrix, few_columns_thread<P, Program> const& own, Parts* parts) {
  using unit = few_columns_unit<P, Program>;
  constexpr int C = unit::columns, leaves_of_piece = unit::rows_of_piece * C / unit::band;
#pragma unroll 1
  for (int i = own.thread / 32; i < leaves_of_piece * unit::pieces; i += mixed_folding_threads / 32) {
    int const piece = i / leaves_of_piece;
    i64 const begin = ((at.first_band + piece) * unit::band + i64(at.strip) * unit::lanes) * C, first = begin + i64(i % leaves_of_piece) * unit::band;
    i64 const left = elements_of_matrix - first;
    if ((unit::pieces > 1 || !Whole) && (left <= 0 || piece >= at.left))
      continue;
    auto const s = fold_leaf_by_warp<unit::leaf.rows, false>(total, leaf_of_piece<P, Program>{down.columns, at.tile, at.standing, begin - i64(piece) * unit::rows_of_piece * C}, first,
                                                             Whole || left >= unit::band ? unit::band : int(left), own.lane_of_warp);
    if (own.lane_of_warp == 0)
      parts[first / unit::band] = s;
  }
}

/// One unit: its bands' columns go to memory as one state each, the leaves of the whole as parts of it, and the answers of its rows home.
template <mixed_plan P, bool Whole, class Program, class Rows, class Total, class Room, class RowDone>
__device__ __forceinline__ void fold_few_columns(Program const& down, Rows const& along, [[maybe_unused]] Total const& total, mixed_cut const& cut, int slot, Room const& to,
                                                 unsigned char* room, RowDone const& row_done) {
  using unit = few_columns_unit<P, Program>;
  using States = typename Program::states;
  constexpr int V = unit::V, T = unit::T, C = unit::columns, warps = mixed_folding_threads / 32;
  i64 const first_band = i64(slot) * cut.bands_of_unit;
  int const bands = cut.bands - first_band < cut.bands_of_unit ? int(cut.bands - first_band) : cut.bands_of_unit;
  few_columns_thread<P, Program> const own;
  unsigned char* const standing = room + P.stages * unit::bytes_of_tile;
  auto* const of_warps = reinterpret_cast<States*>(standing + unit::bytes_beside); // [turn % 2][warp][column]
  auto* const of_bands = of_warps + 2 * warps * C; // [band][column]
  auto const combine = [&](States const& a, States const& b) { return down.combine(a, b); };
  few_columns_lanes<P, Program> columns(down);
  if constexpr (unit::bytes_beside > 0) {
    fill_standing<P, C>(down.columns, cut, 0, 0, C, 0, standing, [](int) { return i64(0); });
    __syncthreads();
  }
  read_few_columns<P, Whole>(down, cut.rows, first_band, bands, room, [&](int k, tile_here const& tile) {
    int const turn = k / unit::tiles_of_band, first_of_turn = turn * unit::pieces;
    few_columns_tile const at{tile, standing, first_band + first_of_turn, bands - first_of_turn, k % unit::tiles_of_band * P.rows_of_lane};
    fold_rows_of_tile<P, Whole>(down, along, columns, at, cut.rows, own, row_done);
    if constexpr (P.whole == whole_from::leaves)
      fold_leaves_of_tile<P, Whole>(down, total, at, cut.rows * C, own, to.parts_of_wholes);
    if constexpr (Program::leaf_count > 0)
      if (k % unit::tiles_of_band == unit::tiles_of_band - 1) {
        States* const met = of_warps + turn % 2 * warps * C; // the others are read until all meet again
        columns.close(down, [&](int c, auto const& s, auto i) {
          if (int const column = (c / V * T + own.t) * V + c % V; unit::all_load || column < C)
            get<i>(met[own.thread / 32 * C + column]) = s;
        });
        folding_threads_meet();
        for (int i = own.thread; i < unit::pieces * C; i += mixed_folding_threads)
          if (int const band = first_of_turn + i / C; band < bands) {
            States s[unit::warps_of_band];
#pragma unroll
            for (int w = 0; w < unit::warps_of_band; ++w)
              s[w] = met[(i / C * unit::warps_of_band + w) * C + i % C];
            of_bands[band * C + i % C] = combine_in_registers(combine, s);
          }
        columns = few_columns_lanes<P, Program>(down);
      }
  });
  if constexpr (Program::leaf_count > 0)
    for (int c = int(threadIdx.x); c < C; c += mixed_threads)
      to.columns[i64(slot) * C + c] = fold_in_order<Program>(combine, bands, [&](int b) { return of_bands[b * C + c]; });
}

} // namespace tally::v0::kernel
