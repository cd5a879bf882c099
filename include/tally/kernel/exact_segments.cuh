// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exact sums of segments that a warp folds alone: in its windows, as a full reduction does, instead of wide integers element by element. Layer 4. A
// translation unit includes it only if a plan says so.
#pragma once

#include <tally/kernel/beside.cuh>
#include <tally/kernel/exact_leaf.cuh>
#include <tally/kernel/exact_thread.cuh>
#include <tally/kernel/near_folds.cuh>
#include <tally/kernel/segments.cuh>

namespace tally::v0::kernel {

/// A leaf of a program whose rows have positions in the source: what a fold calls the position of a row is counted from `first` on.
template <class Leaf>
struct leaf_from : Leaf {
  i64 first;
  template <class Lanes, class... Ts>
  __device__ __forceinline__ void step(Lanes& lanes, int j, bool on, row<Ts...> const& r) const {
    Leaf::step(lanes, j, on, group_row<Ts...>{r.values, r.position, r.position - first});
  }
};

/// The states of a warp, of exact sums from its windows; valid in lane 0.
template <plan P>
__device__ __forceinline__ pack<> states_of_warp(running_folds<P>&, pack<> const&) {
  return {};
}
template <plan P, class Leaf, class... Leaves>
__device__ __forceinline__ pack<typename Leaf::state, typename Leaves::state...> states_of_warp(running_folds<P, Leaf, Leaves...>& folds,
                                                                                             pack<Leaf, Leaves...> const& l) {
  auto const here = [&] {
    if constexpr (exact_monoid<typename Leaf::monoid_type>) {
      auto& lanes = folds.here.lanes;
      lanes.close();
      __syncwarp();
      auto const s = lanes.room().state_of_warp(lanes.warp());
      __syncwarp(); // before the digits are those of another segment
      return s;
    } else {
      auto s = folds.here.close_freely(l.first);
#pragma unroll
      for (int h = 1; h < 32; h *= 2)
        s = l.first.monoid.combine(s, shuffled_down(s, h));
      return s;
    }
  }();
  return {here, states_of_warp(folds.rest, l.rest)};
}

template <segments_plan P, class... Columns, class... Leaves>
struct windows_of<P, program<pack<Columns...>, Leaves...>> {
  using Program = program<pack<Columns...>, Leaves...>;
  static_assert((true && ... && Leaves::monoid_type::law.order_free), "nothing has an order");

  /// The plan of a full reduction of one block of warps, whose elements begin anywhere.
  static constexpr plan of_warp() {
    constexpr leaf_shape shape = shape_of<Program>;
    plan p{};
    p.promise = contract::exact;
    p.order = combine_order::free;
    p.lanes_per_group = shape.group;
    p.rows_per_leaf = shape.rows;
    p.rows_in_flight = P.rows_in_flight;
    p.threads_per_block = P.threads_per_block();
    p.leaves_per_warp = P.leaves_per_part;
    int c = 0;
    ((p.sources[c++] = memory_column<Columns> ? source_choice{load_primitive::striped_ldg, int(sizeof(typename Columns::value_type))}
                                              : source_choice{load_primitive::computed, 0}),
     ...);
    return p;
  }
  /// Leaves [leaf, leaf + count) of a segment of n elements that begins at `begin`.
  __device__ __forceinline__ static typename Program::states fold(Program const& p, i64 begin, i64 n, i64 leaf, int count, int lane) {
    constexpr plan W = of_warp();
    using own_program = program<pack<Columns...>, leaf_from<Leaves>...>;
    own_program const own{unpack([&](auto const&... c) { return make_pack(c.from(begin)...); }, p.columns), n, p.first + begin,
                          unpack([&](auto const&... l) { return make_pack(leaf_from<cuda::std::remove_cvref_t<decltype(l)>>{l, p.first + begin}...); }, p.leaves)};
    running_folds<W, leaf_from<Leaves>...> folds(own.leaves);
    i64 const whole = n / W.elements_per_leaf();
    leaves_of_warp<W, own_program> from(own, leaf, whole);
#pragma unroll 1
    for (int k = 0; k < count; ++k)
      feed_exact_leaf<W>(own, from, k, leaf + k, leaf + k < whole, lane, folds, tables_beside<>(nullptr));
    return states_of_warp(folds, own.leaves);
  }
  /// Whether there are sums of numbers, which are expansions while the numbers lie near each other.
  template <class All>
  static constexpr bool folds_near = take_near_sums<cuda::std::remove_cvref_t<decltype(All::nodes)>, Leaves...>;
  template <class All>
  static constexpr int longest_in_tile = P.tile_elements / (folds_near<All> ? 2 : 4);
  static constexpr bool are_narrow = (0 + ... + (memory_column<Columns> ? int(sizeof(typename Columns::value_type)) : 0)) < 4;
  /// A segment of one part in such sums: false if it was not folded. Of elements of 16 bits windows take less, of others in long segments no more: docs/measured/exact_sums_h200.md.
  template <class All>
  __device__ __forceinline__ static bool fold_near(All const& all, i64 s, i64 begin, i64 n, int lane) {
    if constexpr (folds_near<All> && !are_narrow) {
      if (n > elements_of_part<P, Program>)
        return false;
      constexpr int batch = 8, step = 32 * batch;
      auto const rows = all.rows_from(s, begin);
      struct batch_of_rows {
        decltype(rows.row_at(i64(0))) of[batch];
      };
      int const size = int(n);
      auto const rows_at = [&](int done) {
        batch_of_rows held;
#pragma unroll
        for (int e = 0; e < batch; ++e) {
          int const x = done + 32 * e + lane;
          held.of[e] = rows.row_at(x < size ? x : size - 1);
        }
        return held;
      };
      near_folds<Leaves...> near(all.p.leaves);
      batch_of_rows next = rows_at(0);
#pragma unroll 1
      for (int done = 0; done < size; done += step) {
        batch_of_rows const now = next;
        if (done + step < size)
          next = rows_at(done + step);
        near.template add<batch>([&](int e) { return done + 32 * e + lane < size; }, [&](int e, int) { return now.of[e]; });
      }
      auto const states = near.joined(32);
      if (__any_sync(whole_warp, lane == 0 && near.far()))
        return false;
      if (lane == 0)
        all.answer(states, n, s);
      return true;
    }
    return false;
  }
  /// Segments [s, s + count), `total` elements from element `origin` on, which fit a tile: as many lanes each as there are. Segment s + lane begins at
  /// element x of it and has n elements.
  /// Sums of numbers near each other are expansions, which are quicker; a tile where one is far is folded again in windows.
  template <class All, class Tile>
  __device__ __forceinline__ static void fold_tile(All const& all, Tile& t, i64 s, int count, i64 origin, int total, int x, int n, int lane) {
    constexpr int batch = 8; // of which a tile has no more than one gap
    int const log_lanes = __clz(count - 1) - 27, lanes = 1 << log_lanes;
    int const which = lane >> log_lanes, j = lane & (lanes - 1);
    int const elements = __shfl_sync(whole_warp, n, which), at = __shfl_sync(whole_warp, x, which), mine = which < count ? elements : 0;
    int const longest = __reduce_max_sync(whole_warp, mine);
    all.stage(t, origin, total, lane);
    __syncwarp();
    auto const rows = all.template rows_in<P>(t, s + which, origin + at, at, elements);
    auto const batches = [&](auto const& add) {
#pragma unroll 1
      for (int done = 0; done < longest; done += batch * lanes) {
        int const first = done + batch * j, from = first < mine ? first : -at; // a lane without an element reads what is there and looks at nothing
        add([&](int e) { return first + e < mine; }, [&](int e, int) { return rows.row_near(from, e); });
      }
    };
    if constexpr (folds_near<All>) {
      near_folds<Leaves...> near(all.p.leaves);
      batches([&](auto const& on, auto const& row_at) { near.template add<batch>(on, row_at); });
      auto const states = near.joined(lanes);
      bool const own = j == 0 && which < count;
      if (!__any_sync(whole_warp, own && near.far())) {
        if (own)
          all.answer(states, elements, s + which);
        __syncwarp(); // before the tile is staged again
        return;
      }
    }
    thread_folds<1, Program> folds(all.p.leaves);
    typename thread_folds<1, Program>::in_memory wide{};
    batches([&](auto const& on, auto const& row_at) { folds.template add<batch>(wide, on, row_at, row_at); });
    auto const closed = folds.close(wide);
    typename Program::states states;
    for_each_index<int(sizeof...(Leaves))>([&](auto k) {
      auto const& m = get<k>(all.p.leaves).monoid;
      auto& own = get<k>(states) = get<k>(closed).of[0];
#pragma unroll 1
      for (int h = 1; h < lanes; h *= 2)
        own = m.combine(own, shuffled_down(own, h));
    });
    if (j == 0 && which < count)
      all.answer(states, elements, s + which);
    __syncwarp(); // before the tile is staged again
  }
};

} // namespace tally::v0::kernel
