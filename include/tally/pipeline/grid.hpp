// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sources with axes: shaped(...) gives a range its axes, anything shaped like an mdspan has them, along<Axes...>(...) lets an
// operand of fewer axes be seen along the others. Layer 2. Positions count row by row; strides may be negative or zero.
#pragma once

#include <limits>

#include <tally/element/spread.hpp>
#include <tally/fold/groups.hpp>
#include <tally/pipeline/bundle.hpp>
#include <tally/pipeline/pipe.hpp>

namespace tally::v0 {

/// A column, how many elements it has, and how many along every axis.
template <class Column, int Rank>
struct shaped_column {
  Column column;
  i64 extent;
  i64 axes[Rank];
};
/// An operand that has the named axes and looks the same along all others.
template <class T, int... Axes>
struct broadcast_column {
  using value_type = T;
  T const* data;
  i64 extents[sizeof...(Axes)];
  i64 strides[sizeof...(Axes)];
};

/// Columns that share axes; along an axis that a column does not have, its extent is any_extent.
template <int Rank, class... Columns>
struct grid : source<Columns...> {
  i64 axes[sizeof...(Columns)][Rank];
  constexpr i64 extent_along(int k) const {
    for (auto const& of_column : axes)
      if (of_column[k] >= 0)
        return of_column[k];
    return 0;
  }
};
inline constexpr i64 any_extent = std::numeric_limits<i64>::min(); // which nobody gives

namespace detail {
template <int Rank>
constexpr i64 product_of(i64 const (&extents)[Rank]) {
  u64 p = 1; // what overflows is refused when it is run
  for (i64 const e : extents)
    p *= static_cast<u64>(e);
  return static_cast<i64>(p);
}
template <class... Extents>
concept extents_of_axes = sizeof...(Extents) > 0 && sizeof...(Extents) <= max_axes && (std::is_integral_v<Extents> && ...);

/// What an mdspan offers, whatever library it comes from.
template <class M>
concept mdspan_like = requires(M const& m) {
  typename M::element_type;
  typename M::mapping_type;
  { M::rank() } -> std::convertible_to<std::size_t>;
  m.extent(0);
  m.stride(0);
  m.data_handle();
} && element<std::remove_cv_t<typename M::element_type>> && (M::rank() >= 1) && (M::rank() <= std::size_t(max_axes));

template <class S>
inline constexpr int rank_of_source = 1;
template <int Rank, class... Columns>
inline constexpr int rank_of_source<grid<Rank, Columns...>> = Rank;
template <int Rank, class... Columns, class Values, class Mask>
struct row_type<piped<grid<Rank, Columns...>, Values, Mask>> {
  using type = row<typename Columns::value_type...>;
};

template <class C, int Rank>
inline constexpr int rank_of_sized<shaped_column<C, Rank>> = Rank;
template <class T, int... Axes>
inline constexpr int reach_of_broadcast<broadcast_column<T, Axes...>> = 1 + max_of(0, Axes...);

template <int Rank, class C>
constexpr auto column_in_grid(shaped_column<C, Rank> const& s, i64 const (&)[Rank]) {
  return s.column;
}
template <int Rank, class T, int... Axes>
constexpr auto column_in_grid(broadcast_column<T, Axes...> const& b, i64 const (&extents)[Rank]) {
  spread<T, Rank> s{b.data, {}, {}};
  for (int k = 0; k < Rank; ++k)
    s.extents[k] = extents[k];
  int i = 0;
  ((s.strides[Axes] = b.strides[i++]), ...);
  return s;
}
template <int Rank, class C>
constexpr void axes_in_grid(shaped_column<C, Rank> const& s, i64 (&out)[Rank]) {
  for (int k = 0; k < Rank; ++k)
    out[k] = s.axes[k];
}
template <int Rank, class T, int... Axes>
constexpr void axes_in_grid(broadcast_column<T, Axes...> const& b, i64 (&out)[Rank]) {
  for (i64& e : out)
    e = any_extent;
  int i = 0;
  ((out[Axes] = b.extents[i++]), ...);
}
template <int Rank, class... Sized>
constexpr auto make_grid(Sized const&... s) {
  constexpr int count = int(sizeof...(Sized));
  i64 axes[count][Rank]{}, common[Rank]{};
  int c = 0;
  (axes_in_grid<Rank>(s, axes[c++]), ...);
  for (int k = 0; k < Rank; ++k)
    for (int i = count - 1; i >= 0; --i)
      if (axes[i][k] >= 0)
        common[k] = axes[i][k];
  i64 const whole = product_of(common);
  grid<Rank, decltype(column_in_grid<Rank>(s, common))...> g{};
  g.columns = make_pack(column_in_grid<Rank>(s, common)...);
  c = 0;
  auto const elements = [&](auto const& one) {
    if constexpr (requires { one.extent; })
      return one.extent;
    else
      return whole;
  };
  ((g.extents[c++] = elements(s)), ...);
  for (int i = 0; i < count; ++i)
    for (int k = 0; k < Rank; ++k)
      g.axes[i][k] = axes[i][k];
  return g;
}

template <mdspan_like M>
constexpr auto column_of_mdspan(M const& m) {
  constexpr int rank = int(M::rank());
  using T = std::remove_cv_t<typename M::element_type>;
  using E = typename element_of_storage<T>::type;
  spread<E, rank> s{elements_at(static_cast<T const*>(m.data_handle())), {}, {}};
  for (int k = 0; k < rank; ++k) {
    s.extents[k] = static_cast<i64>(m.extent(static_cast<std::size_t>(k)));
    s.strides[k] = static_cast<i64>(m.stride(static_cast<std::size_t>(k)));
  }
  shaped_column<spread<E, rank>, rank> out{s, product_of(s.extents), {}};
  for (int k = 0; k < rank; ++k)
    out.axes[k] = s.extents[k];
  return out;
}
} // namespace detail

} // namespace tally::v0

namespace tally {
template <class C, int Rank>
struct column_of<v0::shaped_column<C, Rank>> {
  static constexpr auto make(v0::shaped_column<C, Rank> const& s) { return s; }
};
template <class T, int... Axes>
struct column_of<v0::broadcast_column<T, Axes...>> {
  static constexpr auto make(v0::broadcast_column<T, Axes...> const& b) { return b; }
};
/// Anything shaped like an mdspan: extents, strides and a pointer, read as they are.
template <v0::detail::mdspan_like M>
struct column_of<M> {
  static constexpr auto make(M const& m) { return v0::detail::column_of_mdspan(m); }
};
} // namespace tally

namespace tally::v0 {

/// A column or range with axes: its elements, row by row. run() throws extent_mismatch unless the extents multiply to its size.
template <class R, class... Extents>
  requires detail::one_column<R> && detail::extents_of_axes<Extents...>
constexpr auto shaped(R&& range, Extents... extents) {
  auto const c = detail::sole_column(as_column(static_cast<R&&>(range)));
  return shaped_column<std::remove_cvref_t<decltype(c.column)>, int(sizeof...(Extents))>{c.column, c.extent, {static_cast<i64>(extents)...}};
}
namespace detail {
/// Why something is not given axes, as a verdict: it is no column.
template <class R>
constexpr auto judge_operand() {
  if constexpr (refused<std::remove_cvref_t<R>>)
    return reason<absorbed<>>{};
  else
    return reason<because::from_needs_columns<std::remove_cvref_t<R>>>{};
}
} // namespace detail
/// What is no column is refused, and the type says why.
template <class R, class... Extents>
  requires(!detail::one_column<R> && !std::is_pointer_v<std::remove_cvref_t<R>> && detail::extents_of_axes<Extents...>)
auto shaped(R&&, Extents...) -> typename decltype(detail::judge_operand<R>())::type {
  return {};
}
/// Elements that start at a pointer (of host or device memory), row by row.
template <element T, class... Extents>
  requires detail::extents_of_axes<Extents...>
constexpr auto shaped(T const* pointer, Extents... extents) {
  using E = typename element_of_storage<T>::type;
  i64 const lengths[] = {static_cast<i64>(extents)...};
  return shaped_column<contiguous<E>, int(sizeof...(Extents))>{{detail::elements_at(pointer)}, detail::product_of(lengths), {static_cast<i64>(extents)...}};
}
/// Elements with a stride an axis, in elements: negative walks backwards from the pointer, 0 sees one element again and again.
template <element T, std::size_t Rank>
  requires(Rank <= std::size_t(max_axes))
constexpr auto shaped(T const* pointer, i64 const (&extents)[Rank], i64 const (&strides)[Rank]) {
  using E = typename element_of_storage<T>::type;
  shaped_column<spread<E, int(Rank)>, int(Rank)> out{{detail::elements_at(pointer), {}, {}}, detail::product_of(extents), {}};
  for (std::size_t k = 0; k < Rank; ++k) {
    out.column.extents[k] = out.axes[k] = extents[k];
    out.column.strides[k] = strides[k];
  }
  return out;
}

namespace detail {
template <class Column>
constexpr i64 stride_of(Column const& c) {
  if constexpr (requires { c.stride; })
    return c.stride;
  else
    return 1;
}
} // namespace detail

/// An operand whose axes are the named ones of the source, seen alike along all others: from(matrix, along<1>(weights)).
template <int... Axes, class R>
  requires(detail::one_column<R> && sizeof...(Axes) > 0 && requires(R&& r) { detail::sole_column(as_column(static_cast<R&&>(r))).column.data; } &&
           detail::max_of(1, detail::rank_of_sized<decltype(detail::sole_column(as_column(std::declval<R>())))>) == int(sizeof...(Axes)))
constexpr auto along(R&& operand) {
  auto const c = detail::sole_column(as_column(static_cast<R&&>(operand)));
  using Column = std::remove_cvref_t<decltype(c.column)>;
  using T = typename Column::value_type;
  broadcast_column<T, Axes...> out{c.column.data, {}, {}};
  constexpr int rank = int(sizeof...(Axes));
  if constexpr (axes_of_column<Column> > 0) {
    for (int k = 0; k < rank; ++k) {
      out.extents[k] = c.column.extents[k];
      out.strides[k] = c.column.strides[k];
    }
  } else if constexpr (requires { c.axes; }) {
    i64 step = detail::stride_of(c.column);
    for (int k = rank - 1; k >= 0; --k) {
      out.extents[k] = c.axes[k];
      out.strides[k] = step;
      step = static_cast<i64>(static_cast<u64>(step) * static_cast<u64>(c.axes[k]));
    }
  } else {
    out.extents[0] = c.extent;
    out.strides[0] = detail::stride_of(c.column);
  }
  return out;
}

/// What is no column is refused, and the type says why.
template <int... Axes, class R>
  requires(!detail::one_column<R>)
auto along(R&&) -> typename decltype(detail::judge_operand<R>())::type {
  return {};
}

template <class... Sized>
  requires(detail::common_rank<Sized...> > 0)
constexpr auto make_source(Sized... s) {
  return detail::make_grid<detail::common_rank<Sized...>>(s...);
}

/// How many axes a source has.
template <class Source>
inline constexpr int rank_of = detail::rank_of_source<Source>;

/// How many elements lie along axis k of a source.
template <class... Columns>
constexpr i64 extent_along(source<Columns...> const& s, int) {
  return s.extents[0];
}
template <int Rank, class... Columns>
constexpr i64 extent_along(grid<Rank, Columns...> const& s, int k) {
  return s.extent_along(k);
}

} // namespace tally::v0
