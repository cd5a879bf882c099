// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which axis memory follows where it is not the one that is written innermost: then elements are written tile by tile. Layer 3.
#pragma once

#include <tally/fold/groups.hpp>

namespace tally::v0::planning {

/// Extents from which a tile pays. Three neighbours in memory leave every fourth thread of a GPU idle: 2^26 pixels of three u8 as planes of f32 544 us
/// turned, 492 by threads along a plane; of four 316 and 377. H100, 2026-11-25 23:32, a program that does this.
inline constexpr int least_across_turned = 16, least_along_turned = 4;

/// The kept axis along which memory is followed by some column that does not follow the innermost one; -1: there is none, or columns differ.
/// reads(c): whether column c is in memory.
template <class Reads>
constexpr int choose_turned_axis(axes_layout const& at, int columns, Reads const& reads) {
  int const inner = at.kept_axes - 1;
  int found = -1;
  for (int c = 0; c < columns; ++c) {
    i64 const step = inner < 1 || !reads(c) ? 0 : at.kept[inner].steps[c];
    if (step >= -1 && step <= 1)
      continue;
    int axis = inner - 1;
    while (axis >= 0 && at.kept[axis].steps[c] != 1 && at.kept[axis].steps[c] != -1)
      --axis;
    if (axis < 0 || (found >= 0 && found != axis))
      return -1;
    found = axis;
  }
  return found >= 0 && at.kept[inner].extent >= least_across_turned && at.kept[found].extent >= least_along_turned ? found : -1;
}

} // namespace tally::v0::planning
