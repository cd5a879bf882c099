// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a source and the axes to be folded to the layout of its groups: axes of one element go, and neighbours that every
// column walks through as if they were one axis become one. Layer 5.
#pragma once

#include <tally/pipeline/grid.hpp>
#include <tally/pipeline/over.hpp>

namespace tally::v0 {

namespace detail {

/// How far apart neighbours along axis k of a source are in a column, in elements.
template <class Source, class Column>
constexpr i64 step_along(Source const& s, [[maybe_unused]] Column const& c, int k) {
  if constexpr (axes_of_column<Column> > 0) {
    return c.strides[k];
  } else if constexpr (memory_column<Column>) {
    i64 step = stride_of(c);
    for (int a = rank_of<Source> - 1; a > k; --a)
      step *= extent_along(s, a);
    return step;
  } else {
    return 0;
  }
}

/// Axis k of a source, whose columns are read where Columns lie in memory.
template <class... Columns, class Source>
constexpr grid_axis axis_of(pack<Columns...> const*, Source const& s, int k) {
  grid_axis a{extent_along(s, k), 1, {}};
  for (int b = rank_of<Source> - 1; b > k; --b)
    a.position_step *= extent_along(s, b);
  int c = 0;
  unpack([&](auto const&... column) { ((a.steps[c++] = memory_column<Columns> ? step_along(s, column, k) : 0), ...); }, s.columns);
  return a;
}

/// Whether walking along `outer` is walking on where `inner` ends.
constexpr bool continues(grid_axis const& outer, grid_axis const& inner) {
  if (outer.position_step != inner.position_step * inner.extent)
    return false;
  for (int c = 0; c < max_grid_columns; ++c)
    if (outer.steps[c] != inner.steps[c] * inner.extent)
      return false;
  return true;
}

/// Adds an axis inside the ones there are; it becomes one with the innermost where positions and memory agree.
constexpr void add_axis(grid_axis* axes, int& n, grid_axis const& a) {
  if (n > 0 && continues(axes[n - 1], a)) {
    i64 const outer = axes[n - 1].extent;
    axes[n - 1] = a;
    axes[n - 1].extent *= outer;
  } else {
    axes[n++] = a;
  }
}

template <class Columns, class Source, class Reduced>
constexpr axes_layout layout_of_columns(Columns const* columns, Source const& s, Reduced const& reduced) {
  axes_layout at{0, 0, 1, 1, {}, {}, {}};
  for (int k = 0; k < rank_of<Source>; ++k) {
    grid_axis const a = axis_of(columns, s, k);
    (reduced(k) ? at.extent : at.groups) *= a.extent;
    if (a.extent == 1)
      continue;
    for (int c = 0; c < max_grid_columns; ++c)
      if (a.steps[c] > 0)
        at.last[c] += (a.extent - 1) * a.steps[c];
    if (reduced(k))
      add_axis(at.reduced, at.reduced_axes, a);
    else
      add_axis(at.kept, at.kept_axes, a);
  }
  return at;
}

} // namespace detail

/// The layout of the groups of a source; axis k is folded away where reduced(k).
template <class Source, class Reduced>
constexpr axes_layout layout_of(Source const& s, Reduced const& reduced) {
  return detail::layout_of_columns(&s.columns, s, reduced);
}
/// The same of the columns that a program reads.
template <class Program, class Source, class Reduced>
constexpr axes_layout layout_of(Program const& p, Source const& s, Reduced const& reduced) {
  return detail::layout_of_columns(&p.columns, s, reduced);
}

} // namespace tally::v0
