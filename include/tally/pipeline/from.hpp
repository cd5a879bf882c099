// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verb from: begins a pipeline with one or several columns, zipped. Layer 2.
#pragma once

#include <initializer_list>

#include <tally/pipeline/bundle.hpp>
#include <tally/pipeline/grid.hpp>
#include <tally/pipeline/pipe.hpp>

namespace tally::v0 {

/// A pipeline over the given columns; element k of every column makes row k. The columns must outlive the run.
template <class... Columns>
  requires columns<Columns...>
constexpr auto from(Columns&&... columns) {
  auto const given = bundle_of(as_column(static_cast<Columns&&>(columns))...);
  auto s = unpack([](auto const&... c) { return make_source(c...); }, given.columns);
  return piped<decltype(s), std::remove_cvref_t<decltype(given.values)>, always>{s, given.values, {}};
}

namespace detail {
template <class... Columns>
constexpr auto judge_from() {
  if constexpr ((refused<std::remove_cvref_t<Columns>> || ...))
    return reason<absorbed<>>{};
  else if constexpr (sizeof...(Columns) > max_columns)
    return reason<because::one_read_has_room_for_no_more<because::there_are<int(sizeof...(Columns))>>>{};
  else if constexpr ((column_like<Columns> && ...))
    return reason<because::columns_have_the_same_axes<std::remove_cvref_t<Columns>...>>{};
  else
    return reason<because::from_needs_columns<std::remove_cvref_t<Columns>...>>{};
}
} // namespace detail

/// What is no column is refused, and the type says why.
template <class... Columns>
  requires(!columns<Columns...>)
auto from(Columns&&...) -> typename decltype(detail::judge_from<Columns...>())::type {
  return {};
}
/// A list in braces is gone before it is read: refused.
template <class T>
auto from(std::initializer_list<T>) -> because::from_needs_columns<std::initializer_list<T>> {
  return {};
}

} // namespace tally::v0
