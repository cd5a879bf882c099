// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Facts of a read that folds along axes: the program's, and where its groups lie. Layer 3.
#pragma once

#include <tally/fold/groups.hpp>
#include <tally/plan/axes_plan.hpp>
#include <tally/plan/facts.hpp>
#include <tally/plan/why_not.hpp>

namespace tally::v0 {

/// Everything about one read that folds along axes; `of` has the sources, folds and target, and the extent of one group.
struct axes_facts {
  facts of;
  axes_layout at;
  int written_only = 0; ///< of rows with lets: bit c is set where no let looks at column c
  constexpr i64 row_groups() const { return at.kept_axes > 0 ? at.kept[at.kept_axes - 1].extent : 1; }
  /// How far apart neighbouring groups, and neighbouring elements of a group, are in a column.
  constexpr i64 group_step(int column) const { return at.kept_axes > 0 ? at.kept[at.kept_axes - 1].steps[column] : 0; }
  constexpr i64 element_step(int column) const { return at.reduced_axes > 0 ? at.reduced[at.reduced_axes - 1].steps[column] : 0; }
};

namespace planning {

constexpr i64 power_of_two_from(i64 n) {
  i64 p = 1;
  while (p < n)
    p *= 2;
  return p;
}
constexpr i64 least_of(i64 a, i64 b) { return a < b ? a : b; }

/// The axis along which a thread loads neighbours: the innermost one kept, or the innermost one reduced.
enum class loaded_axis { kept, reduced };

/// The largest power of two, at most 16, that divides an address and every step of a column, in bytes, but those along the axis that
/// is loaded.
constexpr i64 alignment_in_grid(axes_facts const& f, int column, loaded_axis loaded = loaded_axis::kept) {
  i64 aligned = f.of.sources[column].address_alignment;
  auto const meet = [&](grid_axis const* axes, int n) {
    for (int k = 0; k < n; ++k)
      while (axes[k].steps[column] * f.of.sources[column].bytes_per_element % aligned != 0)
        aligned /= 2;
  };
  meet(f.at.kept, f.at.kept_axes - (loaded == loaded_axis::kept ? 1 : 0));
  meet(f.at.reduced, f.at.reduced_axes - (loaded == loaded_axis::reduced ? 1 : 0));
  return aligned;
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

/// Whether neighbours along an axis are neighbours in every column that is read, or the same, and not the same in all.
template <class Step>
constexpr bool unit_or_same(axes_facts const& f, Step const& step) {
  bool any_moves = false;
  for (int c = 0; c < f.of.source_count; ++c)
    any_moves = any_moves || (f.of.sources[c].bytes_per_element > 0 && step(c) != 0);
  return unit_in_all(f, [&](int c) { return step(c) == 0 && any_moves ? 1 : step(c); });
}

/// The columns that are the same for neighbouring groups, as bits.
constexpr int same_beside(axes_facts const& f) {
  int same = 0;
  for (int c = 0; c < f.of.source_count; ++c)
    same |= f.of.sources[c].bytes_per_element > 0 && f.group_step(c) == 0 ? 1 << c : 0;
  return same;
}

/// Bytes of a load of `neighbours` elements of a column, which begin at multiples of that; the element's own where memory does not
/// allow more.
constexpr int bytes_per_load(axes_facts const& f, int column, int neighbours, loaded_axis loaded = loaded_axis::reduced) {
  i64 const size = f.of.sources[column].bytes_per_element;
  i64 bytes = least_of(16, neighbours * size);
  while (bytes > size && ((bytes & (bytes - 1)) != 0 || bytes % size != 0 || neighbours * size % bytes != 0 || alignment_in_grid(f, column, loaded) < bytes))
    --bytes;
  return int(bytes > size ? bytes : size);
}

} // namespace planning

} // namespace tally::v0
