// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tree of leaves of all folds of a program at once, whatever folds a leaf. Layer 5, host only. One tree for all costs a user's compiler less than
// one for each (docs/decisions/what_a_users_compiler_pays.md).
#pragma once

#include <tally/fold/exact.hpp>
#include <tally/fold/tree.hpp>

#include <type_traits>

namespace tally::v0::cpu::detail {

/// What stands for an exact sum in the tree: its order is free, and its leaves are added as they come.
struct not_in_tree {};
template <class Leaf>
using state_in_tree = std::conditional_t<exact_monoid<typename Leaf::monoid_type>, not_in_tree, typename Leaf::state>;
template <class State>
inline constexpr bool is_in_tree = !std::is_same_v<std::remove_cvref_t<State>, not_in_tree>;

/// Leaves [leaf, leaf + count), at least one: take(k, s) gives leaf k the states s, but for exact sums, which it adds to `out` itself.
template <class... Leaves, class Take>
TALLY_INLINE void fold_leaves(pack<Leaves...> const& leaves, i64 leaf, i64 count, pack<typename Leaves::state...>& out, Take const& take) {
  using states = pack<state_in_tree<Leaves>...>;
  auto const each = [](auto const& f) TALLY_INLINE_LAMBDA { for_each_index<int(sizeof...(Leaves))>(f); };
  auto const combine = [&](states const& a, states const& b) {
    states s = a;
    each([&](auto i) {
      if constexpr (is_in_tree<decltype(get<i>(s))>)
        get<i>(s) = get<i>(leaves).monoid.combine(get<i>(a), get<i>(b));
    });
    return s;
  };
  neighbour_stack<states, 40> tree;
  i64 k = leaf;
  do { // at least one leaf, and the compiler may know it
    states s;
    take(k, s);
    tree.push(combine, s);
  } while (++k < leaf + count);
  states const root = tree.root(combine);
  each([&](auto i) TALLY_INLINE_LAMBDA {
    if constexpr (is_in_tree<decltype(get<i>(root))>)
      get<i>(out) = get<i>(root);
  });
}

} // namespace tally::v0::cpu::detail
