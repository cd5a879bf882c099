// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How threads along a group are cut: lanes of a thread, groups of a warp, warps and blocks that share a long group. Layer 3.
#pragma once

#include <tally/plan/axes_across.hpp>

namespace tally::inline v0::planning {

/// Whether every whole leaf lies on one run of the innermost reduced axis, or every row of it does. Several axes
/// take several leaves, and whole ones.
constexpr bool leaves_on_runs(axes_facts const& f, i64 elements) {
  i64 const run = f.at.reduced_axes > 0 ? f.at.reduced[f.at.reduced_axes - 1].extent : 1;
  return f.at.reduced_axes == 1 || (run % elements == 0 && f.at.extent % f.of.elements_per_leaf() == 0 && f.at.extent > f.of.elements_per_leaf());
}
/// Whether any column moves on from element to element of a group.
constexpr bool moves(axes_facts const& f) {
  for (int c = 0; c < f.of.source_count; ++c)
    if (f.of.sources[c].bytes_per_element > 0 && f.element_step(c) != 0)
      return true;
  return false;
}
/// Whether elements of a group are neighbours in every column, as far as a row of a leaf reaches, or the same in all but one: then
/// neighbouring threads take neighbouring elements.
constexpr bool lies_along(axes_facts const& f) {
  return f.at.reduced_axes > 0 && leaves_on_runs(f, i64(32) * f.of.lanes_per_group) &&
         unit_in_all(f, [&](int c) { return f.element_step(c) == 0 && moves(f) ? 1 : f.element_step(c); });
}

/// Leaves of a warp. One, where a state is a word or two: blocks that leave make room for loads of others. More, where handing
/// states over costs.
constexpr i64 leaves_of_a_warp(axes_facts const& f) { return f.of.state_bytes() > 8 ? 4 : 1; }

/// Whether a warp loads two leaves of a long group together.
constexpr bool leaves_together(axes_plan const& p) { return p.route == axes_route::threads_along_group && !p.one_leaf && p.batches > 1; }

/// Threads along a group that must be resident on a multiprocessor, so that how chunks meet, which is rare, does not take registers from
/// the loads, which are not. Fewer where a thread has many loads in flight. H200, 2026-11-22, sums of bf16 of odd rows of several leaves
/// with room for 512 threads and for 1024, us: 5001 195 and 180, 8005 164 and 147, 3001 238 and 195; of one leaf, 1025, 184 and 198.
constexpr int threads_resident_along(axes_plan const& p) {
  return leaves_together(p) || (p.one_leaf && p.realigned != 0) ? 512 : 1024;
}

/// Blocks that must be resident; two at least where warps of a block wait for each other, so that somebody loads meanwhile.
constexpr int choose_residence(axes_facts const& f, axes_plan const& p) {
  if (f.of.state_bytes() > 8)
    return 1;
  bool const along = p.route == axes_route::threads_along_group;
  int const blocks = (along ? threads_resident_along(p) : threads_resident_across(f, p)) / p.threads_per_block();
  int const least = leaves_together(p) ? 2 : 1;
  return blocks < least ? least : blocks > 16 ? 16 : blocks;
}

constexpr void cut_short_groups(axes_facts const& f, axes_plan& p, axes_cut& cut) {
  int const loads = p.rows_in_leaf * (f.of.source_count > 0 ? f.of.source_count : 1);
  p.batches = loads_in_flight / loads < 1 ? 1 : loads_in_flight / loads;
  p.warps_per_group = 1;
  i64 const groups_of_block = i64(p.warps_per_block) * p.threads_across * p.batches;
  cut.sets = (f.at.groups - 1) / groups_of_block + 1;
  cut.chunks = 1;
}

constexpr void cut_long_groups(axes_facts const& f, axes_plan& p, axes_cut& cut) {
  cut.leaves = (f.at.extent - 1) / f.of.elements_per_leaf() + 1;
  cut.leaves_of_warp = leaves_of_a_warp(f);
  p.batches = 1;
  if (cut.leaves > 16 * cut.leaves_of_warp && cut.leaves <= 32 * cut.leaves_of_warp) { // one block after all
    p.batches = cut.leaves_of_warp == 1 && p.realigned == 0 ? 2 : 1;
    cut.leaves_of_warp *= 2;
  }
  i64 const warps = (cut.leaves - 1) / cut.leaves_of_warp + 1;
  p.warps_per_group = int(warps < 16 ? warps : 16);
  p.one_leaf_a_warp = cut.leaves_of_warp == 1;
  p.warps_per_block = p.warps_per_group * (p.warps_per_group < 8 ? 8 / p.warps_per_group : 1);
  cut.sets = (f.at.groups - 1) / (p.warps_per_block / p.warps_per_group) + 1;
  cut.leaves_of_chunk = cut.leaves_of_warp * p.warps_per_group;
  cut.chunks = int((cut.leaves - 1) / cut.leaves_of_chunk + 1);
}

/// Whether two aligned loads of 16 bytes and a shift between registers are quicker than the loads that alignment allows: for eight or more
/// of those a row, and rows enough to hide the shift.
constexpr bool pays_to_realign(axes_facts const& f, axes_plan const& p, int column, int lanes) {
  i64 const size = f.of.sources[column].bytes_per_element;
  return !p.rows_apart && p.rows_in_leaf >= 4 && lanes * size == 16 && (size & (size - 1)) == 0 && p.bytes_per_load[column] <= 2;
}

constexpr void plan_along(axes_facts const& f, axes_plan& p, axes_cut& cut, why_not_list& why) {
  p.route = axes_route::threads_along_group;
  p.rows_apart = !leaves_on_runs(f, f.of.elements_per_leaf());
  int const lanes = int(least_of(f.of.lanes_per_group, p.lanes_in_leaf));
  p.threads_across = 32 / (p.lanes_in_leaf / lanes);
  p.groups_per_thread = 1;
  p.warps_per_block = 8;
  for (int c = 0; c < f.of.source_count; ++c) {
    bool const ragged = f.at.extent % lanes != 0;
    bool const stands = f.element_step(c) == 0;
    i64 const size = f.of.sources[c].bytes_per_element;
    p.bytes_per_load[c] = stands ? int(size) : bytes_per_load(f, c, lanes);
    while (p.bytes_per_load[c] > size && f.at.extent * size % p.bytes_per_load[c] != 0)
      p.bytes_per_load[c] /= 2; // no load reaches behind the end of a group
    if (stands) {
      p.standing |= 1 << c;
      continue;
    }
    if (ragged)
      why.add("vector load along a group", "{0} elements are no multiple of {1}", c, f.at.extent, lanes);
    else if (p.bytes_per_load[c] < least_of(16, lanes * size))
      why.add("vector load along a group", "groups begin at multiples of {0} bytes", c, alignment_in_grid(f, c, loaded_axis::reduced));
    if (pays_to_realign(f, p, c, lanes))
      p.realigned |= 1 << c;
  }
  if (p.one_leaf)
    cut_short_groups(f, p, cut);
  else
    cut_long_groups(f, p, cut);
}

} // namespace tally::inline v0::planning
