// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Leaves of the canonical tree element by element: last leaves, host functions behind a mask, and everything on a machine without
// the registers of cpu_registers.hpp. Layer 5, host only.
#pragma once

#include <tally/run/cpu_exact.hpp>
#include <tally/run/cpu_leaf_tree.hpp>

namespace tally::v0::cpu::detail {

/// One leaf of one bound monoid over source.row_at(first), ...; elements at and beyond `count` do not exist, and values behind a false
/// mask are not computed.
template <leaf_shape Shape, class Source, class Leaf>
TALLY_INLINE typename Leaf::state fold_one_by_one(Source const& source, Leaf const& leaf, i64 first, int count) {
  using State = typename Leaf::state;
  auto const& m = leaf.monoid;
  auto const combine = [&](State const& a, State const& b) TALLY_INLINE_LAMBDA { return m.combine(a, b); };
  constexpr int lanes = Shape.lanes(), rows = Shape.rows;
  constexpr bool by_row = !Leaf::monoid_type::law.commutative;
  int const rows_here = count > (rows - 1) * lanes ? rows : (count + lanes - 1) / lanes;
  State closed[lanes];
  State of_row[rows];
  for (int pass = 0; pass < (by_row ? rows : 1); ++pass) {
    for (int l = 0; l < lanes; ++l) {
      lanes_t<typename Leaf::monoid_type, 1> running(m);
      for (int r = by_row ? pass : 0; r < (by_row ? pass + 1 : rows_here); ++r)
        if (int const e = r * lanes + l; e < count) {
          auto const row = source.row_at(first + e);
          if (leaf.mask.eval(row)) leaf.step(running, 0, true, row);
        }
      closed[l] = running.close(m, 0);
    }
    combine_neighbours(combine, closed, lanes);
    of_row[pass] = closed[0];
  }
  if constexpr (by_row) combine_neighbours(combine, of_row, rows);
  return of_row[0];
}
/// The same, not inlined.
template <leaf_shape Shape, class Source, class Leaf>
typename Leaf::state fold_leaf(Source const& source, Leaf const& leaf, i64 first, int count) {
  return with_or_without_registers([&]() TALLY_INLINE_LAMBDA { return fold_one_by_one<Shape>(source, leaf, first, count); });
}

/// Leaves [leaf, leaf + count) of a source of n elements, a subtree.
template <class Columns, class... Leaves, class Source>
[[gnu::noinline, gnu::cold]] void fold_plainly(program<Columns, Leaves...> const& p, Source const& source, i64 n, i64 leaf, i64 count,
                                               pack<typename Leaves::state...>& out) {
  constexpr leaf_shape shape = shape_of<program<Columns, Leaves...>>;
  fold_leaves(p.leaves, leaf, count, out, [&](i64 k, auto& s) {
    i64 const first = k * shape.elements(), left = n - first;
    int const here = left < shape.elements() ? int(left) : shape.elements();
    for_each_index<int(sizeof...(Leaves))>([&](auto i) {
      if constexpr (is_in_tree<decltype(get<i>(s))>)
        get<i>(s) = fold_one_by_one<shape>(source, get<i>(p.leaves), first, here);
      else
        add_ragged(source, get<i>(p.leaves), get<i>(out), first, here);
    });
  });
}

} // namespace tally::v0::cpu::detail
