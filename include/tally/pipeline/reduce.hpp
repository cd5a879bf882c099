// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verb reduce: ends a pipeline with folds, and groupings of folds, that are computed in one read. Layer 2.
#pragma once

#include <tally/pipeline/judge_fold.hpp>
#include <tally/pipeline/pipe.hpp>

namespace tally::v0 {

/// A whole reduction: what is read, what is done to a row, what is folded. run() gives its answers.
template <class Pipe, class... Folds>
struct reduced {
  using tally_pipeline = reduced;
  Pipe pipe;
  pack<Folds...> folds;
};

/// A reduction some of whose answers are arrays: folds of the whole source and groupings, side by side.
template <class Pipe, class... Items>
struct grouped {
  using tally_pipeline = grouped;
  Pipe pipe;
  pack<Items...> folds;
};
template <class R>
inline constexpr bool is_grouped = false;
template <class Pipe, class... Items>
inline constexpr bool is_grouped<grouped<Pipe, Items...>> = true;
template <class T>
concept grouped_reduction = is_grouped<T>;

/// Whether a pipeline looks at answers of another (pipeline/let.hpp), or gives its elements (pipeline/collect.hpp).
template <class T>
inline constexpr bool looks_back = false;
template <template <class...> class Node, class... Parts>
inline constexpr bool looks_back<Node<Parts...>> = !refused<Node<Parts...>> && (false || ... || looks_back<Parts>);

namespace detail {
template <class Item, class Pipe>
constexpr auto judge_item() {
  if constexpr (grouping<Item>)
    return Item::template judge<Pipe>();
  else
    return judge_fold<Item, Pipe>();
}
} // namespace detail

template <class... Folds>
struct reducing {
  using tally_stage = reducing;
  pack<Folds...> folds;

  template <class Pipe>
  static constexpr auto judge() {
    if constexpr (finished<Pipe>)
      return reason<because::nothing_follows_reduce<Pipe>>{};
    else
      return first_reason<decltype(detail::judge_item<Folds, Pipe>())...>();
  }
  template <class Pipe>
  using why_not = typename detail::verdict_on_answers<int(sizeof...(Folds)), decltype(judge<Pipe>())>::type::type;

  template <class Pipe>
  constexpr auto on(Pipe const& p) const {
    if constexpr ((grouping<Folds> || ...))
      return grouped<Pipe, Folds...>{p, folds};
    else
      return reduced<Pipe, Folds...>{p, folds};
  }
};

namespace detail {
template <class... Folds>
constexpr auto judge_reduce() {
  using on_answers = because::answers<int(sizeof...(Folds))>;
  if constexpr ((refused<Folds> || ...))
    return reason<absorbed<on_answers>>{};
  else if constexpr (sizeof...(Folds) > 0 && ((fold_like<Folds> || grouping<Folds>) && ...))
    return allowed{};
  else
    return reason<because::reduce_needs_folds<on_answers, Folds...>>{};
}
template <class... Folds>
concept folds = std::same_as<decltype(judge_reduce<Folds...>()), allowed>;
} // namespace detail

/// The folds and groupings to compute, one answer each, all in one read of the source.
template <class... Folds>
  requires detail::folds<Folds...>
constexpr auto reduce(Folds... folds) {
  return reducing<Folds...>{make_pack(folds...)};
}

/// What is no fold is refused, and the type says why.
template <class... Folds>
  requires(!detail::folds<Folds...>)
auto reduce(Folds...) -> typename decltype(detail::judge_reduce<Folds...>())::type {
  return {};
}

} // namespace tally::v0
