// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The canonical tree, version 1: the one order in which a reproducible answer is combined. Layer 1. It depends on the
// extent and on the element types alone, never on a chip, a thread count, an alignment or a tile.
//
// A *leaf* is rows x lanes consecutive elements. Element e of a leaf belongs to row e / lanes and lane e % lanes. A fold
// that commutes runs down the rows inside each lane and then combines the lanes as a balanced tree of neighbours; a fold
// that does not combines the lanes of each row, then the rows, as balanced trees of neighbours. Leaves are combined as a
// balanced tree of neighbours over the leaf index, a node without a right child being its left one. An element past the
// end, or held back by a mask, is skipped: it leaves its lane as it is.
#pragma once

#include <tally/element/unread.hpp>
#include <tally/fold/program.hpp>

namespace tally::v0 {

/// The shape of a leaf: 32 groups of `group` neighbouring lanes, `rows` times.
struct leaf_shape {
  int group;
  int rows;
  constexpr int lanes() const { return 32 * group; }
  constexpr int elements() const { return lanes() * rows; }
  friend constexpr bool operator==(leaf_shape const&, leaf_shape const&) = default;
};

inline constexpr int tree_version = 1;

namespace detail {
template <class Column>
constexpr int bytes_in_memory() {
  if constexpr (is_unread<Column>)
    return bytes_in_memory<typename Column::in_place_of>();
  else if constexpr (memory_column<Column> && !requires { Column::is_answer; })
    return int(sizeof(typename Column::value_type));
  else
    return 0;
}
template <class... Columns>
constexpr leaf_shape shape_of(pack<Columns...> const*) {
  constexpr int widest = max_of(0, bytes_in_memory<Columns>()...);
  constexpr int fit = 16 / (widest == 0 ? 4 : widest);
  return {fit < 1 ? 1 : (fit > 8 ? 8 : (fit & (fit - 1)) == 0 ? fit : (fit >= 4 ? 4 : 2)), 8};
}
} // namespace detail

/// The leaf of a program: a group is 16 bytes of the widest column in memory, at most 8 elements. Earlier answers do not count, columns that are not read do.
template <class Program>
inline constexpr leaf_shape shape_of = detail::shape_of(static_cast<typename Program::columns_type const*>(nullptr));

/// Combines n states as a balanced tree of neighbours, in place; the answer is s[0].
template <class Combine, class State>
TALLY_INLINE constexpr void combine_neighbours(Combine const& combine, State* s, i64 n) {
  for (i64 h = 1; h < n; h *= 2)
    for (i64 i = 0; i + h < n; i += 2 * h)
      s[i] = combine(s[i], s[i + h]);
}

/// The same tree, fed one node after the other: keeps one state per level.
template <class State, int Levels = 64>
struct neighbour_stack {
  State kept[Levels];
  int depth = 0;
  i64 pushed = 0;
  template <class Combine>
  TALLY_INLINE constexpr void push(Combine const& combine, State s) {
    for (i64 k = pushed; k & 1; k >>= 1)
      s = combine(kept[--depth], s);
    kept[depth++] = s;
    ++pushed;
  }
  /// The root; pushed must be positive.
  template <class Combine>
  TALLY_INLINE constexpr State root(Combine const& combine) {
    State s = kept[--depth];
    while (depth > 0)
      s = combine(kept[--depth], s);
    return s;
  }
};

/// Elements of a group that lanes of registers may fold before they become a state: as many as a float counts.
inline constexpr i64 elements_counted_in_lanes = i64(1) << 24;

} // namespace tally::v0
