// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lanes of neighbouring columns that a thread folds, one after the other, for the route "mixed". Layer 4. Lanes that are neighbours are merged as they close.
#pragma once

#include <tally/fold/folds.hpp>
#include <tally/fold/tree.hpp>
#include <tally/kernel/even_states.cuh>
#include <tally/kernel/warp_tree.cuh>

namespace tally::v0::kernel {

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

} // namespace tally::v0::kernel
