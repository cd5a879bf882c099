// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups along axes: where the elements of every group of a read lie. Layer 1. A group is the elements that share their
// indices along the kept axes; it is folded exactly as if it were read alone, in row-major order, so its bits depend on its
// own elements and on nothing beside them.
#pragma once

#include <tally/element/column.hpp>
#include <tally/element/expression.hpp>

namespace tally::v0 {

inline constexpr int max_axes = 8;
inline constexpr int max_grid_columns = 8;

/// One axis of a read: how many elements lie along it, and how far apart they are in positions and in every column.
struct grid_axis {
  i64 extent;
  i64 position_step;
  i64 steps[max_grid_columns]; ///< in elements of the column; 0 for what is not read from memory
  friend constexpr bool operator==(grid_axis const&, grid_axis const&) = default;
};

/// The axes of a read after neighbours that walk alike have become one: those kept and those reduced, outermost first.
struct axes_layout {
  int kept_axes;
  int reduced_axes;
  i64 groups; ///< the product of the kept extents
  i64 extent; ///< elements of one group, the product of the reduced extents
  grid_axis kept[max_axes];
  grid_axis reduced[max_axes];
  i64 last[max_grid_columns]; ///< offset in every column of the element that lies last in memory
  friend constexpr bool operator==(axes_layout const&, axes_layout const&) = default;
};

/// A place in the source: its position, and how far into every column it is.
template <int Columns>
struct grid_place {
  i64 position;
  i64 offset[Columns > 0 ? Columns : 1];

  TALLY_INLINE constexpr void move(grid_axis const& a, i64 by) {
    position += by * a.position_step;
    for (int c = 0; c < Columns; ++c)
      offset[c] += by * a.steps[c];
  }
};

/// Adds to a place what index i (row-major over the axes) is away from the origin; the outermost axis is not bounded.
template <int Columns>
TALLY_INLINE constexpr void move_along(grid_place<Columns>& p, grid_axis const* axes, int axis_count, i64 i) {
  for (int k = axis_count - 1; k > 0; --k) {
    i64 const above = i / axes[k].extent;
    p.move(axes[k], i - above * axes[k].extent);
    i = above;
  }
  if (axis_count > 0)
    p.move(axes[0], i);
}

/// Where group g begins.
template <int Columns>
TALLY_INLINE constexpr grid_place<Columns> group_origin(axes_layout const& at, i64 g) {
  grid_place<Columns> p{};
  move_along(p, at.kept, at.kept_axes, g);
  return p;
}

/// Whether the aligned pieces of 16 bytes around `neighbours`, 16 bytes of them, that begin at an offset end before their column does.
/// They begin inside: memory does at a multiple of 16 bytes.
TALLY_INLINE constexpr bool pieces_end_inside(axes_layout const& at, int column, i64 offset, int neighbours) {
  return offset + 2 * neighbours <= at.last[column] + 1;
}

/// A row that is element number `element` of its group.
template <class... Ts>
struct group_row {
  pack<Ts...> values;
  i64 position;
  i64 element;
};

namespace detail {
template <class Column>
TALLY_INLINE constexpr auto value_at(Column const& c, i64 position, i64 offset) {
  if constexpr (memory_column<Column>)
    return c.data[offset];
  else
    return c.at(position);
}
template <int Count, class... Columns, int... I>
TALLY_INLINE constexpr auto row_of_place(pack<Columns...> const& columns, grid_place<Count> const& at, i64 element,
                                         index_list<I...>) {
  return group_row<typename Columns::value_type...>{make_pack(value_at(get<I>(columns), at.position, at.offset[I])...),
                                                    at.position, element};
}
} // namespace detail

/// The row at a place, as an element of its group.
template <class... Columns>
TALLY_INLINE constexpr auto row_at_place(pack<Columns...> const& columns, grid_place<int(sizeof...(Columns))> const& at,
                                         i64 element) {
  return detail::row_of_place(columns, at, element, indices_up_to<sizeof...(Columns)>{});
}

} // namespace tally::v0
