// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verb map: replaces the current elements by expressions of them. Layer 2. Nothing is stored: the expressions are
// substituted into whatever follows.
#pragma once

#include <tally/pipeline/pipe.hpp>

namespace tally::v0 {

template <class... Functions>
struct mapping {
  using tally_stage = mapping;
  pack<Functions...> functions;

  template <class Pipe>
  static constexpr auto judge() {
    constexpr int highest = detail::max_of(0, arity_of<Functions>()...);
    if constexpr (finished<Pipe>)
      return reason<because::nothing_follows_reduce<Pipe>>{};
    else if constexpr ((fold_like<Functions> || ...))
      return reason<because::an_element_is_no_fold<Functions...>>{};
    else if constexpr (highest > current_count<Pipe>)
      return reason<because::placeholder_needs_a_column<because::names<highest>, because::there_are<current_count<Pipe>>>>{};
    else
      return first_reason<decltype(judge_element<decltype(as_element<current_count<Pipe>>(std::declval<Functions>())),
                                                 elements_of<Pipe>>())...>();
  }
  template <class Pipe>
  using why_not = typename decltype(judge<Pipe>())::type;

  template <class Pipe>
  constexpr auto on(Pipe const& p) const {
    auto values = unpack(
        [&](auto const&... f) { return make_pack(as_element<current_count<Pipe>>(f).substitute(p.values)...); },
        functions);
    return piped<decltype(p.source), decltype(values), decltype(p.mask)>{p.source, values, p.mask};
  }
};

/// One or several expressions of the current elements, which become the new _1, _2, ...; a host callable takes all of them.
template <class... Functions>
  requires(sizeof...(Functions) > 0)
constexpr auto map(Functions... functions) {
  return mapping<Functions...>{make_pack(functions...)};
}

/// Of nothing: refused.
template <class... None>
  requires(sizeof...(None) == 0)
auto map(None...) -> because::the_stage_takes_other_arguments<because::there_are<int(sizeof...(None))>> {
  return {};
}

} // namespace tally::v0
