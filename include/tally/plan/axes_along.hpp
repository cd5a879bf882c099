// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How threads along a group are cut: lanes of a thread, groups of a warp, warps and blocks that share a long group. Layer 3.
#pragma once

#include <tally/plan/axes_across.hpp>

namespace tally::v0::planning {

/// Whether every whole leaf lies on one run of the innermost reduced axis, or every row of it does. Several axes
/// take several leaves, and whole ones.
constexpr bool leaves_on_runs(axes_facts const& f, i64 elements) {
  i64 const run = f.at.reduced_axes > 0 ? f.at.reduced[f.at.reduced_axes - 1].extent : 1;
  return f.at.reduced_axes == 1 || (run % elements == 0 && f.at.extent % f.of.elements_per_leaf() == 0 && f.at.extent > f.of.elements_per_leaf());
}
/// Whether the elements of a thread, neighbours in a row of a leaf, lie on one run or on two, and there is most of a row for every thread: two axes, runs of
/// at least a sector of memory.
constexpr bool threads_on_runs(axes_facts const& f) {
  if (f.at.reduced_axes != 2 || f.at.extent <= f.of.elements_per_leaf() / 4)
    return false;
  i64 const run = f.at.reduced[1].extent;
  for (int c = 0; c < f.of.source_count; ++c)
    if (i64 const size = f.of.sources[c].bytes_per_element; size > 0 && run * size < 32)
      return false;
  return run >= f.of.lanes_per_group && run <= 1 << 30;
}
/// Whether elements of a group are neighbours in every column, as far as a row of a leaf or what a thread has of it reaches, or the same:
/// then neighbouring threads take neighbouring elements.
constexpr bool lies_along(axes_facts const& f) {
  return f.at.reduced_axes > 0 && (leaves_on_runs(f, i64(32) * f.of.lanes_per_group) || threads_on_runs(f)) &&
         unit_or_same(f, [&](int c) { return f.element_step(c); });
}

/// Registers of a thread that a leaf fills while it is loaded: every element that is loaded by itself has one.
constexpr i64 registers_of_leaf(axes_facts const& f, axes_plan const& p) {
  i64 of_row = 0;
  for (int c = 0; c < f.of.source_count; ++c) {
    i64 const size = f.of.sources[c].bytes_per_element;
    bool const by_itself = size < 4 && p.bytes_per_load[c] < 4 && (p.realigned >> c & 1) == 0;
    of_row += size == 0 ? 0 : (p.standing >> c & 1) != 0 ? 1 : by_itself ? f.of.lanes_per_group : f.of.lanes_per_group * size / 4;
  }
  return of_row * p.rows_in_leaf;
}
/// Whether that is more than one column of 16 bytes a row and what stands beside it. Then registers have room for half as many threads, or what is in flight
/// is spilled, and a group of 16 leaves has 8 warps. H100, 2026-11-26 11:53, rows times an operand with room for 512, 768 and 1024 threads, us: f32 16383 x
/// 16383 371, 475, 492 (16 warps 379, 379, 513), 32767 x 8191 344, 425, 471, 65536 x 4096 338, 338, 345; bf16 16383 x 16383 212, 325, 293, 32767 x 8191 206, 327,
/// 309. Of two or three leaves, the last nearly empty: f32 100001 x 2049 298, 271, 285, bf16 195, 175, 176. A program of its own, with the planner's numbers
/// from its environment.
constexpr bool holds_much(axes_facts const& f, axes_plan const& p) { return registers_of_leaf(f, p) > 48; }

/// Threads along a group that must be resident on a multiprocessor, so that how chunks meet, which is rare, does not take registers from
/// the loads, which are not. Fewer where a warp goes on from leaf to leaf, and where the lanes of short rows are turned. H200, 2026-11-23,
/// sums of bf16 with room for 512, 768 and 1024 threads, us: 4096 x 65535 146, 147, 233; 256 x 1048576 + 1 135, 153, 180; 525314 x 511 154,
/// 152, 168; of f32 4096 x 65536 240, 241, 246. Threads on runs of their own reckon more and have one leaf in flight: H100, 2026-11-26, runs of 49 and 196 of bf16 with
/// room for 512 and 768, 268 and 251, 203 and 187.
constexpr int threads_resident_along(axes_facts const& f, axes_plan const& p) {
  if (p.one_leaf)
    return p.realigned != 0 ? 512 : 1024;
  if (p.one_leaf_a_warp && !holds_much(f, p))
    return 1024;
  return p.threads_apart || (p.one_leaf_a_warp && p.warps_per_group <= 3) ? 768 : 512;
}

/// Blocks that must be resident.
constexpr int choose_residence(axes_facts const& f, axes_plan const& p) {
  if (f.of.state_bytes() > 8 && !p.in_windows)
    return 1;
  bool const along = p.route == axes_route::threads_along_group;
  int const blocks = (along ? threads_resident_along(f, p) : threads_resident_across(f, p)) / p.threads_per_block();
  return blocks < 1 ? 1 : blocks > 16 ? 16 : blocks;
}

constexpr void cut_short_groups(axes_facts const& f, axes_plan& p, axes_cut& cut) {
  int const loads = p.rows_in_leaf * (f.of.sources_named() > 0 ? f.of.sources_named() : 1);
  p.batches = loads_in_flight / loads < 1 ? 1 : loads_in_flight / loads;
  p.warps_per_group = 1;
  i64 const groups_of_block = i64(p.warps_per_block) * p.threads_across * p.batches;
  cut.sets = (f.at.groups - 1) / groups_of_block + 1;
  cut.chunks = 1;
}

/// Leaves of a block, at most: their states are in shared memory until they meet.
constexpr i64 most_leaves_of_block(axes_facts const& f) {
  i64 most = 512;
  while (most > 16 && most * f.of.state_bytes() > 16 * 1024)
    most /= 2;
  return most * f.of.state_bytes() > 32 * 1024 ? 8 : most; // where blocks meet they have a room of their own
}

/// Warps of a block that go on from leaf to leaf.
inline constexpr int warps_going_on = 8;
/// Leaves that such a warp takes before another is asked: two, which are loaded together. More of large states, which cost more to hand
/// over, unless there are too few to fill the chip.
constexpr i64 leaves_in_turn(axes_facts const& f, i64 leaves) {
  if (f.of.state_bytes() <= 8)
    return 2;
  i64 in_turn = 8;
  while (in_turn > 1 && f.at.groups * leaves < in_turn * 32 * f.of.target.multiprocessors)
    in_turn /= 2;
  return in_turn;
}

/// Blocks a multiprocessor that long groups are cut for, if they have the leaves. Blocks that meet cost more than warps that go on, but the
/// last blocks should be a small part of all. H200, 2026-11-23, sums with 8, 12 and 16, us: f32 536 x 500001 262, 246, 245; 2047 x 131073
/// 249, 239, 253; bf16 140, 134, 134 and 136, 135, 147.
inline constexpr int blocks_wanted_along = 12;

/// Leaves of a chunk of a long group.
constexpr i64 choose_chunk(axes_facts const& f, i64 leaves) {
  i64 chunk = least_of(most_leaves_of_block(f), power_of_two_from(leaves));
  i64 const least = f.of.state_bytes() > 8 ? warps_going_on * leaves_in_turn(f, leaves) : warps_going_on;
  while (chunk > least && f.at.groups * ((leaves - 1) / chunk + 1) < i64(blocks_wanted_along) * f.of.target.multiprocessors)
    chunk /= 2;
  return chunk;
}

/// A group of few leaves has a warp for each. Of a longer one a warp takes every so many, so that a block reads neighbours.
constexpr void cut_long_groups(axes_facts const& f, axes_plan& p, axes_cut& cut) {
  cut.leaves = (f.at.extent - 1) / f.of.elements_per_leaf() + 1;
  i64 const in_turn = leaves_in_turn(f, cut.leaves), together = warps_going_on * in_turn;
  bool const few = cut.leaves <= (holds_much(f, p) ? 8 : 16) && f.of.state_bytes() <= 8;
  cut.leaves_of_chunk = few ? cut.leaves : choose_chunk(f, cut.leaves);
  cut.chunks = int((cut.leaves - 1) / cut.leaves_of_chunk + 1);
  i64 const of_warp = few ? 1 : ((cut.leaves - 1) / together + 1) * in_turn;
  p.warps_per_group = cut.chunks > 1 ? warps_going_on : int((cut.leaves - 1) / of_warp + 1);
  p.one_leaf_a_warp = cut.leaves_of_chunk <= p.warps_per_group;
  p.batches = p.one_leaf_a_warp || p.threads_apart || f.of.state_bytes() > 8 ? 1 : 2;
  p.leaves_in_room = int(cut.leaves_of_chunk <= 32 ? power_of_two_from(cut.leaves_of_chunk) : most_leaves_of_block(f));
  i64 const groups_of_block = cut.leaves > 32 ? 1 : least_of(8 / p.warps_per_group, most_leaves_of_block(f) / p.leaves_in_room);
  p.warps_per_block = p.warps_per_group * int(groups_of_block < 1 ? 1 : groups_of_block);
  cut.sets = (f.at.groups - 1) / (p.warps_per_block / p.warps_per_group) + 1;
}

/// Whether rows of a leaf come in aligned pieces of 16 bytes, wherever they begin, and its lanes are turned once it is folded: instead of
/// loads of at most `narrow` bytes, and for rows enough.
constexpr bool pays_to_realign(axes_facts const& f, axes_plan const& p, int column, int narrow) {
  i64 const size = f.of.sources[column].bytes_per_element;
  return !p.rows_apart && p.rows_in_leaf >= 2 && f.of.lanes_per_group * size == 16 && (size & (size - 1)) == 0 &&
         ((p.narrow_at_ends >> column & 1) != 0 ? size : p.bytes_per_load[column]) <= narrow;
}
/// Whether the groups of two columns begin as far behind a multiple of 16 bytes.
constexpr bool lie_alike(axes_facts const& f, int a, int b) {
  auto const alike = [&](grid_axis const* axes, int n) {
    for (int k = 0; k < n; ++k)
      if (axes[k].steps[a] != axes[k].steps[b])
        return false;
    return true;
  };
  auto const& s = f.of.sources;
  return a == b || (s[a].bytes_per_element == s[b].bytes_per_element && s[a].address_alignment >= 16 && s[b].address_alignment >= 16 &&
                    alike(f.at.kept, f.at.kept_axes) && alike(f.at.reduced, f.at.reduced_axes));
}
/// The columns that are realigned: all that move on, or none.
constexpr int choose_realigned(axes_facts const& f, axes_plan const& p, int narrow) {
  int realigned = 0, first = -1;
  for (int c = 0; c < f.of.source_count; ++c) {
    if (f.of.sources[c].bytes_per_element == 0 || ((p.standing | p.late) >> c & 1) != 0)
      continue;
    first = first < 0 ? c : first;
    if (!pays_to_realign(f, p, c, narrow) || !lie_alike(f, first, c))
      return 0;
    realigned |= 1 << c;
  }
  return realigned;
}

/// Whether threads on runs of their own load neighbouring elements, where a thread's neighbours would come one by one, too: then a warp loads from two or three
/// sectors at once, not from sixteen. H100, 2026-11-26, runs of 49 of bf16 308 to 251 us, of f32 410 to 377; of wider loads, stripes are slower (98 of bf16 193 to
/// 271, 196 190 to 245).
constexpr bool pays_to_stripe(axes_facts const& f, axes_plan const& p) {
  if (f.at.reduced[1].extent < 32)
    return false;
  for (int c = 0; c < f.of.source_count; ++c)
    if (i64 const size = f.of.sources[c].bytes_per_element; size > 0 && (p.standing >> c & 1) == 0 && p.bytes_per_load[c] > size)
      return false;
  return true;
}

constexpr void plan_along(axes_facts const& f, axes_plan& p, axes_cut& cut, why_not_list& why) {
  p.route = axes_route::threads_along_group;
  p.rows_apart = !leaves_on_runs(f, f.of.elements_per_leaf());
  p.threads_apart = !leaves_on_runs(f, i64(32) * f.of.lanes_per_group);
  if (p.threads_apart) { // a group of one leaf is as one of several
    p.one_leaf = p.extent_fits = false;
    p.lanes_in_leaf = 32 * f.of.lanes_per_group;
    p.rows_in_leaf = f.of.rows_per_leaf;
  }
  int const lanes = int(least_of(f.of.lanes_per_group, p.lanes_in_leaf));
  p.threads_across = 32 / (p.lanes_in_leaf / lanes);
  p.groups_per_thread = p.groups_beside = 1;
  p.warps_per_block = 8;
  for (int c = 0; c < f.of.source_count; ++c) {
    bool const stands = f.element_step(c) == 0;
    i64 const size = f.of.sources[c].bytes_per_element;
    p.bytes_per_load[c] = stands ? int(size) : bytes_per_load(f, c, lanes);
    while (p.threads_apart && p.bytes_per_load[c] > size && f.at.reduced[1].extent * size % p.bytes_per_load[c] != 0)
      p.bytes_per_load[c] /= 2; // no load reaches behind the end of a run
    if (p.bytes_per_load[c] > size && f.at.extent * size % p.bytes_per_load[c] != 0)
      p.narrow_at_ends |= 1 << c; // or of a group
    if (stands) {
      p.standing |= 1 << c;
      continue;
    }
    if (p.bytes_per_load[c] < least_of(16, lanes * size))
      why.add("vector load along a group", "groups begin at multiples of {0} bytes", c, alignment_in_grid(f, c, loaded_axis::reduced));
    else if ((p.narrow_at_ends >> c & 1) != 0)
      why.add("vector load where a group ends", "{0} elements are no multiple of {1}", c, f.at.extent, lanes);
  }
  p.realigned = choose_realigned(f, p, 2);
  p.striped = p.threads_apart && pays_to_stripe(f, p);
  if (p.one_leaf)
    cut_short_groups(f, p, cut);
  else
    cut_long_groups(f, p, cut);
}

} // namespace tally::v0::planning
