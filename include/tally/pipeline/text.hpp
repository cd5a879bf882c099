// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pipeline as people read it: from(f32[1000]) | filter(_1 > 0) | reduce(sum(_1 * _2)). Layer 2, host only. All of it is
// cold, which keeps the compiler of a user's file from spending its time on strings.
#pragma once

#include <string>
#include <vector>

#include <tally/pipeline/grid.hpp>
#include <tally/pipeline/printer.hpp>

namespace tally::v0 {

namespace detail {
/// "f32[1000]", and around it what the elements are where they are no neighbours in memory. Compiled in dsl/pipeline/text.cpp.
void print_column(printer& p, std::string const& type, i64 extent, char const* kind);
/// "f32[20 x 30]", and around it the axes that a column has where they are not all of them.
void print_column(printer& p, std::string const& type, int rank, i64 const* extents);

template <class Column>
constexpr char const* kind_of_column() {
  if constexpr (requires(Column c) { c.stride; })
    return "every";
  else if constexpr (!Column::lowerable)
    return "host";
  else if constexpr (!memory_column<Column>)
    return "iota";
  else
    return nullptr;
}

} // namespace detail

/// The columns: their types, extents and kinds.
template <class... Columns>
[[gnu::cold]] void print_text(printer& p, source<Columns...> const& s) {
  auto b = p.open("from");
  int i = 0;
  ((p.next(b), detail::print_column(p, short_name<typename Columns::value_type>(), s.extents[i++], detail::kind_of_column<Columns>())), ...);
  p.close(b);
}
template <int Rank, class... Columns>
[[gnu::cold]] void print_text(printer& p, grid<Rank, Columns...> const& s) {
  auto b = p.open("from");
  int i = 0;
  ((p.next(b), detail::print_column(p, short_name<typename Columns::value_type>(), Rank, &s.axes[i++][0])), ...);
  p.close(b);
}
/// An expression, a fold, or a grouping: its name and what it groups by, then its folds.
template <class Expr>
[[gnu::cold]] void print_text(printer& p, Expr const& e) {
  auto const start = p.out.size();
  if constexpr (grouping<Expr>) {
    e.print_head(p);
    printer::brackets b{", ", ")", false, p.out.back() == '('};
    unpack([&](auto const&... f) { ((p.next(b), print_text(p, f)), ...); }, e.folds);
    p.close(b);
  } else {
    p.fold_argument(e);
    p.unwrap(start);
  }
}
/// "filter(...) | map(...) | ", as far as they are there.
template <class Pipe>
[[gnu::cold]] void print_stages(printer& p, Pipe const& pipe) {
  if constexpr (!std::is_same_v<decltype(pipe.mask), always>) {
    p.named("filter", pipe.mask);
    p.text(" | ");
  }
  auto values = placeholders<current_count<Pipe>>();
  if constexpr (!std::is_same_v<decltype(values), std::remove_cvref_t<decltype(pipe.values)>>) {
    unpack([&](auto const&... v) { p.named("map", v...); }, pipe.values);
    p.text(" | ");
  }
}
/// "from(...) | filter(...) | ": everything in front of what ends a pipeline.
template <class Pipe>
[[gnu::cold]] void print_pipe(printer& p, Pipe const& pipe) {
  print_text(p, pipe.source);
  p.text(" | ");
  print_stages(p, pipe);
}
/// A whole reduction; a map has already gone into the expressions that follow it.
template <class Reduction>
  requires finished<Reduction>
[[gnu::cold]] void print_text(printer& p, Reduction const& r) {
  print_pipe(p, r.pipe);
  auto b = p.open("reduce");
  unpack([&](auto const&... f) { ((p.next(b), print_text(p, f)), ...); }, r.folds);
  p.close(b);
}

/// The text of a source, an expression, a fold, a grouping or a whole reduction; columns: what columns of the source are called in it,
/// if they have names.
template <class T>
[[gnu::cold]] std::string text_of(T const& t, std::vector<std::string> const* columns) {
  printer p;
  p.columns = columns;
  print_text(p, t);
  return p.take();
}
template <class T>
[[gnu::cold]] std::string text_of(T const& t) {
  return text_of(t, nullptr);
}

} // namespace tally::v0
