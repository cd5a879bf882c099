// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Columns that hold answers of an earlier fold, seen alike along the axes that it folded away. Layer 1. Types of their own, because
// the shape of a leaf is that of the source alone: folding beside an earlier answer changes no tree.
#pragma once

#include <tally/element/spread.hpp>

namespace tally::inline v0 {

/// Answers by their place; groups know the strides.
template <class T>
struct earlier {
  using value_type = T;
  static constexpr bool lowerable = true;
  static constexpr bool is_answer = true;
  T const* data;
  TALLY_INLINE constexpr T at(i64 i) const { return data[i]; }
  constexpr earlier from(i64 i) const { return {data + i}; }
};

/// The same in a grid of Rank axes; the stride of an axis that was folded away is 0.
template <class T, int Rank>
struct earlier_along {
  using value_type = T;
  static constexpr bool lowerable = true;
  static constexpr bool is_answer = true;
  static constexpr int rank = Rank;
  T const* data;
  i64 extents[Rank];
  i64 strides[Rank];
  i64 first = 0;
  TALLY_INLINE constexpr T at(i64 i) const { return spread<T, Rank>::value_at(*this, i); }
  constexpr earlier_along from(i64 i) const {
    earlier_along s = *this;
    s.first += i;
    return s;
  }
};
template <class T, int Rank>
inline constexpr int axes_of_column<earlier_along<T, Rank>> = Rank;

/// The one answer of a fold of all axes, where every element sees it: no column in memory, so that it does not stand in the way of others.
template <class T>
struct sole_answer {
  using value_type = T;
  static constexpr bool lowerable = true;
  T const* answer;
  TALLY_INLINE constexpr T at(i64) const { return *answer; }
  constexpr sole_answer from(i64) const { return *this; }
};

/// One value, again and again.
template <class T>
struct repeated {
  using value_type = T;
  static constexpr bool lowerable = true;
  T value;
  TALLY_INLINE constexpr T at(i64) const { return value; }
  constexpr repeated from(i64) const { return *this; }
};

/// Columns of answers.
template <class Column>
concept answer_column = column<Column> && Column::is_answer;

} // namespace tally::inline v0
