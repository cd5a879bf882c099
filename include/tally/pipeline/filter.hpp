// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verb filter: lets through the rows for which a condition holds. Layer 2. A filter is a mask, never a compaction, so
// it moves no element and leaves the tree as it is.
#pragma once

#include <tally/pipeline/pipe.hpp>

namespace tally::v0 {

template <class Condition>
struct filtering {
  using tally_stage = filtering;
  Condition condition;

  template <class Pipe>
  static constexpr auto judge() {
    if constexpr (finished<Pipe>)
      return reason<because::nothing_follows_reduce<Pipe>>{};
    else if constexpr (fold_like<Condition>)
      return reason<because::an_element_is_no_fold<Condition>>{};
    else if constexpr (arity_of<Condition>() > current_count<Pipe>)
      return reason<because::placeholder_needs_a_column<because::names<arity_of<Condition>()>,
                                                        because::there_are<current_count<Pipe>>>>{};
    else
      return judge_condition<decltype(as_element<current_count<Pipe>>(std::declval<Condition>())), elements_of<Pipe>>();
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

/// Not one condition: refused.
template <class... Conditions>
  requires(sizeof...(Conditions) != 1)
auto filter(Conditions...) -> because::the_stage_takes_other_arguments<because::there_are<int(sizeof...(Conditions))>> {
  return {};
}

} // namespace tally::v0
