// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The route "mixed": columns, rows and total of one matrix in one read, to the bits that each would have alone. Layer 4. Lane l of a
// column's leaf is rows l, l + lanes, ... of a band, so a tile of these rows closes one lane of every column of a chunk, and each of
// its rows is one leaf of a row. A block walks lane after lane; lanes that are neighbours are merged as they close.
#pragma once

#include <tally/fold/folds.hpp>
#include <tally/kernel/answers.cuh>
#include <tally/kernel/beside.cuh>
#include <tally/kernel/even_states.cuh>
#include <tally/kernel/launch_order.cuh>
#include <tally/kernel/leaving.cuh>
#include <tally/kernel/mixed_meeting.cuh>
#include <tally/kernel/mixed_whole.cuh>
#include <tally/kernel/shared_room.cuh>
#include <tally/kernel/tile.cuh>
#include <tally/kernel/warp_tree.cuh>

namespace tally::inline v0::kernel {

/// A fold's states as they are, whatever they hold.
template <class Leaf>
struct plain_states {
  using M = typename Leaf::monoid_type;
  using state = typename Leaf::state;
  __device__ __forceinline__ static state from(M const&, state const& s) { return s; }
  __device__ __forceinline__ static state back(M const&, state const& s, u64) { return s; }
  struct combine {
    M const& m;
    u64 each;
    __device__ __forceinline__ state operator()(state const& a, state const& b, int) const { return m.combine(a, b); }
  };
};
/// How states move where all leaves are whole, and where they may not be.
template <bool Whole, class Leaf>
struct moving_states {
  using type = plain_states<Leaf>;
};
template <class Leaf>
struct moving_states<true, Leaf> {
  using type = even_states<Leaf>;
};
template <bool Whole, class Leaf>
using moving = typename moving_states<Whole, Leaf>::type;

/// The states of V neighbours in one thread.
template <class State, int V>
struct beside {
  State of[V];
};

/// Lanes of neighbouring columns, of Rows elements where they are whole, as they close: kept in registers until their neighbours have.
template <bool Whole, int Rows, int V, class Program>
struct column_lanes;
template <bool Whole, int Rows, int V, class Columns, class... Leaves>
struct column_lanes<Whole, Rows, V, program<Columns, Leaves...>> {
  using Program = program<Columns, Leaves...>;
  using Strips = pack<beside<typename moving<Whole, Leaves>::state, V>...>;
  static constexpr leaf_shape shape = shape_of<Program>;
  level_stack<Strips, levels_of(shape.lanes()), 2> stack; // three of four lanes leave by a branch
  Strips last;

  template <class Row>
  __device__ __forceinline__ void add(Program const& p, int k, Row const& row_of) { // row_of(step) feeds every element of the lane
    auto running = unpack([](auto const&... l) { return make_pack(lanes_t<typename cuda::std::remove_cvref_t<decltype(l)>::monoid_type, V>(l.monoid)...); },
                          p.leaves);
    row_of([&](int v, auto const& row) {
      for_each_index<Program::leaf_count>([&](auto i) { get<i>(p.leaves).step(get<i>(running), v, true, row); });
    });
    for_each_index<Program::leaf_count>([&](auto i) {
      auto const& m = get<i>(p.leaves).monoid;
#pragma unroll
      for (int v = 0; v < V; ++v)
        get<i>(last).of[v] = moving<Whole, nth_t<i, Leaves...>>::from(m, get<i>(running).close(m, v));
    });
    push(p, k);
  }
  /// Lanes from the k-th on have no element, of `lanes`.
  __device__ __forceinline__ void add_nothing(Program const& p, int k, int lanes) {
    Strips nothing;
    for_each_index<Program::leaf_count>([&](auto i) {
      auto const& m = get<i>(p.leaves).monoid;
#pragma unroll
      for (int v = 0; v < V; ++v)
        get<i>(nothing).of[v] = moving<Whole, nth_t<i, Leaves...>>::from(m, m.identity());
    });
    last = stack.root_with(merging(p), k, lanes, nothing);
  }
  /// Column v of this thread, over `lanes` lanes.
  __device__ __forceinline__ typename Program::states of(Program const& p, int v, int lanes) const {
    typename Program::states s;
    for_each_index<Program::leaf_count>([&](auto i) {
      get<i>(s) = moving<Whole, nth_t<i, Leaves...>>::back(get<i>(p.leaves).monoid, get<i>(last).of[v], u64(Rows) * u64(lanes));
    });
    return s;
  }

private:
  __device__ __forceinline__ void push(Program const& p, int k) { last = stack.push(merging(p), k, last); }
  /// Combines the lanes of two subtrees of so many levels.
  __device__ __forceinline__ static auto merging(Program const& p) {
    return [&p](Strips const& left, Strips const& right, int level) {
      Strips out = left;
      for_each_index<Program::leaf_count>([&](auto i) {
        typename moving<Whole, nth_t<i, Leaves...>>::combine const combine{get<i>(p.leaves).monoid, u64(Rows)};
#pragma unroll
        for (int v = 0; v < V; ++v)
          get<i>(out).of[v] = combine(get<i>(left).of[v], get<i>(right).of[v], 1 << level);
      });
      return out;
    };
  }
};

/// No fold of the columns: their elements are only shown.
template <bool Whole, int Rows, int V, class Columns>
struct column_lanes<Whole, Rows, V, program<Columns>> {
  template <class Row>
  __device__ __forceinline__ void add(program<Columns> const&, int, Row const& row_of) {
    row_of([](int, auto const&) {});
  }
};

/// Calls f(i) for all i < count: four without a branch between them, so that what they load is in flight together, as long as there are as many.
template <class F>
__device__ __forceinline__ void for_each_in_fours(int count, F const& f) {
  int i = 0;
#pragma unroll 1
  for (; i + 4 <= count; i += 4)
#pragma unroll
    for (int k = 0; k < 4; ++k)
      f(i + k);
#pragma unroll 1
  for (; i < count; ++i)
    f(i);
}

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

/// The folds of the whole, or none of them.
template <bool All, class Columns, class... Leaves>
__device__ __forceinline__ auto folds_if(program<Columns, Leaves...> const& total) {
  if constexpr (All)
    return total;
  else
    return program<Columns>{total.columns, 0, 0, {}};
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
  unsigned char* const standing = room + P.stages * tile_bytes<P, width, shape.rows>(&down.columns);
  auto* const held = reinterpret_cast<typename Along::states*>(standing + all_standing_bytes<P, width>(&down.columns));
  constexpr i64 held_bytes = Along::leaf_count > 0 ? whole_pieces(width * i64(sizeof(typename Along::states))) : 0;
  [[maybe_unused]] auto* const held_leaves = reinterpret_cast<typename Total::states*>(reinterpret_cast<unsigned char*>(held) + held_bytes);
  column_lanes<Whole, rows_of_lane, V, Program> columns;
  if constexpr ((P.standing_down | P.standing_along) != 0) {
    fill_standing<P, width>(down.columns, cut, matrix, first_column, here, rows_of_lane * cut.lanes_of_unit, standing, [&](int i) {
      int const row = lane + i % cut.lanes_of_unit + i / cut.lanes_of_unit * shape.lanes();
      return row < height ? band + row : i64(-1);
    });
    __syncthreads();
  }
  auto const begin_of_row = [&](i64 row) { return row_of_source<P>(cut, matrix, row) * cut.columns + first_column; };
  auto const of_unit = [&](int k, int r) { return r / Lanes * cut.lanes_of_unit + k * Lanes + r % Lanes; }; // row r of tile k
  auto const rows_of = [&](int k) { return Whole ? shape.rows : in_tile::template among<shape.rows>(height - lane - k * Lanes, shape.lanes()); };
  read_tiles<P, width, shape.rows>(down.columns, cut, matrix, band + lane, shape.lanes(), first_column, here, tiles, room, rows_of,
                                   [&](int k, tile_here const& tile) {
    int const present = rows_of(k);
    i64 const first_row = band + lane + k * Lanes, row_of_warp = first_row + in_tile::behind_first(warp, shape.lanes());
    if constexpr (Along::leaf_count > 0)
      if (Whole || warp < present) {
        auto const s = fold_row_leaf<P, Whole, Own>(along, {tile, standing, warp, warp % Lanes, 0, of_unit(k, warp)}, begin_of_row(row_of_warp), first_column,
                                                    P.whole_of_each ? row_of_warp * cut.columns + first_column : begin_of_row(row_of_warp), here);
        if (thread % 32 == 0)
          held[of_unit(k, warp)] = s;
      }
    if constexpr (P.whole == whole_from::leaves)
      if (Whole || warp < present) {
        i64 const position = begin_of_row(row_of_warp);
        if (i64 const leaf = leaf_that_begins(position, here, width); leaf >= 0) {
          auto const s = fold_begun_leaf<P>(total, down.columns, tile, warp, warp % Lanes, position, here, leaf, matrices_of<P>(cut) * cut.rows * cut.columns,
                                            P.whole_of_each ? matrix * cut.rows * cut.columns : 0);
          if (thread % 32 == 0)
            held_leaves[of_unit(k, warp)] = s;
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
          strip.load(down.columns, {tile, standing, r, l, place_of_thread<P, V>(thread, 0), of_unit(k, r)});
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
  for (int i = thread; (Along::leaf_count > 0 || P.whole == whole_from::leaves) && i < rows_of_lane * cut.lanes_of_unit; i += mixed_folding_threads)
    if (int const of_band = lane + i % cut.lanes_of_unit + i / cut.lanes_of_unit * shape.lanes(); Whole || of_band < height) {
      i64 const row = band + of_band;
      if constexpr (Along::leaf_count > 0)
        to.rows[i64(chunk) * cut.rows + row] = held[i];
      if constexpr (P.whole == whole_from::leaves_of_rows)
        take_states<Own>(to.parts_of_wholes[(matrix * cut.rows + row) * cut.chunks + chunk], held[i]);
      if constexpr (P.whole == whole_from::leaves)
        if (i64 const leaf = leaf_that_begins(begin_of_row(row), here, width); leaf >= 0)
          to.parts_of_wholes[leaf] = held_leaves[i];
    }
  if constexpr (Program::leaf_count > 0) {
    if (!Whole && tiles * Lanes < cut.lanes_of_unit)
      columns.add_nothing(down, tiles * Lanes, cut.lanes_of_unit);
#pragma unroll
    for (int v = 0; v < V; ++v)
      if (int const c = place_of_thread<P, V>(thread, v); Whole || c < here)
        to.columns[i64(slot) * cut.columns + first_column + c] = columns.of(down, v, cut.lanes_of_unit);
  }
}

/// Columns, rows and total of a matrix, as far as their programs have leaves. The result says where the total goes. Keys: folds by key beside them, whose tables are in shared memory behind tiles and rows.
template <mixed_plan P, class Columns, class ColumnNodes, class Rows, class RowNodes, class Total, class Result, class... Keys>
__global__ void __launch_bounds__(mixed_threads, P.blocks_per_multiprocessor)
    mixed(__grid_constant__ Columns const down, __grid_constant__ ColumnNodes const column_nodes, __grid_constant__ Rows const rows,
          __grid_constant__ RowNodes const row_nodes, __grid_constant__ Total const total, __grid_constant__ mixed_cut const cut,
          answer_arrays const to_columns, answer_arrays const to_rows, __grid_constant__ Result const to_total, mixed_places const at,
          [[maybe_unused]] launch_order const order, __grid_constant__ Keys const... keys) {
  static_assert(sizeof...(Keys) == 0 || !P.reads_ahead, "the tables of all are emptied by the launch in front");
  unsigned char* const room = room_of_block();
  tables_beside<Keys...> const tables(room, keys...);
  tables.open();
  constexpr leaf_shape shape = shape_of<Columns>;
  auto const along = beside_each_other(down.columns, rows, folds_if<P.whole != whole_from::leaves>(total));
  using Along = cuda::std::remove_cvref_t<decltype(along)>;
  static_assert(Along::leaf_count > 0 || P.whole == whole_from::leaves || sizeof...(Keys) > 0, "columns alone are folded by threads across groups");
  int const chunk = int(blockIdx.x) % cut.chunks, slot_of_all = int(blockIdx.x) / cut.chunks;
  i64 const matrix = P.batched ? slot_of_all / cut.slots() : 0;
  int const slot = P.batched ? slot_of_all % cut.slots() : slot_of_all;
  auto const room_for = mixed_room<Columns, Along, Total>(cut, at, matrices_of<P>(cut), matrix, P.whole_of_each ? cut.matrices : 1);
  if constexpr (P.reads_ahead)
    begins_ahead(order, P.bytes_per_copy == 0);
  i64 const rows_left = cut.rows - i64(slot / cut.splits) * shape.elements(); // from the first of the band on
  int const lanes_to_end = (slot % cut.splits + 1) * cut.lanes_of_unit;
  if (rows_left >= (shape.rows / P.lanes_of_tile - 1) * shape.lanes() + lanes_to_end && (i64(chunk) + 1) * shape.elements() <= cut.columns)
    fold_unit<P, true, Rows::leaf_count>(down, along, total, cut, matrix, slot, chunk, room_for, room, tables);
  else
    fold_unit<P, false, Rows::leaf_count>(down, along, total, cut, matrix, slot, chunk, room_for, room, tables);
  tables.give();
  slot_meeting const below{slot, cut.slots(), cut.slots_of_group, room_for.column_arrivals + i64(chunk) * (cut.slot_groups() + 1)};
  slot_meeting const beside{chunk, cut.chunks, cut.chunks_of_group, room_for.row_arrivals + i64(slot) * (cut.chunk_groups() + 1)};
  constexpr int meetings = P.whole != whole_from::rows ? 3 : 2;
  arrival comes[meetings] = {below.of_group(), beside.of_group()};
  if constexpr (meetings > 2)
    comes[2] = {room_for.run_arrivals + slot / cut.slots_of_run, cut.slots_of_run * cut.chunks};
  bool last[meetings]{};
  come(comes, last);
  auto const meet_total = [&](int runs) { meet_whole<P>(total, cut, room_for, matrix, runs, room, to_total); };
  if constexpr (Along::leaf_count > 0)
    if (last[1])
      meet_rows<Rows>(along, folds_if<P.whole == whole_from::rows>(total), cut, room_for, beside, slot, matrix * cut.rows,
                      [&](typename Rows::states const& s, i64 row) {
                        if constexpr (Rows::leaf_count > 0)
                          write_answers(rows, row_nodes, s, cut.columns, to_rows, row_of_source<P>(cut, matrix, row));
                      },
                      meet_total);
  if constexpr (Columns::leaf_count > 0)
    if (last[0])
      meet_columns(down, cut, room_for, below, chunk,
                   [&](typename Columns::states s, i64 column) {
                     if constexpr (P.lanes_of_tile > 1)
                       for (int lanes = cut.lanes_of_band; lanes < shape.lanes(); lanes *= 2)
                         s = down.combine(s, down.identity());
                     write_answers(down, column_nodes, s, cut.rows, to_columns, matrix * cut.columns + column);
                   });
  if constexpr (meetings > 2)
    if (last[2])
      meet_total(slot / cut.slots_of_run);
}

} // namespace tally::inline v0::kernel
