// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The items of a reduction with groupings: which are folds of the whole source and which may share a read, and how their answers are put together. Layer 5.
#pragma once

#include <tally/run/in_turns.hpp>
#include <tally/run/run.hpp>
#include <tally/run/run_mixed.hpp>

namespace tally::v0::detail {

/// The items of a grouped reduction that are folds of the whole source, as a pack.
constexpr pack<> whole_folds(pack<> const&) { return {}; }
template <class Item, class... Items>
constexpr auto whole_folds(pack<Item, Items...> const& items) {
  if constexpr (grouping<Item>)
    return whole_folds(items.rest);
  else
    return join(make_pack(items.first), whole_folds(items.rest));
}
/// How many of the items in front of item I are folds of the whole source.
template <int I, class... Items>
constexpr int whole_folds_before(pack<Items...> const*) {
  int n = 0, i = 0;
  ((n += i < I && !grouping<Items> ? 1 : 0, ++i), ...);
  return n;
}

template <class... Items>
constexpr int groupings_in(pack<Items...> const*) {
  return (0 + ... + int(grouping<Items>));
}

/// The pipe that folds are planted over under the contract among the options.
template <class... Options, class Pipe>
constexpr auto pipe_for(Pipe const& pipe) {
  if constexpr (asks_exact<Options...>)
    return answers::exactly<Pipe>{pipe};
  else
    return pipe;
}

/// The answer of item I, a fold of the whole source, given the bound reduction of all of them and its states.
template <int I, class R, class Whole, class States>
auto answer_of_whole(R const& r, Whole const& whole, States const& states) {
  answers::outcome<decltype(whole.program.leaves), States> const o{whole.program.leaves, states, {whole.program.extent}};
  constexpr int at = whole_folds_before<I>(static_cast<decltype(r.folds) const*>(nullptr));
  return answer_of(get<at>(whole.nodes), get<I>(r.folds), o);
}
/// The answers of all items, one alone or a tuple; `answer(index)` has that of one.
template <class R, class Answer>
auto answers_of_items(R const&, Answer const& answer) {
  return [&]<int... I>(index_list<I...>) {
    if constexpr (sizeof...(I) == 1)
      return answer(index_constant<0>{});
    else
      return std::tuple(answer(index_constant<I>{})...);
  }(indices_up_to<decltype(R::folds)::size>{});
}

/// What may join in one read of a matrix among the items of a reduction.
template <class R>
inline constexpr mixed_items mixed_items_of =
    find_mixed_items(rank_of<std::remove_cvref_t<decltype(R::pipe.source)>>, static_cast<decltype(R::folds) const*>(nullptr));

/// The domains of a reduction that fold segments, where others may share its reads.
template <class R, class Pipe>
constexpr auto segments_in_reduction(R const& r, Pipe const& pipe) {
  if constexpr (decltype(R::folds)::size > 1)
    return segments_of_items(r.folds, pipe);
  else
    return pack<>{};
}

} // namespace tally::v0::detail
