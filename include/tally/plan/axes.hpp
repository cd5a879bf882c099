// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The planner of groups along axes, as a contents page: from the layout of the groups and the facts of the program to the plan of
// its kernel and the cut of its work. Layer 3.
#pragma once

#include <tally/plan/axes_across.hpp>
#include <tally/plan/axes_along.hpp>

namespace tally::v0 {

/// A plan and the cut of one launch, and what was refused.
struct axes_planned {
  axes_plan plan;
  axes_cut cut;
  why_not_list why_not;
  constexpr i64 blocks() const { return cut.sets * cut.chunks; }
};

/// Plans one read of at least one group of at least one element.
constexpr axes_planned make_axes_plan(axes_facts const& f) {
  axes_planned out{};
  axes_plan& p = out.plan;
  i64 const lanes = 32 * f.of.lanes_per_group;
  p.lanes_in_leaf = int(planning::power_of_two_from(planning::least_of(f.at.extent, lanes)));
  p.rows_in_leaf = int(planning::least_of((f.at.extent - 1) / lanes + 1, f.of.rows_per_leaf));
  p.one_leaf = f.at.extent <= f.of.elements_per_leaf();
  p.extent_fits = f.at.extent == i64(p.lanes_in_leaf) * p.rows_in_leaf;
  p.one_reduced_axis = f.at.reduced_axes <= 1;
  p.one_kept_axis = f.at.kept_axes <= 1;
  p.evicts_first = true;
  p.warps_per_group = p.warps_on_lanes = p.batches = 1;
  p.in_windows = f.of.only_exact_and_free();
  if (planning::lies_along(f) && !p.in_windows) {
    planning::plan_along(f, p, out.cut, out.why_not);
  } else {
    out.why_not.add("threads along a group", p.in_windows ? "exact sums have windows, which a thread keeps over all its leaves"
                                                          : "neighbouring elements of a group are not neighbours in every column");
    planning::plan_across(f, p, out.cut, out.why_not);
  }
  p.blocks_share = out.cut.chunks > 1;
  p.blocks_per_multiprocessor = planning::choose_residence(f, p);
  return out;
}

} // namespace tally::v0
