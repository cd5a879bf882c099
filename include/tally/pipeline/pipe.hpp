// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pipe: a source on its way through stages, and THE operator|. Layer 2. The operator is constrained by shape alone;
// whether a stage may follow is the stage's why_not, whose answer is a class of because:: that prints one sentence.
#pragma once

#include <tally/element/user_function.hpp>
#include <tally/fold/fold.hpp>
#include <tally/pipeline/source.hpp>

namespace tally::inline v0 {

/// A source, the current elements as expressions over its columns, and the mask so far.
template <class Source, class Values, class Mask>
struct piped {
  using tally_pipeline = piped;
  Source source;
  Values values;
  Mask mask;
};

namespace detail {
template <class... Columns>
using row_of = row<typename Columns::value_type...>;
template <class Pipe>
struct row_type;
template <class... Columns, class Values, class Mask>
struct row_type<piped<source<Columns...>, Values, Mask>> {
  using type = row<typename Columns::value_type...>;
};
} // namespace detail

/// The row type of a pipe's source.
template <class Pipe>
using row_of = typename detail::row_type<Pipe>::type;

/// The number of current elements, the ones that _1, _2, ... name.
template <class Pipe>
inline constexpr int current_count = decltype(Pipe::values)::size;

/// The type an expression over the current elements of a pipe has.
template <class Expr, class Pipe>
using value_in = decltype(cuda::std::declval<Expr>()
                              .substitute(cuda::std::declval<decltype(Pipe::values)>())
                              .eval(cuda::std::declval<row_of<Pipe>>()));

/// A pipeline that already ends with reduce.
template <class T>
concept finished = requires(T p) { p.folds; };
template <class T>
concept pipeline = requires { typename T::tally_pipeline; };
template <class T>
concept stage = requires { typename T::tally_stage; };

template <class Pipe, class Stage>
using why_not = typename Stage::template why_not<Pipe>;

/// Whether a stage may follow; asking instantiates no message.
template <class Stage, class Pipe>
concept accepts = std::same_as<why_not<Pipe, Stage>, because::fine>;

template <class... Columns>
constexpr auto from(Columns&&... columns); // pipeline/from.hpp
template <class... Folds>
constexpr auto reduce(Folds... folds); // pipeline/reduce.hpp

/// A range becomes a source where a pipeline begins.
template <class R>
constexpr auto as_pipeline(R&& r) {
  if constexpr (pipeline<std::remove_cvref_t<R>> || std::same_as<std::remove_cvref_t<R>, ill_formed>)
    return r;
  else
    return from(static_cast<R&&>(r));
}

/// A fold is a stage: from(x) | sum is from(x) | reduce(sum).
template <class Right>
constexpr auto as_stage(Right right) {
  if constexpr (fold_like<Right>)
    return reduce(right);
  else
    return right;
}

/// Composition, the only operator of pipelines.
template <class Left, class Right>
  requires(stage<Right> || fold_like<Right> || (pipeline<std::remove_cvref_t<Left>> && !stage<Right>))
constexpr auto operator|(Left&& left, Right right) {
  auto from_left = as_pipeline(static_cast<Left&&>(left));
  using Pipe = decltype(from_left);
  if constexpr (std::same_as<Pipe, ill_formed>) {
    return ill_formed{};
  } else if constexpr (!stage<Right> && !fold_like<Right>) {
    return (void)sizeof(because::pipe_composes_stages<Right>), ill_formed{};
  } else {
    auto to_right = as_stage(right);
    using Stage = decltype(to_right);
    if constexpr (std::same_as<Stage, ill_formed>)
      return ill_formed{};
    else if constexpr (accepts<Stage, Pipe>)
      return to_right.on(from_left);
    else
      return (void)sizeof(why_not<Pipe, Stage>), ill_formed{};
  }
}

} // namespace tally::inline v0
