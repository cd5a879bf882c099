// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exact sums across groups: a thread folds all leaves of its groups alone, in windows, and nothing is kept along a tree. Layer 4. A translation unit
// includes it only if a plan says so.
#pragma once

#include <tally/kernel/across_groups.cuh>
#include <tally/kernel/exact_thread.cuh>

namespace tally::v0::kernel {

template <axes_plan P, class Columns, class... Leaves>
struct strip_in_windows<P, program<Columns, Leaves...>> {
  using Program = program<Columns, Leaves...>;
  using folds_type = thread_folds<P.groups_per_thread, Program>;
  using in_memory = typename folds_type::in_memory;

  template <bool Whole>
  __device__ __forceinline__ static void feed(Program const& p, axes_layout const& at, strip_thread<P, Program> const& t, i64 start, i64 left, folds_type& folds,
                                              in_memory& wide) {
    constexpr int together = lanes_together<P, Program>, rows = P.rows_in_leaf;
    each_batch<P, together, rows, Whole>(p, at, t, start, left, 0, [&](int, auto const& on, auto const& row_at, auto const& again) {
      folds.template add<together * rows>(
          wide, [&](int e) { return on(e / rows, e % rows); }, [&](int e, int v) { return row_at(e / rows, e % rows, v); },
          [&](int e, int v) { return again(e / rows, e % rows, v); });
    });
  }
  /// Leaves [leaf, end) of this thread's groups; valid in threads with y = 0 and, over all warps, in warp 0.
  __device__ __forceinline__ static auto fold(Program const& p, axes_layout const& at, strip_thread<P, Program> const& t, i64 leaf, i64 end,
                                             typename Program::states* meeting) {
    folds_type folds(p.leaves);
    in_memory wide{};
#pragma unroll 1
    for (; leaf < end; ++leaf) {
      i64 const start = leaf * strip_thread<P, Program>::shape.elements(), left = at.extent - start;
      if (left >= P.lanes_in_leaf * P.rows_in_leaf)
        feed<true>(p, at, t, start, left, folds, wide);
      else
        feed<false>(p, at, t, start, left, folds, wide);
    }
    auto states = folds.close(wide);
    for_each_index<int(sizeof...(Leaves))>([&](auto k) {
      auto const& m = get<k>(p.leaves).monoid;
      combine_beside<cuda::std::remove_cvref_t<decltype(m)>, P.groups_per_thread> const combine{m};
      auto& s = get<k>(states);
#pragma unroll 1
      for (int h = P.threads_across; h < 32; h *= 2)
        s = combine(s, shuffled_down(s, h));
    });
    meet_warps<P>(p, t, states, meeting);
    return states;
  }
};

} // namespace tally::v0::kernel
