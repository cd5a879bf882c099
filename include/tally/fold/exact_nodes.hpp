// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Answer nodes over exact sums: one rounding, at the end. Layer 1.
#pragma once

#include <tally/fold/answer_nodes.hpp>
#include <tally/fold/exact.hpp>

namespace tally::inline v0::answers {

/// The mean from an exact sum: one rounding instead of two.
template <class Sum, class Count>
struct exact_mean {
  Sum sum;
  Count count;
  template <class Outcome>
  constexpr auto value(Outcome const& o) const {
    return get<Sum::index>(o.leaves).monoid.mean(get<Sum::index>(o.states), count.value(o));
  }
};

/// The variance, or its root, from the exact sums of numbers and of their squares.
template <class Number, class To, int Fewer, bool Root, class Sum, class Squares, class Count>
struct exact_spread {
  Sum sum;
  Squares squares;
  Count count;
  template <class Outcome>
  To value(Outcome const& o) const {
    To const v = exact_variance<Number, To, accumulator_t<Number>>(get<Sum::index>(o.states), get<Squares::index>(o.states),
                                                                   count.value(o), Fewer);
    if constexpr (Root)
      return math::sqrt(v);
    else
      return v;
  }
};

} // namespace tally::inline v0::answers
