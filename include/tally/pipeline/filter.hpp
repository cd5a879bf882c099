// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verb filter: lets through the rows for which a condition holds. Layer 2. A filter is a mask, never a compaction, so
// it moves no element and leaves the tree as it is.
#pragma once

#include <tally/pipeline/pipe.hpp>

namespace tally::inline v0 {

template <class Condition>
struct filtering {
  using tally_stage = filtering;
  Condition condition;

  template <class Pipe>
  static constexpr auto judge() {
    if constexpr (finished<Pipe>)
      return reason<because::nothing_follows_reduce<Pipe>>{};
    else if constexpr (arity_of<Condition>() > current_count<Pipe>)
      return reason<because::placeholder_needs_a_column<Pipe>>{};
    else if constexpr (!std::is_same_v<bool, value_in<decltype(as_element<current_count<Pipe>>(std::declval<Condition>())), Pipe>>)
      return reason<because::filter_needs_a_condition<Pipe>>{};
    else
      return reason<because::fine>{};
  }
  template <class Pipe>
  using why_not = typename decltype(judge<Pipe>())::type;

  template <class Pipe>
  constexpr auto on(Pipe const& p) const {
    auto mask = both_masks(p.mask, as_element<current_count<Pipe>>(condition).substitute(p.values));
    return piped<decltype(p.source), decltype(p.values), decltype(mask)>{p.source, p.values, mask};
  }
};

/// Only the rows for which the condition (bool, of the current elements) holds; several filters are one conjunction.
template <class Condition>
constexpr auto filter(Condition condition) {
  return filtering<Condition>{condition};
}

} // namespace tally::inline v0
