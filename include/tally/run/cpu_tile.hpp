// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tile loop of the CPU back end: folds leaves of the canonical tree with the lanes side by side, so that the compiler
// can keep them in vector registers. Layer 5. Spreading tiles over cores lives in dsl/cpu.
#pragma once

#include <tally/fold/tree.hpp>

namespace tally::inline v0::cpu {

/// Lanes that are in flight together: enough for the vector registers, few enough to stay in them.
inline constexpr int lanes_in_flight = 16;

/// One leaf of one bound monoid; elements at and beyond `count` do not exist.
template <leaf_shape Shape, bool Whole, class Program, class Leaf>
auto fold_leaf(Program const& p, Leaf const& leaf, i64 first, int count) {
  using State = typename Leaf::state;
  auto const& m = leaf.monoid;
  auto const combine = [&](State const& a, State const& b) { return m.combine(a, b); };
  constexpr int lanes = Shape.lanes(), rows = Shape.rows;
  constexpr int width = lanes < lanes_in_flight ? lanes : lanes_in_flight;
  constexpr bool by_row = !Leaf::monoid_type::law.commutative;
  State closed[lanes];
  State of_row[rows];
  for (int pass = 0; pass < (by_row ? rows : 1); ++pass) {
    for (int l = 0; l < lanes; l += width) {
      lanes_t<typename Leaf::monoid_type, width> running(m);
      for (int r = by_row ? pass : 0; r < (by_row ? pass + 1 : rows); ++r) {
        int const e = r * lanes + l;
        for (int j = 0; j < width; ++j)
          if (Whole || e + j < count)
            leaf.step(running, j, true, p.row_at(first + e + j));
      }
      for (int j = 0; j < width; ++j)
        closed[l + j] = running.close(m, j);
    }
    combine_neighbours(combine, closed, lanes);
    of_row[pass] = closed[0];
  }
  if constexpr (by_row)
    combine_neighbours(combine, of_row, rows);
  return of_row[0];
}

/// The states of one leaf of the tree.
template <class Program>
typename Program::states fold_leaves(Program const& p, i64 leaf) {
  constexpr leaf_shape shape = shape_of<Program>;
  i64 const first = leaf * shape.elements();
  i64 const left = p.extent - first;
  typename Program::states s = p.identity();
  for_each_index<Program::leaf_count>([&](auto i) {
    if (left >= shape.elements())
      get<i>(s) = fold_leaf<shape, true>(p, get<i>(p.leaves), first, shape.elements());
    else
      get<i>(s) = fold_leaf<shape, false>(p, get<i>(p.leaves), first, static_cast<int>(left));
  });
  return s;
}

/// The subtree over `count` leaves that start at `leaf`.
template <class Program>
typename Program::states fold_subtree(Program const& p, i64 leaf, i64 count) {
  auto const combine = [&](auto const& a, auto const& b) { return p.combine(a, b); };
  neighbour_stack<typename Program::states> stack;
  for (i64 k = 0; k < count; ++k)
    stack.push(combine, fold_leaves(p, leaf + k));
  return stack.root(combine);
}

} // namespace tally::inline v0::cpu
