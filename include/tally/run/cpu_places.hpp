// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds whose answer is a place, on the CPU: where the extreme of a leaf is, or the first or last element that passes, found by passes over the
// leaf in blocks of a known length, which compilers make vectors of. Layer 5, host only. The states are those that lanes give
// (fold/arg.hpp); these folds are free of order.
#pragma once

#include <tally/fold/arg.hpp>

namespace tally::v0::cpu {

/// Elements that are looked at without a branch.
inline constexpr int elements_of_block = 64;

/// The first (last) block of Elements elements that has one for which f(e) holds, and in it the first (last): -1 where there is none.
template <int Elements, bool First, class F>
TALLY_INLINE int place_where(F const& f) {
  static_assert(Elements % elements_of_block == 0);
  for (int b = 0; b < Elements; b += elements_of_block) {
    int const block = First ? b : Elements - elements_of_block - b;
    int any = 0;
    for (int j = 0; j < elements_of_block; ++j) any |= f(block + j);
    if (any != 0)
      for (int j = 0; j < elements_of_block; ++j)
        if (int const e = block + (First ? j : elements_of_block - 1 - j); f(e)) return e;
  }
  return -1;
}

/// Has `of_leaf<Elements>(m, position, on, x)`: the state of a whole leaf of a fold of such a kind, whose first element has the given position;
/// `on` is null or not 0 where an element passes.
template <class M>
struct place_search;
template <class M>
concept finds_a_place = requires { sizeof(place_search<M>); };

template <class T, bool Least>
struct place_search<arg_monoid<T, Least>> {
  using monoid = arg_monoid<T, Least>;
  using key = typename monoid::key;
  template <int Elements, class Mask>
  TALLY_INLINE static typename monoid::state of_leaf(monoid const& m, i64 position, Mask const* on, T const* x) {
    constexpr key farthest = monoid::farthest_key();
    auto const further = [](key a, key b) TALLY_INLINE_LAMBDA { return Least ? (b < a ? b : a) : (a < b ? b : a); };
    key best[elements_of_block];
    for (auto& k : best) k = farthest;
    for (int b = 0; b < Elements; b += elements_of_block)
      if (on == nullptr)
        for (int j = 0; j < elements_of_block; ++j) best[j] = further(best[j], ordered_key<Least>(x[b + j]));
      else
        for (int j = 0; j < elements_of_block; ++j) best[j] = further(best[j], on[b + j] != 0 ? ordered_key<Least>(x[b + j]) : farthest);
    key extreme = farthest;
    for (key k : best) extreme = further(extreme, k);
    int const e = on == nullptr
                      ? place_where<Elements, true>([&](int i) TALLY_INLINE_LAMBDA { return ordered_key<Least>(x[i]) == extreme; })
                      : place_where<Elements, true>([&](int i) TALLY_INLINE_LAMBDA { return (ordered_key<Least>(x[i]) == extreme) & (on[i] != 0); });
    return e < 0 ? m.identity() : typename monoid::state{extreme, position + e};
  }
};

template <class T, bool First>
struct place_search<end_monoid<T, First>> {
  using monoid = end_monoid<T, First>;
  template <int Elements, class Mask>
  TALLY_INLINE static typename monoid::state of_leaf(monoid const& m, i64 position, Mask const* on, T const* x) {
    int const e = on == nullptr ? (First ? 0 : Elements - 1) : place_where<Elements, First>([&](int i) TALLY_INLINE_LAMBDA { return on[i] != 0; });
    return e < 0 ? m.identity() : m.lift(position + e, x[e]);
  }
};

} // namespace tally::v0::cpu
