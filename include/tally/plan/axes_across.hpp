// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How threads across groups are cut: neighbouring groups of a thread, of a warp, warps and blocks that share the leaves. Layer 3.
#pragma once

#include <tally/plan/axes_facts.hpp>

namespace tally::v0::planning {

/// Loads of a thread that are in flight together.
inline constexpr int loads_in_flight = 8;

/// Blocks that a chip is cut for: enough that the last wave is a small part of all.
constexpr i64 blocks_wanted(axes_facts const& f) { return i64(f.of.target.multiprocessors) * 16; }

/// Neighbouring groups of a thread, and bytes of their states, at most: a path of the tree keeps seven times as many. H200, 2026-11-22, sums
/// of bf16 with eight groups a thread and with four, us: 65536 x 1024 64 and 46, 64 x 4096 x 1024 159 and 146, 4194304 x 64 164 and 145.
inline constexpr int most_groups_beside = 4, state_bytes_beside = 32;

/// What a window counts for beside states, of floats and of doubles. H200, 2026-11-26, 2^28 f32 with two groups a thread and with four, us: 16384 x 16384 322
/// and 347, 1024 x 262144 602 and 315; 2^27 f64, with one and with two: 16384 x 8192 402 and 506.
inline constexpr int bytes_of_window = 8, bytes_of_wide_window = 24;
/// Bytes of one group that a thread keeps in registers.
constexpr i64 bytes_beside(axes_facts const& f, axes_plan const& p) {
  i64 bytes = 0;
  for (int i = 0; i < f.of.fold_count; ++i) {
    int const state = f.of.folds[i].state_bytes;
    bytes += p.in_windows && f.of.folds[i].exact ? (state <= 64 ? bytes_of_window : bytes_of_wide_window) : state; // and not the integer behind it
  }
  return bytes;
}

/// Whether neighbouring groups are neighbours in every column, or the same.
constexpr bool lies_beside(axes_facts const& f) {
  return unit_or_same(f, [&](int c) { return f.group_step(c); });
}
/// The columns that are the same all along a group, as bits.
constexpr int choose_lasting(axes_facts const& f) {
  int lasting = 0;
  for (int c = 0; c < f.of.source_count; ++c) {
    bool moves = f.of.sources[c].bytes_per_element == 0;
    for (int k = 0; k < f.at.reduced_axes; ++k)
      moves = moves || f.at.reduced[k].steps[c] != 0;
    lasting |= moves ? 0 : 1 << c;
  }
  return lasting;
}

/// Groups of a thread: as many as their states allow.
constexpr int choose_groups_per_thread(axes_facts const& f, axes_plan const& p, why_not_list& why) {
  if (!lies_beside(f)) {
    why.add("groups beside", "neighbouring groups are not neighbours in every column");
    return 1;
  }
  int groups = int(least_of(f.of.lanes_per_group, most_groups_beside));
  while (groups > 1 && groups * bytes_beside(f, p) > state_bytes_beside)
    groups /= 2;
  if (groups == 1)
    why.add("groups beside", "{0} bytes of state a group fill the registers of a thread", -1, bytes_beside(f, p));
  return groups;
}
/// Neighbours among them: as many as one load of 16 bytes brings, if memory allows it.
constexpr int choose_groups_beside(axes_facts const& f, axes_plan const& p, why_not_list& why) {
  int groups = p.groups_per_thread;
  for (int c = 0; c < f.of.source_count; ++c)
    while (groups > 1 && f.of.sources[c].bytes_per_element > 0 && (p.standing >> c & 1) == 0 &&
           (f.row_groups() % groups != 0 ||
            alignment_in_grid(f, c, loaded_axis::kept) < least_of(16, groups * f.of.sources[c].bytes_per_element) ||
            (f.of.sources[c].bytes_per_element & (f.of.sources[c].bytes_per_element - 1)) != 0)) {
      why.add("vector load of neighbouring groups", "rows of {0} groups are aligned to {1} bytes", c, f.row_groups(), alignment_in_grid(f, c, loaded_axis::kept));
      groups /= 2;
    }
  return groups;
}

/// Stripes of what has windows, at most. H100, 2026-11-26, us, exact sums of f32 and bf16 in one stripe, two and four: 16383 x 16383 468, 453 and 509, 322,
/// 311 and 369; 64 x 4095 x 1023 520, 469 and 502, 427, 323 and 347.
inline constexpr int most_windows_in_stripes = 2;
/// Groups of a thread, in stripes where they are no neighbours: a warp loads more of a row that begins anywhere, at both ends of which is a sector that others
/// load, too. But the last strip of a row, which ends where that does, folds no more than an eighth again. H100, 2026-11-26, us, sums of f32 and bf16 in one
/// stripe and in four: 16383 x 16383 449 and 394, 247 and 225; 64 x 4095 x 1023 437 and 399, 277 and 229.
constexpr int choose_groups_in_stripes(axes_facts const& f, axes_plan const& p) {
  int groups = p.groups_per_thread;
  auto const fits = [&](i64 of_strip) { return f.row_groups() >= of_strip && ((f.row_groups() - 1) / of_strip + 1) * of_strip * 8 <= f.row_groups() * 9; };
  while (groups > p.groups_beside && (!fits(32 * groups) || (p.in_windows && groups > most_windows_in_stripes)))
    groups /= 2;
  return groups;
}

/// Threads of a warp that hold different groups: all, unless groups are few or lie further apart than their elements. Windows are dear to close: a
/// thread has at least some elements of a group, wherever they lie.
inline constexpr i64 least_in_window = 32;
constexpr int choose_threads_across(axes_facts const& f, axes_plan const& p) {
  i64 const along = least_of(32, p.lanes_in_leaf);
  bool const elements_nearer = unit_in_all(f, [&](int c) { return f.element_step(c); });
  bool const enough = !p.in_windows || f.at.extent >= 32 * least_in_window;
  i64 const wanted = enough && elements_nearer && p.groups_per_thread == 1 && !lies_beside(f)
                         ? 1
                         : least_of(32, power_of_two_from((f.row_groups() - 1) / p.groups_per_thread + 1));
  return int(wanted < 32 / along ? 32 / along : wanted);
}

/// Warps of a block, as far as the states that they hand over fit in shared memory.
constexpr int choose_warps(axes_facts const& f, axes_plan const& p) {
  i64 const state = (f.of.state_bytes() + 15) / 16 * 16 + 16 * f.of.fold_count;
  int warps = 8;
  while (warps > 1 && i64(warps) * p.groups_per_strip() * state > 32 * 1024)
    warps /= 2;
  return warps;
}
/// Warps that share the lanes of a leaf, and meet in shared memory: as many as leave each thread its loads in flight.
constexpr int choose_warps_on_lanes(axes_facts const& f, axes_plan const& p) {
  if (!f.of.commutative())
    return 1; // rows of a leaf are combined before its rows are, so all lanes must be in one warp
  if (p.in_windows && f.at.groups / p.groups_per_strip() >= blocks_wanted(f))
    return 1; // windows are dear to close
  int warps = p.warps_per_block;
  while (warps > 1 && (warps * p.threads_along() > p.lanes_in_leaf ||
                       p.lanes_in_leaf / (warps * p.threads_along()) * p.rows_in_leaf < loads_in_flight))
    warps /= 2;
  return warps;
}

/// Lanes of a leaf that a thread folds.
constexpr int lanes_of_thread(axes_plan const& p) { return p.lanes_in_leaf / (p.warps_on_lanes * p.threads_along()); }
/// Whether a group is one leaf that lacks elements: every load asks whether its own exists.
constexpr bool one_ragged_leaf(axes_plan const& p) { return p.one_leaf && !p.extent_fits; }

/// Lanes of a thread whose loads are in flight together: eight loads, and where loads are narrow more, until they bring as much as eight
/// of 16 bytes, or there are 32, of single groups 16.
constexpr int choose_lanes_at_once(axes_facts const& f, axes_plan const& p) {
  bool const part_of_a_warp = p.threads_across < 32;
  int const most = f.of.state_bytes() > 8 ? loads_in_flight : part_of_a_warp ? (p.groups_per_thread > 1 ? 16 : loads_in_flight) : p.groups_per_thread > 1 ? 32 : 16;
  int const wanted_bytes = (one_ragged_leaf(p) ? 8 : 16) * loads_in_flight;
  int loads = 0, bytes = 0, lanes = 1; // the first two of a lane
  for (int c = 0; c < f.of.source_count; ++c) {
    if ((p.lasting >> c & 1) != 0)
      continue;
    int const pieces = p.rows_in_leaf * (p.groups_per_thread / p.groups_beside);
    loads += pieces;
    bytes += pieces * p.bytes_per_load[c];
  }
  while (lanes * 2 <= lanes_of_thread(p) && loads > 0 &&
         (lanes * loads < loads_in_flight || (lanes * loads < most && lanes * bytes < wanted_bytes)))
    lanes *= 2;
  return lanes;
}

/// Threads that must be resident on a multiprocessor: as many as leave registers for the loads in flight and the open states of the lanes.
/// H200, 2026-11-22, sums of f32, us: 1048576 x 256 with room for 768 threads 285, for 512 257; 64 x 4096 x 1024 284 and 254; 1048576 x 7,
/// whose threads share lanes, with room for 768 18.7, for 1024 17.6.
/// Single groups whose loads are narrow, H200, 2026-11-26, with room for 512 and 32 loads in flight, for 768 and 16: f32 16383 x 16383 336 and 318, 1048576 x
/// 33 61.8 and 53.3, 64 x 4095 x 1023 378 and 309; bf16 16383 x 16383 225 and 216, 1048576 x 33 45.1 and 43.0.
/// In windows, H200, 2026-11-26, columns of 2^28 f32, with room for 512 and for 1024 threads: one group a thread, 16383 x 16383, 460 and 351; two, 16384 x
/// 16384, 314 and 435.
constexpr int threads_resident_across(axes_facts const& f, axes_plan const& p) {
  if (p.in_windows)
    return p.groups_per_thread * bytes_beside(f, p) > 12 ? 512 : 1024;
  i64 const beside = p.groups_per_thread * f.of.state_bytes();
  i64 const open = beside * (tally::v0::detail::log2_of(lanes_of_thread(p)) + 1);
  if (p.threads_across < 32 && open <= 32)
    return 1024;
  bool const single = p.threads_across == 32 && beside <= 4 && p.groups_per_thread == 1;
  return single || (one_ragged_leaf(p) && beside < 16) ? 768 : 512;
}

constexpr axes_cut cut_across(axes_facts const& f, axes_plan const& p) {
  axes_cut c{};
  c.row_groups = f.row_groups();
  c.strips_per_row = (c.row_groups - 1) / p.groups_per_strip() + 1;
  c.strips = f.at.groups / c.row_groups * c.strips_per_row;
  c.sets = (c.strips - 1) / (p.warps_per_block / p.warps_on_lanes) + 1;
  c.leaves = (f.at.extent - 1) / f.of.elements_per_leaf() + 1;
  c.leaves_of_chunk = c.leaves;
  c.chunks = 1;
  if (c.sets < blocks_wanted(f) && c.leaves > 1) {
    c.leaves_of_chunk = 1;
    while ((c.leaves - 1) / c.leaves_of_chunk * c.sets >= blocks_wanted(f))
      c.leaves_of_chunk *= 2;
    c.chunks = int((c.leaves - 1) / c.leaves_of_chunk + 1);
  }
  return c;
}

constexpr void plan_across(axes_facts const& f, axes_plan& p, axes_cut& cut, why_not_list& why) {
  p.route = axes_route::threads_across_groups;
  p.standing = same_beside(f);
  p.lasting = choose_lasting(f);
  p.groups_per_thread = choose_groups_per_thread(f, p, why);
  p.groups_beside = choose_groups_beside(f, p, why);
  p.groups_per_thread = choose_groups_in_stripes(f, p);
  p.threads_across = choose_threads_across(f, p);
  p.warps_per_block = choose_warps(f, p);
  p.warps_on_lanes = choose_warps_on_lanes(f, p);
  i64 const strips = f.at.groups / f.row_groups() * ((f.row_groups() - 1) / p.groups_per_strip() + 1);
  while (p.warps_per_block / p.warps_on_lanes > strips)
    p.warps_per_block /= 2;
  for (int c = 0; c < f.of.source_count; ++c)
    p.bytes_per_load[c] = int(least_of(16, ((p.standing >> c & 1) != 0 ? 1 : p.groups_beside) * f.of.sources[c].bytes_per_element));
  p.lanes_at_once = choose_lanes_at_once(f, p);
  cut = cut_across(f, p);
}

} // namespace tally::v0::planning
