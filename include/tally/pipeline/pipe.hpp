// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pipe: a source on its way through stages, and THE operator|. Layer 2. The operator is constrained by shape alone;
// whether a stage may follow is the stage's why_not, whose answer is a class of because:: that prints one sentence. Where
// it may not, the operator returns that class, so the compiler completes it, and prints, at the user's line.
#pragma once

#include <tally/element/user_function.hpp>
#include <tally/fold/fold.hpp>
#include <tally/pipeline/judge_element.hpp>
#include <tally/pipeline/source.hpp>

namespace tally::v0 {

/// A source, the current elements as expressions over its columns, and the mask so far.
template <class Source, class Values, class Mask>
struct piped {
  using tally_pipeline = piped;
  Source source;
  Values values;
  Mask mask;
};

namespace detail {
template <class Pipe>
struct row_type;
template <class... Columns, class Values, class Mask>
struct row_type<piped<source<Columns...>, Values, Mask>> {
  using type = row<typename Columns::value_type...>;
};
template <class Row, class Values>
struct element_row;
template <class Row, class... Values>
struct element_row<Row, pack<Values...>> {
  using type = row<value_of<Values, Row>...>;
};
} // namespace detail

/// The row type of a pipe's source.
template <class Pipe>
using row_of = typename detail::row_type<Pipe>::type;

/// The types of the current elements of a pipe, as a row.
template <class Pipe>
using elements_of = typename detail::element_row<row_of<Pipe>, decltype(Pipe::values)>::type;

/// The number of current elements, the ones that _1, _2, ... name.
template <class Pipe>
inline constexpr int current_count = decltype(Pipe::values)::size;

/// The type an expression over the current elements of a pipe has.
template <class Expr, class Pipe>
using value_in = value_of<Expr, elements_of<Pipe>>;

template <class T>
concept pipeline = requires { typename T::tally_pipeline; };
/// A pipeline that already ends with reduce.
template <class T>
concept finished = pipeline<T> && requires(T p) { p.folds; };
/// What folds into an array of answers: over, by_segment, by_key.
template <class T>
concept grouping = requires { typename T::tally_grouping; };
template <class T>
concept stage = requires { typename T::tally_stage; };

template <class Pipe, class Stage>
using why_not = typename Stage::template why_not<Pipe>;

/// Whether a stage may follow; asking instantiates no message.
template <class Stage, class Pipe>
concept accepts = std::same_as<why_not<Pipe, Stage>, because::fine>;

template <class... Columns>
  requires columns<Columns...>
constexpr auto from(Columns&&... columns); // pipeline/from.hpp
template <class... Folds>
struct reducing; // pipeline/reduce.hpp

/// A range becomes a source where a pipeline begins.
template <class R>
constexpr auto as_pipeline(R&& r) {
  if constexpr (pipeline<std::remove_cvref_t<R>>)
    return r;
  else
    return from(static_cast<R&&>(r));
}

/// A fold or a grouping is a stage: from(x) | sum is from(x) | reduce(sum).
template <class Right>
constexpr auto as_stage(Right right) {
  if constexpr (fold_like<Right> || grouping<Right>)
    return reducing<Right>{make_pack(right)};
  else
    return right;
}

namespace detail {
/// Something of ours stands beside the bar.
template <class Left, class Right>
concept beside_a_bar = stage<Right> || grouping<Right> || fold_like<Right> || expression<Right> || refused<Right> || pipeline<Left> ||
                       stage<Left> || fold_like<Left> || expression<Left> || refused<Left>;

/// How many answers a refused pipeline would have had, as far as that is known.
template <class Left, class Right>
constexpr int answers_after() {
  if constexpr (grouping<Right>)
    return 1;
  else if constexpr (requires(Right r) { r.folds; })
    return decltype(Right::folds)::size;
  else
    return refused<Right> ? answer_count<Right> : answer_count<Left>;
}

template <class Left, class Right>
  requires beside_a_bar<std::remove_cvref_t<Left>, Right>
constexpr auto judge_pipe() {
  using L = std::remove_cvref_t<Left>;
  if constexpr (refused<L> || refused<Right>) {
    return reason<absorbed<because::answers<answers_after<L, Right>()>>>{};
  } else if constexpr (stage<L> || fold_like<L> || expression<L> || !(stage<Right> || fold_like<Right> || grouping<Right>)) {
    return reason<because::pipe_composes_stages<L, Right>>{};
  } else if constexpr (!pipeline<L> && !columns<Left>) {
    return reason<because::from_needs_columns<because::answers<answers_after<L, Right>()>, L>>{};
  } else {
    using Pipe = decltype(as_pipeline(std::declval<Left>()));
    using Stage = decltype(as_stage(std::declval<Right>()));
    return reason<why_not<Pipe, Stage>>{};
  }
}
template <class Left, class Right>
concept composable = beside_a_bar<std::remove_cvref_t<Left>, Right> &&
                     std::same_as<decltype(judge_pipe<Left, Right>()), allowed>;
template <class Left, class Right>
concept not_composable = beside_a_bar<std::remove_cvref_t<Left>, Right> && !composable<Left, Right>;
} // namespace detail

/// Composition, the only operator of pipelines.
template <class Left, class Right>
  requires detail::composable<Left, Right>
constexpr auto operator|(Left&& left, Right right) {
  return as_stage(right).on(as_pipeline(static_cast<Left&&>(left)));
}
/// What does not compose: its type says why. (Not constexpr, or a compiler would look into it before it names the line.)
template <class Left, class Right>
  requires detail::not_composable<Left, Right>
auto operator|(Left&&, Right) -> typename decltype(detail::judge_pipe<Left, Right>())::type {
  return {};
}

} // namespace tally::v0
