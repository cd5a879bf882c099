// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exact sums among the folds of a thread: what they do beside being stepped, which is to look at a batch before it is added
// and to take it another way when it does not fit. Layer 4. The folds of a program are walked from here, so that
// kernel/leaf.cuh knows nothing of any of it.
#pragma once

#include <tally/kernel/exact.cuh>
#include <tally/kernel/leaf.cuh>

namespace tally::v0::kernel {

/// An exact sum, whose lanes are the window of a thread and the digits of a warp.
template <plan P, class Leaf, int Slot>
  requires exact_monoid<typename Leaf::monoid_type>
struct running_fold<P, Leaf, Slot> {
  using State = typename Leaf::state;
  using M = typename Leaf::monoid_type;
  static constexpr bool spread = false;
  exact_lanes<P, M, Slot> lanes;

  __device__ __forceinline__ explicit running_fold(Leaf const&) {}
  __device__ __forceinline__ void end_row(Leaf const&, int) {}
  template <class Row>
  __device__ __forceinline__ void look_at(Leaf const& l, Row const& r, bool on) {
    typename exact_lanes<P, M, Slot>::look look{lanes};
    l.step(look, 0, on, r);
  }
  /// Adds the elements of a batch whatever they are; each_row(f) calls f(row) for every one of this thread.
  template <class EachRow>
  __device__ __forceinline__ void add_slowly(Leaf const& l, EachRow const& each_row) {
    lanes.add_slowly([&](auto const& f) {
      each_row([&](auto const& r) {
        passing<M, cuda::std::remove_cvref_t<decltype(f)>> in{f};
        l.step(in, 0, true, r);
      });
    });
  }
  __device__ __forceinline__ State close_freely(Leaf const& l) {
    lanes.close();
    lanes.room().template total<P.threads_per_block>();
    return threadIdx.x == 0 ? lanes.room().state() : l.monoid.identity();
  }
};

/// Calls exact(fold, leaf) for every exact sum among the folds of a program and rounding(fold, leaf) for every other.
template <plan P, class Exact, class Rounding>
__device__ __forceinline__ void each_fold(running_folds<P>&, pack<> const&, Exact const&, Rounding const&) {}
template <plan P, class Leaf, class... Leaves, class Exact, class Rounding>
__device__ __forceinline__ void each_fold(running_folds<P, Leaf, Leaves...>& folds, pack<Leaf, Leaves...> const& l, Exact const& exact,
                                          Rounding const& rounding) {
  if constexpr (exact_monoid<typename Leaf::monoid_type>)
    exact(folds.here, l.first);
  else
    rounding(folds.here, l.first);
  each_fold(folds.rest, l.rest, exact, rounding);
}
template <plan P, class... Leaves, class Exact>
__device__ __forceinline__ void each_exact(running_folds<P, Leaves...>& folds, pack<Leaves...> const& l, Exact const& exact) {
  each_fold(folds, l, exact, [](auto&, auto const&) {});
}

/// A row of the batch that exact sums will be asked to add.
template <class Folds, class Leaves, class Row>
__device__ __forceinline__ void look_at(Folds& folds, Leaves const& l, Row const& r, bool on) {
  each_exact(folds, l, [&](auto& fold, auto const& leaf) { fold.look_at(leaf, r, on); });
}
template <class Folds, class Leaves>
__device__ __forceinline__ void look_afresh(Folds& folds, Leaves const& l) {
  each_exact(folds, l, [](auto& fold, auto const&) { fold.lanes.look_afresh(); });
}
/// Whether what has been looked at fits the windows of all exact sums.
template <class Folds, class Leaves>
__device__ __forceinline__ bool all_fit(Folds& folds, Leaves const& l, int elements) {
  bool fit = true;
  each_exact(folds, l, [&](auto& fold, auto const&) {
    bool const here = fold.lanes.fits(elements);
    fit = fit && here;
  });
  return fit;
}
/// Counts a batch that every window has taken.
template <class Folds, class Leaves>
__device__ __forceinline__ void count_added(Folds& folds, Leaves const& l, int elements) {
  each_exact(folds, l, [&](auto& fold, auto const&) { fold.lanes.added += elements; });
}
template <class Folds, class Leaves, class Row>
__device__ __forceinline__ void step_rounding(Folds& folds, Leaves const& l, int k, Row const& r) {
  each_fold(folds, l, [](auto&, auto const&) {}, [&](auto& fold, auto const& leaf) { leaf.step(fold.lanes, k, true, r); });
}
template <class Folds, class Leaves, class EachRow>
__device__ __forceinline__ void add_slowly(Folds& folds, Leaves const& l, EachRow const& each_row) {
  each_exact(folds, l, [&](auto& fold, auto const& leaf) { fold.add_slowly(leaf, each_row); });
}
/// What the warps have added is in their digits.
template <class Folds, class Leaves>
__device__ __forceinline__ void close_in_rooms(Folds& folds, Leaves const& l) {
  each_exact(folds, l, [](auto& fold, auto const&) { fold.lanes.close(); });
}

} // namespace tally::v0::kernel
