// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Columns that hold answers of an earlier fold, seen alike along the axes that it folded away. Layer 1. Types of their own, because
// the shape of a leaf is that of the source alone: folding beside an earlier answer changes no tree.
#pragma once

#include <tally/element/spread.hpp>

namespace tally::v0 {

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

/// The last of segments [low, high), one at least, that begins at an element or in front of it, where the first does.
template <class Offset>
TALLY_INLINE constexpr i64 last_segment_at(Offset const* offsets, i64 low, i64 high, i64 element) {
  while (high - low > 1) {
    i64 const middle = low + (high - low) / 2;
    if (static_cast<i64>(offsets[middle]) <= element)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/// Which segment holds every so many elements: the last of so many that begins there or in front.
template <class Offset>
struct segment_of_milestone {
  using value_type = i64;
  static constexpr bool lowerable = true;
  static constexpr int shift = 10; ///< a milestone stands at every 2^shift elements
  Offset const* offsets;
  i64 segments;
  i64 first = 0;
  TALLY_INLINE constexpr i64 at(i64 i) const { return last_segment_at(offsets, 0, segments, (first + i) << shift); }
  constexpr segment_of_milestone from(i64 i) const { return {offsets, segments, first + i}; }
  /// Milestones around so many elements.
  static constexpr i64 around(i64 elements) { return (elements >> shift) + 2; }
};

/// Answers of segments, each seen by the elements of its own: segment s holds those from offset s on and in front of the next offset, and all are in one. Behind
/// the last element, where kernels ask and do not look, it is the last.
template <class T, class Offset>
struct earlier_of_segment {
  using value_type = T;
  static constexpr bool lowerable = true;
  T const* answers;
  Offset const* offsets;
  i64 const* of_milestone;
  i64 elements, segments;
  i64 first = 0;
  TALLY_INLINE constexpr T at(i64 i) const { return answers[segment_of(i)]; }
  /// That of a segment whose number is known.
  TALLY_INLINE constexpr T of_segment(i64 s) const { return answers[s < segments ? s : segments - 1]; }
  TALLY_INLINE constexpr i64 segment_of(i64 i) const {
    i64 const element = first + i < elements ? first + i : elements - 1, milestone = element >> segment_of_milestone<Offset>::shift;
    return last_segment_at(offsets, of_milestone[milestone], of_milestone[milestone + 1] + 1, element);
  }
  constexpr earlier_of_segment from(i64 i) const { return {answers, offsets, of_milestone, elements, segments, first + i}; }
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

/// Answers by key, each seen by the elements that have it; one that has none sees what a group of nothing has. Behind the last element it is the last.
template <class T, class Key>
struct earlier_of_key {
  using value_type = T;
  static constexpr bool lowerable = true;
  T const* answers;
  Key const* keys; ///< of every element
  i64 bins;
  T of_nothing;
  i64 elements;
  i64 first = 0;
  TALLY_INLINE constexpr T at(i64 i) const {
    u64 const key = static_cast<u64>(static_cast<i64>(keys[first + i < elements ? first + i : elements - 1]));
    return key < static_cast<u64>(bins) ? answers[key] : of_nothing;
  }
  constexpr earlier_of_key from(i64 i) const { return {answers, keys, bins, of_nothing, elements, first + i}; }
};

/// Whether the elements of a column are found by a search, so that neighbours are better found together.
template <class C>
inline constexpr bool is_searched = false;
template <class T, class Offset>
inline constexpr bool is_searched<earlier_of_segment<T, Offset>> = true;
template <class T, class Key>
inline constexpr bool is_searched<earlier_of_key<T, Key>> = true;

/// Columns of answers.
template <class Column>
concept answer_column = column<Column> && Column::is_answer;

} // namespace tally::v0
