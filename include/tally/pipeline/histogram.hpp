// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The grouping histogram: by_key of the number of an even bin, or of a key, in one to three dimensions, with count or any folds. Layer 2.
#pragma once

#include <tally/fold/count.hpp>
#include <tally/pipeline/keyed.hpp>

namespace tally::v0 {

/// One axis of a histogram, of even bins or of a bin for every key.
template <class E>
struct bins_of_axis {
  E element;
  double low, high;
  i64 bins;
};
template <class E>
struct keys_of_axis {
  E element;
  i64 bins;
};
/// One axis of a histogram: `bins` even bins of an element expression over [low, high], low < high, both finite.
template <class E, integer Bins>
constexpr auto even_bins(E element, double low, double high, Bins bins) {
  return bins_of_axis<E>{element, low, high, static_cast<i64>(bins)};
}

/// One axis of a histogram: a bin for every value of an integer element expression in [0, bins).
template <class E>
constexpr auto key_bins(E element, i64 bins) {
  return keys_of_axis<E>{element, bins};
}

namespace detail {
template <class A>
inline constexpr bool is_axis_of_bins = false;
template <class E>
inline constexpr bool is_axis_of_bins<bins_of_axis<E>> = true;
template <class E>
inline constexpr bool is_axis_of_bins<keys_of_axis<E>> = true;
template <class A>
concept axis_of_bins = is_axis_of_bins<A>;

template <class E>
constexpr auto bin_on(keys_of_axis<E> const& a) {
  auto const e = as_element<1>(a.element);
  return call<op::key_bin, std::remove_cvref_t<decltype(e)>, literal<i64>>(make_pack(e, literal<i64>(a.bins)));
}
template <class E>
constexpr auto bin_on(bins_of_axis<E> const& a) {
  auto const e = as_element<1>(a.element);
  return call<op::bin, std::remove_cvref_t<decltype(e)>, literal<uniform_bins>>(
      make_pack(e, literal<uniform_bins>(uniform_bins::over(a.low, a.high, a.bins))));
}
template <class Outer>
constexpr auto bins_beside(Outer const& outer) {
  return outer;
}
template <class Outer, axis_of_bins A, class... More>
constexpr auto bins_beside(Outer const& outer, A const& a, More const&... more) {
  auto const inner = bin_on(a);
  auto const both = call<op::bin_beside, Outer, std::remove_cvref_t<decltype(inner)>, literal<i64>>(
      make_pack(outer, inner, literal<i64>(a.bins)));
  return bins_beside(both, more...);
}
/// All bins of several axes; what is negative stays so, and what is too many is 2^31 + 1.
constexpr i64 all_bins(i64 a, i64 b) {
  return a < 0 || b < 0 ? -1 : a > most_bins || b > most_bins || (b > 0 && a > most_bins / b) ? most_bins + 1 : a * b;
}
/// The bounds of axis k where they make no bins.
template <class E>
constexpr unsound_bounds fault_of(int k, bins_of_axis<E> const& a) {
  double const width = a.high - a.low, most = stl::numeric_limits<double>::max();
  return {a.low < a.high && width <= most && static_cast<double>(a.bins) / width <= most ? -1 : k, a.low, a.high};
}
template <class E>
constexpr unsound_bounds fault_of(int, keys_of_axis<E> const&) {
  return {-1, 0, 0};
}
template <class... Folds>
constexpr auto folds_or_count(Folds... folds) {
  if constexpr (sizeof...(Folds) == 0)
    return make_pack(count);
  else
    return make_pack(folds...);
}
template <class... Folds, class First, class... Axes>
constexpr auto histogram_of(pack<Folds...> const& folds, First const& axis, Axes const&... axes) {
  auto const key = bins_beside(bin_on(axis), axes...);
  i64 bins = axis.bins;
  ((bins = all_bins(bins, axes.bins)), ...);
  folded_by_key<index_list<>, 1 + int(sizeof...(Axes)), true, std::remove_cvref_t<decltype(key)>, Folds...> out{
      key, bins, {axis.bins, axes.bins...}, {-1, 0, 0}, folds};
  int k = 0;
  auto const look = [&](auto const& a) {
    if (out.fault.axis < 0)
      out.fault = fault_of(k, a);
    ++k;
  };
  look(axis);
  (look(axes), ...);
  return out;
}
} // namespace detail

/// How many elements (values of _1) fall into each of `bins` even bins over [low, high], an mdarray<i64, 1>; what lies outside, and
/// NaN, is left out. Folds in place of the count may follow, or stand in .of(...). Throws bad_bounds unless low < high.
template <integer Bins, fold_like... Folds>
constexpr auto histogram(double low, double high, Bins bins, Folds... folds) {
  return histogram(even_bins(placeholder<0>{}, low, high, bins), folds...);
}
/// The same of an element expression.
template <expression E, integer Bins, fold_like... Folds>
constexpr auto histogram(E element, double low, double high, Bins bins, Folds... folds) {
  return histogram(even_bins(element, low, high, bins), folds...);
}
/// In one to three dimensions, an axis each: histogram(key_bins(_2, shops), even_bins(_1, 0, 1, 64)), the first outermost.
template <detail::axis_of_bins A, fold_like... Folds>
constexpr auto histogram(A a, Folds... folds) {
  return detail::histogram_of(detail::folds_or_count(folds...), a);
}
template <detail::axis_of_bins A, detail::axis_of_bins B, fold_like... Folds>
constexpr auto histogram(A a, B b, Folds... folds) {
  return detail::histogram_of(detail::folds_or_count(folds...), a, b);
}
template <detail::axis_of_bins A, detail::axis_of_bins B, detail::axis_of_bins C, fold_like... Folds>
constexpr auto histogram(A a, B b, C c, Folds... folds) {
  return detail::histogram_of(detail::folds_or_count(folds...), a, b, c);
}

namespace detail {
/// What the arguments of histogram are, a letter each: axis, integer, other number, expression, fold, something else.
template <class A>
constexpr char letter_of() {
  if constexpr (is_axis_of_bins<A>)
    return 'a';
  else if constexpr (integer<A>)
    return 'i';
  else if constexpr (std::is_arithmetic_v<A>)
    return 'n';
  else if constexpr (expression<A>)
    return 'e';
  else if constexpr (fold_like<A>)
    return 'f';
  else
    return 'x';
}
template <class... Args>
constexpr bool are_of_a_histogram() {
  char const letters[] = {letter_of<Args>()..., 0};
  int n = int(sizeof...(Args));
  while (n > 0 && letters[n - 1] == 'f')
    --n;
  int numbers = 0, axes = 0;
  bool const of_element = n > 0 && letters[0] == 'e';
  for (int i = of_element ? 1 : 0; i < n; ++i) {
    bool const number = letters[i] == 'n' || letters[i] == 'i';
    (number ? numbers : axes) += number || letters[i] == 'a' ? 1 : 8;
  }
  return (numbers == 3 && axes == 0 && letters[n - 1] == 'i') || (numbers == 0 && axes >= 1 && axes <= 3 && !of_element);
}
} // namespace detail

/// Anything else is refused.
template <class... Args>
  requires(!detail::are_of_a_histogram<Args...>())
auto histogram(Args...) -> because::a_histogram_has_bounds_and_bins<Args...> {
  return {};
}

} // namespace tally::v0
