// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// from(columns...): what is read. Layer 2. Any sized random-access range is a column: contiguous ones are read in place,
// device memory is named by device(pointer, n), the rest stays on the CPU. Nothing is read here; lengths are checked by run.
#pragma once

#include <span>
#include <type_traits>
#include <utility>

#include <tally/base/because.hpp>
#include <tally/element/column.hpp>

namespace tally::v0 {

/// A column and how many elements it has.
template <class Column>
struct sized_column {
  Column column;
  i64 extent;
};

/// The element type of storage T: what arithmetic sees (std::complex, for one, maps to another type of the same layout).
template <class T>
struct element_of_storage {
  using type = T;
};
namespace detail {
template <class T>
constexpr auto elements_at(T const* storage) {
  using E = typename element_of_storage<T>::type;
  static_assert(sizeof(T) == sizeof(E));
  if constexpr (std::is_same_v<T, E>)
    return storage;
  else
    return reinterpret_cast<E const*>(storage);
}
} // namespace detail

/// n elements of device (or any) memory that start at the pointer; who owns them is the caller's business.
template <class T>
constexpr auto device(T const* pointer, i64 n) {
  return sized_column<contiguous<typename element_of_storage<T>::type>>{{detail::elements_at(pointer)}, n};
}
/// n elements that lie stride elements apart (stride may be negative, not zero); memory of host or device.
template <class T>
constexpr auto every(T const* pointer, i64 n, i64 stride) {
  return sized_column<strided<typename element_of_storage<T>::type>>{{detail::elements_at(pointer), stride}, n};
}
/// 0, 1, ..., n - 1: computed, never read.
constexpr sized_column<counting<i64>> iota(i64 n) { return {{0, 1}, n}; }
/// start, start + step, ... (n numbers): computed, never read.
template <real T>
constexpr sized_column<counting<T>> iota(T start, i64 n, std::type_identity_t<T> step = T(1)) {
  return {{start, step}, n};
}

} // namespace tally::v0

namespace tally {
/// How a range becomes a column: specialise for your own range types, with a static make(range) that gives a sized_column,
/// or a column_bundle of several (pipeline/bundle.hpp; tally/ranges.hpp does it for range-v3's views).
template <class Range>
struct column_of;
} // namespace tally

namespace tally::v0 {

namespace detail {
/// Integers of 128 bits, which are arithmetic types or not as the compiler's dialect says.
template <class T>
inline constexpr bool has_128_bits = false;
#ifdef __SIZEOF_INT128__
template <>
inline constexpr bool has_128_bits<__int128_t> = true;
template <>
inline constexpr bool has_128_bits<__uint128_t> = true;
#endif
} // namespace detail

/// What a column is made of: a number the library knows, or a trivially copyable type of the user's.
template <class T>
concept element =
    __is_trivially_copyable(T) && (real<T> ? sizeof(T) <= 8 : !std::is_arithmetic_v<T> && !detail::has_128_bits<T>);

namespace detail {
template <class R>
concept has_data = requires(R& r) {
  { std::size(r) } -> std::convertible_to<std::size_t>;
  *std::data(r);
} && element<std::remove_cvref_t<decltype(*std::data(std::declval<R&>()))>>;
template <class R>
concept indexed = requires(std::remove_cvref_t<R> const& r) {
  { std::size(r) } -> std::convertible_to<std::size_t>;
  r[0];
} && element<std::decay_t<decltype(std::declval<std::remove_cvref_t<R> const&>()[0])>>;
template <class R>
inline constexpr bool is_sized_column = false;
template <class C>
inline constexpr bool is_sized_column<sized_column<C>> = true;
/// A std::array, whose elements lie in itself.
template <class R>
concept holds_its_elements =
    requires { typename std::tuple_element<0, R>::type; } &&
    std::is_same_v<typename std::tuple_element<0, R>::type, std::remove_cvref_t<decltype(std::declval<R const&>()[0])>>;
/// A view: cheap to copy, its elements live elsewhere. A container given as an rvalue would be gone before it is read.
template <class R>
concept outlives_the_call =
    std::is_lvalue_reference_v<R> ||
    (std::is_trivially_copy_constructible_v<std::remove_cvref_t<R>> && !holds_its_elements<std::remove_cvref_t<R>>);
/// What says itself how it is read; where it owns its elements it must outlive the call.
template <class R>
concept own_column = requires(R& r) { column_of<std::remove_cvref_t<R>>::make(r); } &&
                     (outlives_the_call<R> || !requires { column_of<std::remove_cvref_t<R>>::owns; });
} // namespace detail

/// What from() takes.
template <class R>
concept column_like = detail::is_sized_column<std::remove_cvref_t<R>> || detail::own_column<R> ||
                      (detail::outlives_the_call<R> && (detail::has_data<R> || detail::indexed<R>));

/// Columns of one source at most; plan/plan.hpp has room for as many.
inline constexpr int max_columns = 8;

template <class R>
constexpr auto as_column(R&& r) {
  using Range = std::remove_cvref_t<R>;
  if constexpr (detail::is_sized_column<Range>) {
    return r;
  } else if constexpr (detail::own_column<R>) {
    return column_of<Range>::make(r);
  } else if constexpr (detail::has_data<R>) {
    return tally::v0::device(std::data(r), static_cast<i64>(std::size(r)));
  } else if constexpr (std::is_lvalue_reference_v<R> && !std::is_trivially_copy_constructible_v<Range>) {
    struct reference {
      Range const* range;
      constexpr auto operator[](std::size_t i) const { return static_cast<std::decay_t<decltype((*range)[i])>>((*range)[i]); }
      constexpr std::size_t size() const { return std::size(*range); }
    };
    return sized_column<host_column<reference>>{{{&r}, 0}, static_cast<i64>(std::size(r))};
  } else {
    return sized_column<host_column<Range>>{{r, 0}, static_cast<i64>(std::size(r))};
  }
}

namespace detail {
/// How many axes a sized column has of its own; 0: none, it is counted through.
template <class Sized>
inline constexpr int rank_of_sized = 0;
/// The highest axis plus one of an operand that is seen alike along the axes it lacks; 0: no such operand.
template <class Sized>
inline constexpr int reach_of_broadcast = 0;
/// The rank that columns share: that of those with axes of their own.
template <class... Sized>
inline constexpr int common_rank = max_of(0, rank_of_sized<Sized>...);
/// All counted through; or all with as many axes, beside operands that are seen along these.
template <class... Sized>
inline constexpr bool of_one_shape =
    (true && ... && (reach_of_broadcast<Sized> > 0 ? reach_of_broadcast<Sized> <= common_rank<Sized...>
                                                   : rank_of_sized<Sized> == common_rank<Sized...>));
} // namespace detail

/// What from() takes, all of them.
template <class... Rs>
concept columns = sizeof...(Rs) > 0 && sizeof...(Rs) <= max_columns && (column_like<Rs> && ...) &&
                  detail::of_one_shape<decltype(as_column(std::declval<Rs>()))...>;

/// Columns of (hopefully) one length; run() checks it.
template <class... Columns>
struct source {
  pack<Columns...> columns;
  i64 extents[sizeof...(Columns)];
};

template <class... Sized>
constexpr auto make_source(Sized... s) {
  return source<decltype(s.column)...>{make_pack(s.column...), {s.extent...}};
}

} // namespace tally::v0
