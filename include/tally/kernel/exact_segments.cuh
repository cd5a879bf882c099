// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exact sums of segments that a warp folds alone: in its windows, as a full reduction does, instead of wide integers element by element. Layer 4. A
// translation unit includes it only if a plan says so.
#pragma once

#include <tally/kernel/beside.cuh>
#include <tally/kernel/exact_leaf.cuh>
#include <tally/kernel/segments.cuh>

namespace tally::inline v0::kernel {

/// The states of a warp from its windows, in every lane.
template <plan P>
__device__ __forceinline__ pack<> states_of_warp(running_folds<P>&) {
  return {};
}
template <plan P, class Leaf, class... Leaves>
__device__ __forceinline__ pack<typename Leaf::state, typename Leaves::state...> states_of_warp(running_folds<P, Leaf, Leaves...>& folds) {
  auto& lanes = folds.here.lanes;
  lanes.close();
  __syncwarp();
  auto const s = lanes.room().state_of_warp(lanes.warp());
  __syncwarp(); // before the digits are those of another segment
  return {s, states_of_warp(folds.rest)};
}

template <segments_plan P, class... Columns, class... Leaves>
struct windows_of<P, program<pack<Columns...>, Leaves...>> {
  using Program = program<pack<Columns...>, Leaves...>;
  static_assert(only_exact_sums(static_cast<pack<Leaves...> const*>(nullptr)), "a window is of a sum");

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
    Program own = p;
    own.columns = unpack([&](auto const&... c) { return make_pack(c.from(begin)...); }, p.columns);
    own.extent = n;
    own.first = p.first + begin;
    running_folds<W, Leaves...> folds(own.leaves);
    i64 const whole = n / W.elements_per_leaf();
    leaves_of_warp<W, Program> from(own, leaf, whole);
#pragma unroll 1
    for (int k = 0; k < count; ++k)
      feed_exact_leaf<W>(own, from, k, leaf + k, leaf + k < whole, lane, folds, tables_beside<>(nullptr));
    return states_of_warp(folds);
  }
};

} // namespace tally::inline v0::kernel
