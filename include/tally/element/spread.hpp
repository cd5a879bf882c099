// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A column with axes: elements that lie apart by one stride an axis, counted row by row. Layer 1. Transposed, sliced,
// reversed (negative stride) and broadcast (stride 0) operands are all this one type.
#pragma once

#include <tally/element/column.hpp>

namespace tally::v0 {

/// Element i of a grid of Rank axes in row-major order; along axis k there are extents[k], strides[k] elements apart.
template <class T, int Rank>
struct spread {
  using value_type = T;
  static constexpr bool lowerable = true;
  static constexpr int rank = Rank;
  T const* data;
  i64 extents[Rank];
  i64 strides[Rank];
  i64 first = 0;
  TALLY_INLINE constexpr T at(i64 i) const { return value_at(*this, i); }
  /// Element i of a column that has these members.
  template <class Column>
  TALLY_INLINE static constexpr T value_at(Column const& c, i64 i) {
    i64 left = c.first + i, offset = 0;
    for (int k = Rank - 1; k > 0; --k) {
      i64 const above = left / c.extents[k];
      offset += (left - above * c.extents[k]) * c.strides[k];
      left = above;
    }
    return c.data[offset + left * c.strides[0]];
  }
  constexpr spread from(i64 i) const {
    spread s = *this;
    s.first += i;
    return s;
  }
};

template <class C>
inline constexpr int axes_of_column = 0;
/// How many axes a column has of its own; 0 for one that is counted through.
template <class T, int Rank>
inline constexpr int axes_of_column<spread<T, Rank>> = Rank;

} // namespace tally::v0
