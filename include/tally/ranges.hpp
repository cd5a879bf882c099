// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// range-v3 views as sources: from(view) and view | sum. Stands above the layers; the only header that includes range-v3.
// Which views are looked through is decided by their template; where their elements lie, by asking for the first two. A
// view that is not looked through is an opaque column of the CPU.
#pragma once

#include <memory>
#include <tuple>

#include <range/v3/range/concepts.hpp>
#include <range/v3/range/primitives.hpp>
#include <range/v3/view/all.hpp>
#include <range/v3/view/chunk.hpp>
#include <range/v3/view/drop.hpp>
#include <range/v3/view/drop_exactly.hpp>
#include <range/v3/view/drop_last.hpp>
#include <range/v3/view/iota.hpp>
#include <range/v3/view/reverse.hpp>
#include <range/v3/view/slice.hpp>
#include <range/v3/view/sliding.hpp>
#include <range/v3/view/stride.hpp>
#include <range/v3/view/subrange.hpp>
#include <range/v3/view/tail.hpp>
#include <range/v3/view/take.hpp>
#include <range/v3/view/take_exactly.hpp>
#include <range/v3/view/transform.hpp>
#include <range/v3/view/zip.hpp>

#include <tally/pipeline/from.hpp>
#include <tally/pipeline/index_along.hpp>

namespace tally::v0 {

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion" // of the pairs that a zip shows to those that it means
#endif
/// A view that is computed by host code only, as a column's elements. `why` is the why-not of its lowering.
template <class View>
struct host_view {
  static constexpr char const* why = "tally looks through contiguous, iota, take, drop, slice, stride, reverse and zip of "
                                     "such, and transform of a tally expression without index; this view is another";
  View view;
  constexpr auto operator[](std::size_t i) const {
    return static_cast<ranges::range_value_t<View const>>(
        ranges::begin(view)[static_cast<ranges::range_difference_t<View const>>(i)]);
  }
  constexpr std::size_t size() const { return static_cast<std::size_t>(ranges::size(view)); }
};
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

namespace detail {

/// Where the elements of a view lie; strided and counting ones are known from the first two.
enum class layout { unknown, contiguous, strided, counting };
constexpr layout spread(layout l) { return l == layout::contiguous ? layout::strided : l; }

template <class I>
struct iterator_layout {
  template <class T>
  static constexpr bool counts =
      std::same_as<I, ranges::iterator_t<ranges::iota_view<T, T>>> || std::same_as<I, ranges::iterator_t<ranges::iota_view<T>>>;
  static constexpr layout of() {
    if constexpr (ranges::contiguous_iterator<I>)
      return layout::contiguous;
    else if constexpr (std::is_integral_v<ranges::iter_value_t<I>>)
      return counts<ranges::iter_value_t<I>> ? layout::counting : layout::unknown;
    else
      return layout::unknown;
  }
  static constexpr layout value = of();
};
template <class I>
struct iterator_layout<ranges::basic_iterator<ranges::detail::reverse_cursor<I>>> {
  static constexpr layout value = spread(iterator_layout<I>::value);
};

template <class View>
struct view_layout {
  static constexpr layout value =
      ranges::contiguous_range<View> && __is_trivially_copyable(ranges::range_value_t<View>) ? layout::contiguous
                                                                                             : layout::unknown;
};
template <class T, class To>
struct view_layout<ranges::iota_view<T, To>> {
  static constexpr layout value = std::is_integral_v<T> ? layout::counting : layout::unknown;
};
template <class T, class To>
struct view_layout<ranges::closed_iota_view<T, To>> : view_layout<ranges::iota_view<T, To>> {};
template <class I, class S, ranges::subrange_kind K>
struct view_layout<ranges::subrange<I, S, K>> : iterator_layout<I> {};

/// How an adaptor picks elements of its base; only this is known from the type, the numbers are asked of the view.
enum class picks { nothing, the_front, a_stretch, every_nth, all_reversed };
template <class View>
struct adaptor_of {
  static constexpr picks what = picks::nothing;
};
template <class Base, picks What>
struct picking {
  using base = Base;
  static constexpr picks what = What;
};
template <class B>
struct adaptor_of<ranges::take_view<B>> : picking<B, picks::the_front> {};
template <class B, bool R>
struct adaptor_of<ranges::detail::take_exactly_view_<B, R>> : picking<B, picks::the_front> {};
template <class B, class M>
struct adaptor_of<ranges::drop_last_view<B, M>> : picking<B, picks::the_front> {};
template <class B>
struct adaptor_of<ranges::drop_view<B>> : picking<B, picks::a_stretch> {};
template <class B>
struct adaptor_of<ranges::drop_exactly_view<B>> : picking<B, picks::a_stretch> {};
template <class B>
struct adaptor_of<ranges::tail_view<B>> : picking<B, picks::a_stretch> {};
template <class B>
struct adaptor_of<ranges::slice_view<B>> : picking<B, picks::a_stretch> {};
template <class B>
struct adaptor_of<ranges::stride_view<B>> : picking<B, picks::every_nth> {};
template <class B>
struct adaptor_of<ranges::reverse_view<B>> : picking<B, picks::all_reversed> {};
constexpr bool neighbours_stay(picks p) { return p == picks::the_front || p == picks::a_stretch; }
template <class View>
concept adapting = adaptor_of<View>::what != picks::nothing;

template <adapting View>
struct view_layout<View> {
  static constexpr layout below = view_layout<typename adaptor_of<View>::base>::value;
  static constexpr layout value = neighbours_stay(adaptor_of<View>::what) ? below : spread(below);
};

/// A column from its first two elements: at(0) and at(1), asked for where there are such.
template <layout L, class At>
auto column_at(i64 n, At const& at) {
  using T = std::remove_cvref_t<decltype(at(0))>;
  if constexpr (L == layout::counting) {
    T const start = n > 0 ? static_cast<T>(at(0)) : T{};
    T const step = n > 1 ? static_cast<T>(static_cast<u64>(at(1)) - static_cast<u64>(start)) : T(1);
    return sized_column<counting<T>>{{start, step}, n};
  } else {
    using E = typename element_of_storage<T>::type;
    static_assert(sizeof(T) == sizeof(E) && __is_trivially_copyable(T));
    T const* const data = n > 0 ? std::addressof(at(0)) : nullptr;
    if constexpr (L == layout::contiguous)
      return sized_column<contiguous<E>>{{reinterpret_cast<E const*>(data)}, n};
    else
      return sized_column<strided<E>>{{reinterpret_cast<E const*>(data), n > 1 ? std::addressof(at(1)) - data : 1}, n};
  }
}

/// Whether an expression asks for the position, which a view's transform does not know.
template <class E>
inline constexpr bool asks_for_position = std::same_as<E, position> || highest_axis<E> >= 0;
template <class Op, class... Args>
inline constexpr bool asks_for_position<call<Op, Args...>> = (false || ... || asks_for_position<Args>);

/// The function of a transform: itself when it holds nothing, else read from the view's adaptor, whose only member it is.
template <class View, class F>
struct function_of {
  using adaptor = std::remove_cvref_t<decltype(ranges::range_access::begin_adaptor(std::declval<View const&>()))>;
  static constexpr bool stateless = std::is_empty_v<F> && std::is_default_constructible_v<F>;
  static constexpr bool readable = stateless || (sizeof(adaptor) == sizeof(F) && std::is_standard_layout_v<adaptor> &&
                                                 std::is_trivially_copyable_v<F>);
  static F of(View const& view) {
    if constexpr (stateless) {
      return F{};
    } else {
      auto const holder = ranges::range_access::begin_adaptor(view);
      return reinterpret_cast<F const&>(holder); // standard layout: a class and its first member have one address
    }
  }
};

/// A function that an element expression can be made of: an expression of _1 alone, or a TALLY_FUNCTION.
template <class F>
constexpr bool is_element_function() {
  if constexpr (expression<F>)
    return F::arity <= 1 && !asks_for_position<F>;
  else
    return requires { typename F::device_text; };
}
template <class F, class Value>
constexpr auto applied(F const& f, Value const& value) {
  if constexpr (expression<F>)
    return f.substitute(make_pack(value));
  else
    return f(value);
}

template <class View>
i64 extent_of(View const& view) {
  return static_cast<i64>(ranges::size(view));
}
template <class View>
using step_of = ranges::range_difference_t<View const>;

template <class Columns, class Values>
constexpr auto make_bundle(Columns const& columns, Values const& values) {
  return column_bundle<Columns, Values>{columns, values};
}

/// What a view becomes that is looked through: `can` and `elements` are known from the type, of(view) asks the numbers.
template <class View>
struct lowering {
  static constexpr bool can = view_layout<View>::value != layout::unknown, on_host = false;
  static constexpr int elements = 1;
  static auto of(View const& view) {
    auto const begin = ranges::begin(view);
    auto const at = [&](i64 i) -> decltype(auto) { return begin[static_cast<step_of<View>>(i)]; };
    return as_bundle(column_at<view_layout<View>::value>(extent_of(view), at));
  }
};

/// A transform: its function, applied to what its base shows.
template <class Base, class F>
struct lowering<ranges::transform_view<Base, F>> {
  using view_type = ranges::transform_view<Base, F>;
  static constexpr bool can = lowering<Base>::can && lowering<Base>::elements == 1 && is_element_function<F>() &&
                              function_of<view_type, F>::readable;
  static constexpr bool on_host = lowering<Base>::on_host;
  static constexpr int elements = 1;
  static auto of(view_type const& view) {
    auto const below = lowering<Base>::of(view.base());
    return make_bundle(below.columns, make_pack(applied(function_of<view_type, F>::of(view), get<0>(below.values))));
  }
};

/// Element K of a zip, where nothing more is known about it.
template <class Zip, int K>
struct zipped {
  Zip zip;
  constexpr auto operator[](std::size_t i) const {
    return std::remove_cvref_t<decltype(std::get<K>(*ranges::begin(zip)))>(
        std::get<K>(ranges::begin(zip)[static_cast<step_of<Zip>>(i)]));
  }
  constexpr std::size_t size() const { return static_cast<std::size_t>(ranges::size(zip)); }
};

/// A zip: several columns. What was zipped is out of reach, so the elements are asked where they lie.
template <class... Bases>
struct lowering<ranges::zip_view<Bases...>> {
  using view_type = ranges::zip_view<Bases...>;
  static constexpr bool can = true;
  static constexpr bool on_host = ((view_layout<Bases>::value == layout::unknown) || ...);
  static constexpr int elements = int(sizeof...(Bases));
  static auto of(view_type const& view) {
    return [&]<int... K>(index_list<K...>) {
      return bundle_of(column<K, nth_t<K, Bases...>>(view)...);
    }(indices_up_to<elements>{});
  }

private:
  template <int K, class Base>
  static auto column(view_type const& view) {
    if constexpr (view_layout<Base>::value == layout::unknown) {
      return sized_column<host_column<zipped<view_type, K>>>{{{view}, 0}, extent_of(view)};
    } else {
      auto const begin = ranges::begin(view);
      using element = std::tuple_element_t<K, ranges::range_reference_t<view_type const>>;
      auto const at = [&](i64 i) -> element {
        return static_cast<element>(std::get<K>(begin[static_cast<step_of<view_type>>(i)]));
      };
      return column_at<view_layout<Base>::value>(extent_of(view), at);
    }
  }
};

/// Elements offset, offset + step, ... of a column, n of them; neighbours stay neighbours where Stay.
template <bool Stay, class Column>
auto picked(sized_column<Column> const& from, i64 offset, i64 step, i64 n) {
  Column const c = from.column;
  if (n == 0)
    offset = 0;
  if constexpr (requires { c.stride; })
    return sized_column<Column>{{c.data + offset * c.stride, step * c.stride}, n};
  else if constexpr (requires { c.step; })
    return sized_column<Column>{{c.at(offset), static_cast<decltype(c.step)>(static_cast<u64>(step) * static_cast<u64>(c.step))}, n};
  else if constexpr (Stay)
    return sized_column<Column>{{c.data + offset}, n};
  else
    return sized_column<strided<typename Column::value_type>>{{c.data + offset, step}, n};
}

/// An adaptor of something that is looked through but does not lie in memory: its columns are picked alike.
template <adapting View>
  requires(view_layout<View>::value == layout::unknown)
struct lowering<View> {
  using base = typename adaptor_of<View>::base;
  static constexpr picks what = adaptor_of<View>::what;
  static constexpr bool can = lowering<base>::can && !lowering<base>::on_host, on_host = false;
  static constexpr int elements = lowering<base>::elements;
  static auto of(View const& view) {
    base const under = view.base();
    i64 const n = extent_of(view);
    auto const below = lowering<base>::of(under);
    i64 const offset = first_picked(view, under, n), step = step_between(view, n);
    return make_bundle(unpack(
                           [&](auto const&... c) {
                             return make_pack(picked<neighbours_stay(what)>(c, offset, step, n)...);
                           },
                           below.columns),
                       below.values);
  }

private:
  static i64 first_picked([[maybe_unused]] View const& view, [[maybe_unused]] base const& under, [[maybe_unused]] i64 n) {
    if constexpr (what == picks::all_reversed)
      return n - 1;
    else if constexpr (what == picks::a_stretch)
      return n == 0 ? 0 : static_cast<i64>(ranges::begin(view) - ranges::begin(under));
    else
      return 0;
  }
  static i64 step_between([[maybe_unused]] View const& view, [[maybe_unused]] i64 n) {
    if constexpr (what == picks::all_reversed) {
      return -1;
    } else if constexpr (what == picks::every_nth) {
      auto const begin = ranges::begin(view);
      return n > 1 ? static_cast<i64>((begin + 1).base() - begin.base()) : 1;
    } else {
      return 1;
    }
  }
};

/// A view whose elements are stretches of its base: chunks cut an axis in two, windows lay a second axis over the first. One
/// column is below; rank 0: it is no such view.
template <class View>
struct view_axes {
  static constexpr int rank = 0;
};
template <class View>
concept one_column_below = view_layout<View>::value != layout::unknown;

/// How long the stretches of a view are: as its first.
template <class View>
i64 stretch_of(View const& view) {
  return extent_of(view) > 0 ? static_cast<i64>(ranges::distance(*ranges::begin(view))) : 0;
}
template <one_column_below Base>
struct view_axes<ranges::chunk_view<Base>> {
  static constexpr int rank = 2;
  static auto of(ranges::chunk_view<Base> const& view) {
    Base const below = view.base();
    auto const c = get<0>(lowering<Base>::of(below).columns);
    return shaped_column<std::remove_cvref_t<decltype(c.column)>, 2>{c.column, c.extent, {extent_of(view), stretch_of(view)}};
  }
};
/// Chunks of chunks.
template <class Base>
  requires(view_axes<Base>::rank > 0)
struct view_axes<ranges::chunk_view<Base>> {
  static constexpr int rank = view_axes<Base>::rank + 1;
  static auto of(ranges::chunk_view<Base> const& view) {
    auto const below = view_axes<Base>::of(view.base());
    shaped_column<std::remove_cvref_t<decltype(below.column)>, rank> out{below.column, below.extent, {extent_of(view), stretch_of(view)}};
    for (int k = 2; k < rank; ++k)
      out.axes[k] = below.axes[k - 1];
    return out;
  }
};
/// Windows over memory, which overlap in it.
template <class Base, ranges::sliding_view_detail::cache How>
  requires(view_layout<Base>::value == layout::contiguous || view_layout<Base>::value == layout::strided)
struct view_axes<ranges::sliding_view<Base, How>> {
  static constexpr int rank = 2;
  static auto of(ranges::sliding_view<Base, How> const& view) {
    Base const below = view.base();
    auto const c = get<0>(lowering<Base>::of(below).columns);
    i64 const extents[2] = {extent_of(view), stretch_of(view)}, step = stride_of(c.column);
    using T = typename std::remove_cvref_t<decltype(c.column)>::value_type;
    return shaped_column<tally::v0::spread<T, 2>, 2>{
        {c.column.data, {extents[0], extents[1]}, {step, step}}, extents[0] * extents[1], {extents[0], extents[1]}};
  }
};

template <class View>
auto column_of_view(View const& view) {
  if constexpr (view_axes<View>::rank > 0)
    return view_axes<View>::of(view);
  else if constexpr (lowering<View>::can)
    return lowering<View>::of(view);
  else
    return sized_column<host_column<host_view<View>>>{{{view}, 0}, extent_of(view)};
}

} // namespace detail

} // namespace tally::v0

namespace tally {

/// A view of range-v3 as a source: columns in place where it is looked through (with axes where it cuts them), else elements that
/// the CPU asks for.
template <class View>
  requires(ranges::view_<View> && ranges::random_access_range<View const> && ranges::sized_range<View const>)
struct column_of<View> {
  static auto make(View const& view) { return v0::detail::column_of_view(view); }
};

using v0::host_view;

} // namespace tally
