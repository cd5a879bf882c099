// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups between offsets: where the segments of a read begin and end. Layer 1. Segment s holds the elements [offset s, offset s + 1);
// it is folded exactly as if it were read alone, so its bits depend on its own elements and on nothing beside them.
#pragma once

#include <tally/fold/groups.hpp>
#include <tally/fold/program.hpp>

namespace tally::v0 {

/// Offsets in host or device memory: one more of them than there are segments, or room for so many, of which *count are there.
template <class Offset>
struct groups_between_offsets {
  Offset const* offsets;
  i64 entries;
  Offset const* count = nullptr;

  TALLY_INLINE constexpr i64 segments() const { return entries - 1; }
  TALLY_INLINE constexpr i64 begin(i64 s) const { return static_cast<i64>(offsets[s]); }
  TALLY_INLINE constexpr i64 end(i64 s) const { return static_cast<i64>(offsets[s + 1]); }
  /// The same with n segments, as far as there is room.
  TALLY_INLINE constexpr groups_between_offsets with(i64 n) const {
    i64 const most = segments();
    return {offsets, 1 + (n < 0 ? 0 : n < most ? n : most), nullptr};
  }
};

/// The offsets of segments of one size, which are nowhere in memory.
struct even_offsets {
  i64 size;
  i64 first = 0; ///< number of the one that [0] is
  TALLY_INLINE constexpr i64 operator[](i64 s) const { return (first + s) * size; }
  TALLY_INLINE constexpr even_offsets operator+(i64 s) const { return {size, first + s}; }
};
/// Rows as segments.
struct evenly {};
template <>
struct groups_between_offsets<evenly> {
  even_offsets offsets;
  i64 entries;
  i64 const* count = nullptr;

  TALLY_INLINE constexpr i64 segments() const { return entries - 1; }
  TALLY_INLINE constexpr groups_between_offsets with(i64) const { return *this; }
};

/// The elements of a program from `begin` on, as those of one segment: their rows know their positions in the source and in the
/// segment.
template <class Program>
struct segment_rows {
  Program const& p;
  i64 begin;
  TALLY_INLINE constexpr auto row_at(i64 e) const { return numbered(p.row_at(begin + e), e); }
  /// Whether the source has elements up to e, which may be behind the segment.
  TALLY_INLINE constexpr bool reaches(i64 e) const { return begin + e <= p.extent; }

private:
  template <class... Ts>
  TALLY_INLINE static constexpr group_row<Ts...> numbered(row<Ts...> const& r, i64 e) {
    return {r.values, r.position, e};
  }
};

} // namespace tally::v0
