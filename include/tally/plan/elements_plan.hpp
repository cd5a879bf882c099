// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan of a kernel that writes elements: how many neighbours a thread takes, and how many bytes it loads and stores at once.
// Layer 3.
#pragma once

#include <tally/plan/axes_facts.hpp>
#include <tally/plan/group_facts.hpp>
#include <tally/plan/turned_axis.hpp>

namespace tally::v0 {

/// All decisions about one such kernel. Of the strip: groups_per_thread neighbours, batches of them, bytes_per_load of a column.
struct elements_plan {
  axes_plan strip;
  int turned_axis = -1; ///< kept, which threads follow where memory does, so that tiles are turned on their way; -1: the innermost
  bool in_bulk = false; ///< rows of such a tile are stored by the bulk engine
  int blocks_per_row = 1; ///< of one cluster, which hold a row together: plan/rows_plan.hpp
  bool asks_ahead = false; ///< of rows: for a later one, while its own is on its way
  int bytes_per_store[max_answers];
  friend constexpr bool operator==(elements_plan const&, elements_plan const&) = default;
};

/// A plan and its blocks.
struct elements_planned {
  elements_plan plan;
  i64 blocks;
  why_not_list why_not;
};

/// What is written: bytes of one element, and the power of two that divides the address.
struct written_facts {
  int bytes_per_element;
  int address_alignment;
};

/// Strips of a thread whose loads are in flight together, twice as many of one column whose strips are less than 16 bytes; and warps of a block.
/// Blocks of little work, so that what all of them read and write lies close together: docs/measured/let_h200.md, 2026-11-23.
inline constexpr int strips_in_flight = 2, warps_of_elements = 4;

/// Of tiles that are turned. us of 16384 x 16384 f32 turned by tiles of 64 across and 32 and 64 along 764 and 756,
/// of 32 by 64 805 (a copy 722); of as many u16 by 128 across and 64 along, stored by threads and by the bulk engine, 391 and 411; of 32768 x 16384 u8 by 256
/// across and 32 along, the same, 533 and 724; of f64 by 32 and 64 740 and 748. H100, 2026-11-25 23:03, a kernel that only does this.
inline constexpr int turned_batches = 4;
inline constexpr i64 most_turned_bytes = 16;
namespace planning {
constexpr int turned_axis_of(axes_facts const& f) {
  return choose_turned_axis(f.at, f.of.source_count, [&](int c) { return f.of.sources[c].bytes_per_element > 0; });
}
constexpr i64 widest_written(written_facts const* to, int arrays) {
  i64 widest = 1;
  for (int i = 0; i < arrays; ++i)
    widest = widest < to[i].bytes_per_element ? to[i].bytes_per_element : widest;
  return widest;
}
constexpr elements_planned make_turned_plan(axes_facts const& f, written_facts const* to, int arrays, int axis) {
  elements_planned out{};
  axes_plan& p = out.plan.strip;
  grid_axis const& inner = f.at.kept[f.at.kept_axes - 1];
  i64 const widest = widest_written(to, arrays), tiled = f.at.kept[axis].extent;
  int v = 1;
  while (v * 2 * widest <= 16)
    v *= 2;
  p.route = axes_route::threads_along_group;
  p.threads_across = 32 / int(least_of(32, power_of_two_from(tiled)));
  p.warps_on_lanes = p.warps_per_group = p.lanes_in_leaf = p.rows_in_leaf = 1;
  p.groups_per_thread = p.groups_beside = v;
  p.warps_per_block = 2 * warps_of_elements;
  p.batches = v > 8 ? turned_batches / 2 : turned_batches;
  p.standing = same_beside(f);
  for (int c = 0; c < f.of.source_count; ++c)
    p.bytes_per_load[c] = f.group_step(c) == 1 ? bytes_per_load(f, c, v, loaded_axis::kept) : int(f.of.sources[c].bytes_per_element);
  out.plan.turned_axis = axis;
  out.plan.in_bulk = f.of.target.compute_major >= 9 && widest >= 4;
  for (int i = 0; i < arrays; ++i) {
    i64 const size = to[i].bytes_per_element;
    bool const whole = to[i].address_alignment >= 16 && inner.extent * size % 16 == 0 && v * size * strips_across_tile(p) % 16 == 0;
    if (!whole)
      out.why_not.add("vector store", "rows of array {0} do not begin at multiples of 16 bytes", -1, i);
    out.plan.bytes_per_store[i] = whole ? 16 : int(size);
  }
  i64 const along = elements_along_tile(p), across = i64(strips_across_tile(p)) * v;
  out.blocks = ((tiled - 1) / along + 1) * ((inner.extent - 1) / across + 1) * (f.at.groups / tiled / inner.extent);
  return out;
}
} // namespace planning

/// Plans the writing of arrays of all elements, of which there is at least one; every axis of the layout is kept.
constexpr elements_planned make_elements_plan(axes_facts const& f, written_facts const* to, int arrays) {
  if (int const axis = planning::turned_axis_of(f); axis >= 0 && planning::widest_written(to, arrays) <= most_turned_bytes)
    return planning::make_turned_plan(f, to, arrays, axis);
  elements_planned out{};
  axes_plan& p = out.plan.strip;
  i64 const inner = f.row_groups(), rows = f.at.groups / inner;
  i64 widest = planning::widest_written(to, arrays);
  for (int c = 0; c < f.of.source_count; ++c)
    widest = widest < f.of.sources[c].bytes_per_element ? f.of.sources[c].bytes_per_element : widest;
  int v = 1;
  while (v < 8 && v * 2 * widest <= 16)
    v *= 2;
  if (rows > 1 && inner % v != 0) {
    out.why_not.add("neighbours of a thread", "rows of {0} elements are no multiple of {1}", -1, inner, v);
    v = 1;
  }
  p.route = axes_route::threads_across_groups;
  p.threads_across = 32;
  p.groups_per_thread = p.groups_beside = v;
  p.warps_per_block = warps_of_elements;
  p.warps_on_lanes = p.warps_per_group = p.lanes_in_leaf = p.rows_in_leaf = 1;
  p.batches = f.of.sources_named() <= 1 && v * widest < 16 ? 2 * strips_in_flight : strips_in_flight;
  p.one_kept_axis = f.at.kept_axes <= 1;
  p.standing = planning::same_beside(f);
  for (int c = 0; c < f.of.source_count; ++c)
    p.bytes_per_load[c] = f.group_step(c) == 1 ? planning::bytes_per_load(f, c, v, planning::loaded_axis::kept) : int(f.of.sources[c].bytes_per_element);
  for (int i = 0; i < arrays; ++i) {
    int const bytes = v * to[i].bytes_per_element;
    bool const whole = bytes <= 16 && (bytes & (bytes - 1)) == 0 && to[i].address_alignment >= bytes;
    if (!whole && v > 1)
      out.why_not.add("vector store", "array {0} begins at a multiple of {1} bytes", -1, i, to[i].address_alignment);
    out.plan.bytes_per_store[i] = whole ? bytes : to[i].bytes_per_element;
  }
  i64 const strips = ((inner - 1) / v + 1) * rows, of_block = i64(p.threads_per_block()) * p.batches;
  out.blocks = (strips - 1) / of_block + 1;
  return out;
}

} // namespace tally::v0
