// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The planner of groups along axes, as a contents page: from the layout of the groups and the facts of the program to the plan of
// its kernel and the cut of its work. Layer 3. Decisions that are more than a line have a file of their own.
#pragma once

#include <tally/fold/groups.hpp>
#include <tally/plan/axes_plan.hpp>
#include <tally/plan/facts.hpp>
#include <tally/plan/why_not.hpp>

namespace tally::inline v0 {

/// Everything about one read that folds along axes; `of` has the sources, folds and target, and the extent of one group.
struct axes_facts {
  facts of;
  axes_layout at;
  constexpr i64 row_groups() const { return at.kept_axes > 0 ? at.kept[at.kept_axes - 1].extent : 1; }
  /// How far apart neighbouring groups, and neighbouring elements of a group, are in a column.
  constexpr i64 group_step(int column) const { return at.kept_axes > 0 ? at.kept[at.kept_axes - 1].steps[column] : 0; }
  constexpr i64 element_step(int column) const { return at.reduced_axes > 0 ? at.reduced[at.reduced_axes - 1].steps[column] : 0; }
};

/// A plan and the cut of one launch, and what was refused.
struct axes_planned {
  axes_plan plan;
  axes_cut cut;
  why_not_list why_not;
  constexpr i64 blocks() const { return cut.strips * cut.chunks; }
};

namespace planning {

constexpr i64 power_of_two_from(i64 n) {
  i64 p = 1;
  while (p < n)
    p *= 2;
  return p;
}
constexpr i64 least_of(i64 a, i64 b) { return a < b ? a : b; }

/// The largest power of two, at most 16, that divides an address and every step of a column but the unit one, in bytes.
constexpr i64 alignment_in_grid(axes_facts const& f, int column) {
  i64 all = f.of.sources[column].address_alignment;
  auto const meet = [&](grid_axis const& a) {
    i64 const bytes = a.steps[column] * f.of.sources[column].bytes_per_element;
    if (a.steps[column] == 1 || bytes == 0)
      return;
    while (bytes % all != 0)
      all /= 2;
  };
  for (int k = 0; k < f.at.kept_axes; ++k)
    meet(f.at.kept[k]);
  for (int k = 0; k < f.at.reduced_axes; ++k)
    meet(f.at.reduced[k]);
  return all;
}

/// Whether some axis step is one in every column that is read.
template <class Step>
constexpr bool unit_in_all(axes_facts const& f, Step const& step) {
  bool any_read = false;
  for (int c = 0; c < f.of.source_count; ++c)
    if (f.of.sources[c].bytes_per_element > 0) {
      any_read = true;
      if (step(c) != 1)
        return false;
    }
  return any_read;
}

/// Bytes of states that a thread keeps for its neighbouring groups at most: a path of the tree keeps seven times as many.
inline constexpr int state_bytes_beside = 32;

/// Neighbouring groups of a thread: as many as one load of 16 bytes brings, if memory and the size of the states allow it.
constexpr int choose_groups_per_thread(axes_facts const& f, why_not_list& why) {
  if (!unit_in_all(f, [&](int c) { return f.group_step(c); })) {
    why.add("groups beside", "neighbouring groups are not neighbours in every column");
    return 1;
  }
  int groups = f.of.lanes_per_group;
  while (groups > 1 && groups * f.of.state_bytes() > state_bytes_beside)
    groups /= 2;
  if (groups == 1)
    why.add("groups beside", "{0} bytes of state a group fill the registers of a thread", -1, f.of.state_bytes());
  for (int c = 0; c < f.of.source_count; ++c)
    while (groups > 1 && f.of.sources[c].bytes_per_element > 0 &&
           (f.row_groups() % groups != 0 ||
            alignment_in_grid(f, c) < least_of(16, groups * f.of.sources[c].bytes_per_element) ||
            (f.of.sources[c].bytes_per_element & (f.of.sources[c].bytes_per_element - 1)) != 0)) {
      why.add("vector load of neighbouring groups", "rows of {0} groups are aligned to {1} bytes", c, f.row_groups(), alignment_in_grid(f, c));
      groups /= 2;
    }
  return groups;
}

/// Threads of a warp that hold different groups: all, unless groups are few or lie further apart than their elements.
constexpr int choose_threads_across(axes_facts const& f, axes_plan const& p) {
  i64 const along = least_of(32, p.lanes_in_leaf);
  bool const elements_nearer = unit_in_all(f, [&](int c) { return f.element_step(c); });
  i64 const wanted = elements_nearer && p.groups_per_thread == 1 && !unit_in_all(f, [&](int c) { return f.group_step(c); })
                         ? 1
                         : least_of(32, power_of_two_from((f.row_groups() - 1) / p.groups_per_thread + 1));
  return int(wanted < 32 / along ? 32 / along : wanted);
}

/// Warps that share the lanes of a leaf; their states meet in shared memory.
constexpr int choose_warps_on_lanes(axes_facts const& f, axes_plan const& p) {
  if (!f.of.commutative())
    return 1; // rows of a leaf are combined before its rows are, so all lanes must be in one warp
  int warps = 8;
  while (warps > 1 && (warps * p.threads_along() > p.lanes_in_leaf ||
                       i64(warps) * p.groups_per_strip() * ((f.of.state_bytes() + 15) / 16 * 16 + 16 * f.of.fold_count) > 32 * 1024))
    warps /= 2;
  return warps;
}

/// Blocks that a chip is cut for: enough that the last wave is a small part of all.
constexpr i64 blocks_wanted(axes_facts const& f) { return i64(f.of.target.multiprocessors) * 16; }

constexpr axes_cut cut_across(axes_facts const& f, axes_plan const& p) {
  axes_cut c{};
  c.row_groups = f.row_groups();
  c.strips_per_row = (c.row_groups - 1) / p.groups_per_strip() + 1;
  c.strips = f.at.groups / c.row_groups * c.strips_per_row;
  c.leaves = (f.at.extent - 1) / f.of.elements_per_leaf() + 1;
  c.leaves_of_chunk = c.leaves;
  c.chunks = 1;
  if (c.strips < blocks_wanted(f) && c.leaves > 1) {
    c.leaves_of_chunk = 1;
    while ((c.leaves - 1) / c.leaves_of_chunk * c.strips >= blocks_wanted(f))
      c.leaves_of_chunk *= 2;
    c.chunks = int((c.leaves - 1) / c.leaves_of_chunk + 1);
  }
  return c;
}

} // namespace planning

/// Plans one read of at least one group of at least one element.
constexpr axes_planned make_axes_plan(axes_facts const& f) {
  axes_planned out{};
  axes_plan& p = out.plan;
  i64 const lanes = 32 * f.of.lanes_per_group;
  p.route = axes_route::threads_across_groups;
  p.lanes_in_leaf = int(planning::power_of_two_from(planning::least_of(f.at.extent, lanes)));
  p.rows_in_leaf = int(planning::least_of((f.at.extent - 1) / lanes + 1, f.of.rows_per_leaf));
  p.one_leaf = f.at.extent <= f.of.elements_per_leaf();
  p.one_reduced_axis = f.at.reduced_axes <= 1;
  p.one_kept_axis = f.at.kept_axes <= 1;
  p.groups_per_thread = planning::choose_groups_per_thread(f, out.why_not);
  p.threads_across = planning::choose_threads_across(f, p);
  p.warps_per_block = planning::choose_warps_on_lanes(f, p);
  for (int c = 0; c < f.of.source_count; ++c)
    p.bytes_per_load[c] = int(planning::least_of(16, p.groups_per_thread * f.of.sources[c].bytes_per_element));
  out.cut = planning::cut_across(f, p);
  return out;
}

} // namespace tally::inline v0
