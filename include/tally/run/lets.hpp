// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a pipeline with lets to one without: every let is folded, where the pipeline runs, and a column of its answers takes its
// place. Layer 5. A fold that several lets name is run once.
#pragma once

#include <tally/run/let_answers.hpp>

namespace tally::v0::detail {

/// A source as a grid.
template <class... Columns>
constexpr auto grid_of(source<Columns...> const& s) {
  grid<1, Columns...> g{};
  g.columns = s.columns;
  for (std::size_t i = 0; i < sizeof...(Columns); ++i)
    g.extents[i] = g.axes[i][0] = s.extents[i];
  return g;
}
template <int Rank, class... Columns>
constexpr auto grid_of(grid<Rank, Columns...> const& s) {
  return s;
}

/// The extents of a let's answers must be those of the source, along the axes that they have, and its segments or keys those of as many elements.
template <class Let, int Rank, class... Columns>
void check_let(Let const& let, grid<Rank, Columns...> const& beside) {
  using Where = typename Let::where;
  if constexpr (!lets_along_axes<Let>) {
    for (int k = 0; k < Rank; ++k)
      if (i64 const has = extent_along(let.pipe.source, k); has != beside.extent_along(k))
        throw extent_mismatch("the source of a let has " + std::to_string(has) + " elements along axis " + std::to_string(k) + ", the source beside it has " +
                              std::to_string(beside.extent_along(k)) + ".");
  } else if constexpr (Where::kept > 0)
    for (int k = 0; k < Rank; ++k)
      if (i64 const has = extent_along(let.pipe.source, k); !Where::is_reduced(k) && has != beside.extent_along(k))
        throw extent_mismatch("a let has " + std::to_string(has) + " answers along axis " + std::to_string(k) + ", the source has " +
                              std::to_string(beside.extent_along(k)) + " elements.");
}

/// A grid with further columns that have all its axes.
template <int Rank, class... Columns, class... More>
constexpr auto beside(grid<Rank, Columns...> const& g, pack<More...> const& more) {
  constexpr int own = int(sizeof...(Columns)), all = own + int(sizeof...(More));
  grid<Rank, Columns..., More...> out{};
  out.columns = join(g.columns, more);
  i64 whole = 1;
  for (int k = 0; k < Rank; ++k)
    whole *= g.extent_along(k);
  for (int i = 0; i < all; ++i) {
    out.extents[i] = i < own ? g.extents[i] : whole;
    for (int k = 0; k < Rank; ++k)
      out.axes[i][k] = i < own ? g.axes[i][k] : any_extent;
  }
  return out;
}

/// A pipe and what follows it, without lets.
template <class Pipe, class Items>
struct pipe_and_items {
  Pipe pipe;
  Items items;
};
/// Puts columns in the place of lets; source has them behind its own, Own in number.
template <int Own, class Source, class Pipe, class Items>
constexpr auto with_columns_for_lets(Source const& source, Pipe const& pipe, Items const& items) {
  constexpr int of_mask = Own + let_count<decltype(pipe.values)>, of_items = of_mask + let_count<decltype(pipe.mask)>;
  auto values = without_lets<Own, false>(pipe.values);
  auto mask = without_lets<of_mask, false>(pipe.mask);
  auto rest = without_lets<of_items, true>(items);
  using Pipe2 = piped<Source, decltype(values), decltype(mask)>;
  return pipe_and_items<Pipe2, decltype(rest)>{{source, values, mask}, rest};
}

template <class... Options, class Pipe, class Items, class Place>
auto without_lets_in(Pipe const& pipe, Items const& items, Place where, contract c, answers_of_lets& kept);

/// Throws empty_input where a let folds a whole source that has no element, and its fold has no answer of nothing.
template <class Node, class Program, class Let>
void check_not_empty(Node const& node, Program const& p, Let const& let, i64 extent) {
  auto const nothing = p.identity();
  answers::outcome<std::remove_cvref_t<decltype(p.leaves)>, typename Program::states> const o{p.leaves, nothing, {0}};
  if (extent == 0 && answers::is_empty(node, o))
    throw_no_element(text_of(get<0>(let.item.parts())), 0);
}

/// The answers of a let: those that are there, or folded now, after the lets in it.
template <class... Options, class Let, class Place>
auto answers_of_let(Let const& let, Place where, contract c, answers_of_lets& kept) {
  auto const r = without_lets_in<Options...>(let.pipe, make_pack(let.item), where, c, kept);
  auto const d = get<0>(r.items).bind(pipe_for<Options...>(r.pipe));
  using T = answer_in_domain<std::remove_cvref_t<decltype(d)>>;
  using There = typename answers_of_where<T, std::remove_cvref_t<decltype(d.where)>, std::remove_cvref_t<decltype(d.program)>>::type;
  if (auto const* known = static_cast<There const*>(kept.find(let)))
    return *known;
  check_folds(d.program.leaves);
  if constexpr (is_sole_answer<Let>())
    check_not_empty(get<0>(d.nodes), d.program, let, layout_of(r.pipe.source, Let::where::is_reduced).extent);
  There const there = answers_kept<T>(d, r.pipe.source, where, c, kept);
  kept.add(let, &kept.keep(there));
  return there;
}

/// A pipe and its items with columns of answers in the place of lets; `kept` owns the answers.
template <class... Options, class Pipe, class Items, class Place>
auto without_lets_in(Pipe const& pipe, Items const& items, Place where, contract c, answers_of_lets& kept) {
  check_source(pipe.source);
  auto const lets = all_lets(pipe, items);
  constexpr int count = decltype(all_lets(pipe, items))::size;
  if constexpr (count == 0) {
    return pipe_and_items<Pipe, Items>{pipe, items};
  } else {
    auto const own = grid_of(pipe.source);
    unpack([&](auto const&... l) { (check_let(l, own), ...); }, lets);
    auto const columns = unpack(
        [&](auto const&... l) { return make_pack(column_of_let<Items>(l, answers_of_let<Options...>(l, where, c, kept), own)...); }, lets);
    return with_columns_for_lets<decltype(own.columns)::size>(beside(own, columns), pipe, items);
  }
}

} // namespace tally::v0::detail
