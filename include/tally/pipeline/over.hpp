// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The grouping over<Axes...>: folds along the named axes, one answer for every index of the others. Layer 2.
#pragma once

#include <tally/pipeline/grid.hpp>
#include <tally/pipeline/grouping.hpp>

namespace tally::v0 {

/// Groups along axes: bit k of Reduced is set where axis k of Rank is folded away.
template <int Rank, u32 Reduced>
struct groups_along_axes {
  static constexpr int rank = Rank;
  static constexpr bool is_reduced(int axis) { return (Reduced >> axis & 1) != 0; }
  static constexpr int kept = [] {
    int n = 0;
    for (int k = 0; k < Rank; ++k)
      n += is_reduced(k) ? 0 : 1;
    return n;
  }();
};

template <class... Folds>
struct reducing;

/// Folds along axes, before it is known what of.
template <class Axes, class... Folds>
struct folded_over;
template <int... Axes, class... Folds>
struct folded_over<index_list<Axes...>, Folds...> {
  using tally_grouping = folded_over;
  pack<Folds...> folds;

  static constexpr u32 reduced = (u32(0) | ... | (Axes >= 0 && Axes < max_axes ? u32(1) << Axes : u32(0)));
  static constexpr bool each_axis_once = [] {
    int n = 0;
    for (int k = 0; k < max_axes; ++k)
      n += int(reduced >> k & 1);
    return n == int(sizeof...(Axes)) && n > 0;
  }();

  constexpr auto const& parts() const { return folds; }
  template <class... Others>
  constexpr auto with_parts(pack<Others...> const& parts) const {
    return folded_over<index_list<Axes...>, Others...>{parts};
  }
  template <class Pipe>
  static constexpr auto judge() {
    constexpr int rank = rank_of<decltype(Pipe::source)>;
    if constexpr (!each_axis_once || detail::max_of(0, Axes...) >= rank)
      return reason<because::over_needs_axes_of_the_source<because::type_of<index_list<Axes...>>, because::there_are<rank>>>{};
    else
      return detail::judge_group_folds<Pipe, Folds...>();
  }
  template <class Out>
  void print_head(Out& out) const {
    out.text("over<");
    int i = 0;
    ((out.text(i++ ? ", " : "").number(Axes)), ...);
    out.text(">(");
  }
  template <class Pipe>
  constexpr auto bind(Pipe const& pipe) const {
    return detail::bind_domain(groups_along_axes<rank_of<std::remove_cvref_t<decltype(pipe.source)>>, reduced>{}, pipe, folds);
  }
};

/// Folds along the named axes (from 0), all in one read: over<0>(sum) of a matrix gives a sum for every column, over<1>(mean, max)
/// the mean and the maximum of every row. Each fold gives an mdarray that has the axes not named, in their order.
template <int... Axes, class... Folds>
constexpr auto over(Folds... folds) {
  return folded_over<index_list<Axes...>, Folds...>{make_pack(folds...)};
}

} // namespace tally::v0
