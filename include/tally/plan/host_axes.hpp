// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The planner of groups along axes on the host: which way of folding takes them. Layer 3. The run asks here, and so does explain. What the types of
// a program rule out is never true of its facts, so that a run is compiled with the other ways alone.
#pragma once

#include <tally/fold/groups.hpp>

namespace tally::v0 {

/// How the elements of a strip lie: the groups beside each other, or the elements of each group, or neither.
enum class strip_lie { groups_together, elements_together, apart };

/// The ways to fold groups along axes, in the order in which they are asked for.
enum class host_axes_route {
  rows,               ///< several groups at once, each as it lies
  columns,            ///< neighbouring groups side by side, a slice of every row as it lies
  in_turn,            ///< a group after another, by the tile loop
  element_by_element, ///< a group after another, without vector loops
  copied,             ///< each group copied, piece by piece, to where the tile loop can take it
  strips              ///< strips of neighbouring groups, one a vector lane
};

/// What decides how groups are folded.
struct host_axes_facts {
  i64 groups, extent;      ///< extent: of one group
  bool has_registers;      ///< the processor has those that vector loops are compiled for
  bool in_rows, in_columns; ///< the numbers of all folds lie so that loops can take them
  bool looks_at_positions; ///< an expression does
  bool elements_together;  ///< those of a group are neighbours in memory
  bool can_be_copied;      ///< every column is read from memory, none made of answers, and nothing looks at positions
  strip_lie lie;
};

namespace planning {
/// Groups that are folded side by side.
inline constexpr int groups_in_strip = 16;
/// Elements from which a group that lies together in memory is folded by the tile loop: for sums of f32 it overtakes strips at one
/// row of lanes (10.1 to 8.6 GB/s at 128 elements, 3.9 to 9.5 at 100). EPYC 9004, one core, 2026-11-20, g++ -O2.
inline constexpr i64 long_group = 128;
/// Groups below which groups that do not lie side by side are copied to where they do, one after the other; and elements from which.
inline constexpr i64 few_groups = 12, copied_group = 1024;

/// Whether groups are folded as they lie: as rows, or one after the other by the tile loop.
constexpr bool folds_rows(host_axes_facts const& f) { return f.has_registers && f.in_rows; }
constexpr bool folds_in_turn(host_axes_facts const& f) { return !f.looks_at_positions && f.extent >= long_group && f.elements_together; }
/// Whether copying groups is worth it.
constexpr bool are_few_and_apart(host_axes_facts const& f) {
  return f.extent >= copied_group && f.groups < few_groups && f.lie == strip_lie::apart;
}

/// Groups that are cut in strips together: where groups lie beside each other those along the innermost axis, so that no strip leaves it.
constexpr i64 groups_of_strips(axes_layout const& at, strip_lie lie) {
  return lie == strip_lie::groups_together ? at.kept[at.kept_axes - 1].extent : at.groups;
}
constexpr i64 strips_of(i64 groups) { return (groups - 1) / groups_in_strip + 1; }
} // namespace planning

/// The way that takes groups of at least one element. Numbers that lie well come first, for they are read at the speed of memory; strips come
/// last, for they take whatever there is.
constexpr host_axes_route choose_host_route(host_axes_facts const& f) {
  if (planning::folds_rows(f))
    return host_axes_route::rows;
  if (f.has_registers && f.in_columns)
    return host_axes_route::columns;
  if (planning::folds_in_turn(f))
    return host_axes_route::in_turn;
  if (!f.has_registers)
    return host_axes_route::element_by_element;
  return f.can_be_copied && planning::are_few_and_apart(f) ? host_axes_route::copied : host_axes_route::strips;
}

} // namespace tally::v0
