// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bundles: what one argument of from() is when it stands for several columns, or for expressions of columns. Layer 2. A
// zip of two columns is a bundle of two, a transform by an expression a bundle whose element is that expression.
#pragma once

#include <tally/element/user_function.hpp>
#include <tally/pipeline/source.hpp>

namespace tally::v0 {

/// Sized columns, and the elements they show: expressions whose _1, _2, ... are these columns.
template <class Columns, class Values>
struct column_bundle {
  Columns columns;
  Values values;
};

namespace detail {
template <class Sized>
constexpr auto as_bundle(Sized const& c) {
  return column_bundle<pack<Sized>, pack<placeholder<0>>>{make_pack(c), {}};
}
template <class Columns, class Values>
constexpr auto as_bundle(column_bundle<Columns, Values> const& b) {
  return b;
}
/// The placeholders of columns that stand behind `Before` others.
template <int Before, int... I>
constexpr pack<placeholder<Before + I>...> placeholders_behind(index_list<I...>) {
  return {};
}
template <class A, class B>
constexpr auto joined(A const& a, B const& b) {
  constexpr int before = decltype(a.columns)::size;
  auto const own = placeholders_behind<before>(indices_up_to<decltype(b.columns)::size>{});
  auto columns = join(a.columns, b.columns);
  auto values =
      join(a.values, unpack([&](auto const&... v) { return make_pack(v.substitute(own)...); }, b.values));
  return column_bundle<decltype(columns), decltype(values)>{columns, values};
}
/// The one column that is read, where a range is one or shows one as it is.
template <class Sized>
constexpr auto sole_column(Sized const& s) {
  return s;
}
template <class Sized>
constexpr auto sole_column(column_bundle<pack<Sized>, pack<placeholder<0>>> const& b) {
  return b.columns.first;
}
template <class R>
concept one_column = column_like<R> && requires(R&& r) { sole_column(as_column(static_cast<R&&>(r))).column; };
} // namespace detail

/// One bundle of columns and bundles, in their order.
template <class One>
constexpr auto bundle_of(One const& one) {
  return detail::as_bundle(one);
}
template <class One, class... More>
constexpr auto bundle_of(One const& one, More const&... more) {
  return detail::joined(detail::as_bundle(one), bundle_of(more...));
}

} // namespace tally::v0
