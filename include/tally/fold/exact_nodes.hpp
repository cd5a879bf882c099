// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Answer nodes over exact sums: one rounding, at the end. Layer 1.
#pragma once

#include <tally/base/word_quotient.hpp>
#include <tally/fold/answer_nodes.hpp>
#include <tally/fold/exact.hpp>
#include <tally/fold/sum.hpp>

namespace tally::v0 {

namespace detail {
/// Adds size * 2^(64 * at) `times` times, or subtracts it.
template <int Words, int Fewer>
constexpr void add_size(wide_integer<Words>& to, wide_integer<Fewer> const& size, int times, bool negative, int at = 0) {
  u64 const flip = negative ? ~u64(0) : 0;
  TALLY_ROLLED
  for (int k = 0; k < times; ++k) {
    u64 carry = negative ? 1 : 0;
    TALLY_ROLLED
    for (int w = 0; w < Words; ++w) {
      u64 const part = (w >= at && w - at < Fewer ? size.word[w - at] : 0) ^ flip, one = to.word[w] + part;
      to.word[w] = one + carry;
      carry = u64(one < part) | u64(to.word[w] < carry);
    }
  }
}
constexpr int larger(int a, int b) { return a > b ? a : b; }

/// An exact sum as one integer: of integers up to 32 bits, and of products of these.
template <integer A>
constexpr wide_integer<2> wide_sum(A s) {
  return {{static_cast<u64>(s), s < A(0) ? ~u64(0) : 0}};
}
constexpr wide_integer<2> wide_sum(checked_sum_monoid<double>::state const& s) { return {{s.low, static_cast<u64>(s.high)}}; }

/// Copies the words of x from its first that is not zero on, and says which that is; false: there are more than N.
template <int N, int Words>
constexpr bool near_words(wide_integer<Words> const& x, wide_integer<N>& to, int& base) {
  base = 0;
  TALLY_ROLLED
  while (base < Words - 1 && x.word[base] == 0)
    ++base;
  u64 const sign = x.negative() ? ~u64(0) : 0;
  for (int i = 0; i < N; ++i)
    to.word[i] = base + i < Words ? x.word[base + i] : sign;
  bool all = to.negative() == x.negative();
  TALLY_ROLLED
  for (int w = base + N; w < Words; ++w)
    all &= x.word[w] == sign;
  return all;
}

/// What a covariance is the quotient of, from the sums of numbers of Near words, and of products of one more: times 2^(64 * base). False: they lie too far apart.
template <int Near>
constexpr bool near_covariance(wide_integer<Near> const& x, int at_x, wide_integer<Near> const& y, int at_y, wide_integer<Near + 1> const& products, int at, u64 n,
                               wide_integer<2 * Near + 2>& above, int& base) {
  int const at_xy = at_x + at_y;
  base = at < at_xy ? at : at_xy;
  above = {};
  if (at - base > Near - 1 || at_xy - base > 1)
    return false;
  add_size(above, multiplied(size_of(products), wide_integer<1>{{n}}), 1, products.negative(), at - base);
  add_size(above, multiplied(size_of(x), size_of(y)), 1, x.negative() == y.negative(), at_xy - base);
  return true;
}

/// The covariance of n pairs where a word holds the sums and two the products and what they are multiplied to, all times 2^lowest, products twice; false elsewhere.
template <class To>
constexpr bool covariance_of_two_words(words_and_place const& x, words_and_place const& y, words_and_place const& products, u64 n, u64 fewer, int lowest, To& answer) {
  if ((x.size.high | y.size.high | n >> 32) != 0 || leading_zeros(products.size) < 34)
    return false;
  two_words above = times(products.size, n), less{};
  multiply(x.size.low, y.size.low, less.low, less.high);
  int const apart = products.at - (x.at + y.at);
  if (int const room = leading_zeros(apart > 0 ? above : less); (apart > 0 ? apart : -apart) > room - 1)
    return false;
  (apart > 0 ? above : less) = shifted_up(apart > 0 ? above : less, apart > 0 ? apart : -apart);
  if (((above.high | less.high) >> 63) != 0)
    return false;
  bool const added = products.negative == (x.negative == y.negative), swapped = !added && above < less; // the product of sums is taken away
  two_words const size = added ? plus(above, less) : swapped ? minus(less, above) : minus(above, less);
  To const q = rounded_quotient<To>(size, 2 * lowest + (apart > 0 ? x.at + y.at : products.at), n * (n - fewer));
  answer = products.negative != swapped && (size.low | size.high) != 0 ? -q : q;
  return true;
}

/// The covariance as the quotient of a few words, where the numbers are not far from their sums; each sum is times 2^at. False elsewhere.
template <class V, class To, int A, int B, int C>
constexpr bool covariance_of_few_words(wide_integer<A> const& sum_x, int at_x, wide_integer<B> const& sum_y, int at_y, wide_integer<C> const& of_products, int at, i64 n, i64 fewer,
                                       To& answer) {
  constexpr int few = sizeof(V) == 4 ? 2 : 3;
  wide_integer<few> x{}, y{};
  wide_integer<few + 1> products{};
  wide_integer<2 * few + 2> above{};
  int skipped_x = 0, skipped_y = 0, skipped = 0, base = 0;
  if (!near_words(sum_x, x, skipped_x) || !near_words(sum_y, y, skipped_y) || !near_words(of_products, products, skipped) ||
      !near_covariance(x, at_x / 64 + skipped_x, y, at_y / 64 + skipped_y, products, at / 64 + skipped, static_cast<u64>(n), above, base))
    return false;
  answer = rounded_quotient_here<To>(above, exact_range<V, 2>::lowest + 64 * base, multiplied(wide_integer<1>{{static_cast<u64>(n)}}, wide_integer<1>{{static_cast<u64>(n - fewer)}}));
  return true;
}
/// The same of all words, times 2^lowest.
template <class To, int A, int B, int C>
constexpr To covariance_of_words(wide_integer<A> const& sum_x, wide_integer<B> const& sum_y, wide_integer<C> const& of_products, int lowest, i64 n, i64 fewer) {
  wide_integer<1> const number{{static_cast<u64>(n)}}, divisor{{static_cast<u64>(n - fewer)}};
  wide_integer<larger(A + B, C + 1) + 1> above{};
  add_size(above, multiplied(size_of(of_products), number), 1, of_products.negative());
  add_size(above, multiplied(size_of(sum_x), size_of(sum_y)), 1, sum_x.negative() == sum_y.negative());
  return rounded_quotient<To>(above, lowest, multiplied(number, divisor));
}
} // namespace detail

/// (n * products - sum_x * sum_y) / (n * (n - fewer)), the covariance of n > fewer pairs of numbers of V from the exact sums of either and of their products,
/// rounded once; NaN where one of them was not finite. The sums are exact_sum_state, never a copy at each place that asks.
template <class V, class To, int A, int B, int C>
TALLY_HD __attribute__((noinline)) constexpr To exact_covariance(exact_sum_state<A> const& x, exact_sum_state<B> const& y, exact_sum_state<C> const& products, i64 n,
                                                                 i64 fewer = 0) {
  if (n <= fewer || (x.special | y.special | products.special) != 0)
    return stl::numeric_limits<To>::quiet_NaN();
  To answer{};
  return detail::covariance_of_few_words<V>(x.sum, 0, y.sum, 0, products.sum, 0, n, fewer, answer)
             ? answer
             : detail::covariance_of_words<To>(x.sum, y.sum, products.sum, exact_range<V, 2>::lowest, n, fewer);
}
/// Or near ones.
template <class V, class To, int A, int B, int C>
constexpr To exact_covariance(near_sum_state<A> const& x, near_sum_state<B> const& y, near_sum_state<C> const& products, i64 n, i64 fewer = 0) {
  if (n <= fewer)
    return stl::numeric_limits<To>::quiet_NaN();
  To answer{};
  words_and_place word_x{}, word_y{}, words{};
  if (are_two_words(x.sum, word_x) && are_two_words(y.sum, word_y) && are_two_words(products.sum, words)) {
    word_x.at += x.base, word_y.at += y.base, words.at += products.base;
    if (detail::covariance_of_two_words(word_x, word_y, words, static_cast<u64>(n), static_cast<u64>(fewer), exact_range<V, 1>::lowest, answer))
      return answer;
  }
  if (detail::covariance_of_few_words<V>(x.sum, x.base, y.sum, y.base, products.sum, products.base, n, fewer, answer))
    return answer;
  return exact_covariance<V, To>(exact_sum_monoid<V, To, 1>{}.whole(x), exact_sum_monoid<V, To, 1>{}.whole(y), exact_sum_monoid<V, To, 2>{}.whole(products), n, fewer);
}
/// Or of integers up to 32 bits.
template <class V, class To, class X, class Y, class XY>
constexpr To exact_covariance(X const& x, Y const& y, XY const& products, i64 n, i64 fewer = 0) {
  return n <= fewer ? stl::numeric_limits<To>::quiet_NaN()
                    : detail::covariance_of_words<To>(detail::wide_sum(x), detail::wide_sum(y), detail::wide_sum(products), 0, n, fewer);
}
namespace detail {
/// From integers of a few words, or whole ones.
template <class V, class To, class N, class P>
TALLY_HD __attribute__((noinline)) constexpr To covariance_of_integers(sum_of_numbers<N> const& x, sum_of_numbers<N> const& y, sum_of_numbers<P> const& products, i64 n, i64 fewer) {
  exact_sum_monoid<V, To, 1> const sums{};
  exact_sum_monoid<V, To, 2> const sums_of_products{};
  near_sum_state<4> few_x{}, few_y{};
  near_sum_state<5> few_products{};
  if (sums.near(x, few_x) && sums.near(y, few_y) && sums_of_products.near(products, few_products))
    return exact_covariance<V, To>(few_x, few_y, few_products, n, fewer);
  return exact_covariance<V, To>(sums.whole(x), sums.whole(y), sums_of_products.whole(products), n, fewer);
}
} // namespace detail
/// The same from sums that three numbers are.
template <class V, class To, class N, class P>
constexpr To exact_covariance(sum_of_numbers<N> const& x, sum_of_numbers<N> const& y, sum_of_numbers<P> const& products, i64 n, i64 fewer = 0) {
  if (n <= fewer)
    return stl::numeric_limits<To>::quiet_NaN();
  if (To answer{}; n <= i64(1) << 26 && detail::covariance_of_numbers(x, y, products, static_cast<double>(n), static_cast<double>(fewer), answer))
    return answer;
  return detail::covariance_of_integers<V, To>(x, y, products, n, fewer);
}
/// The variance from the sums of numbers and of their squares.
template <class V, class To, class X, class XX>
constexpr To exact_variance(X const& total, XX const& squares, i64 n, i64 fewer) {
  return exact_covariance<V, To>(total, total, squares, n, fewer);
}

/// (n^2 S3 - 3 n S1 S2 + 2 S1^3) / n^3, the third central moment of n numbers of V from the exact sums Sk of their powers, rounded
/// once; NaN of nothing and where one of them was not finite.
template <class V, class To, int A, int B, int C>
TALLY_HD __attribute__((noinline)) constexpr To exact_third_moment(exact_sum_state<A> const& s1, exact_sum_state<B> const& s2, exact_sum_state<C> const& s3, i64 n) {
  if (n <= 0 || (s1.special | s2.special | s3.special) != 0)
    return stl::numeric_limits<To>::quiet_NaN();
  bool const down = s1.sum.negative();
  auto const size = detail::size_of(s1.sum);
  wide_integer<1> const number{{static_cast<u64>(n)}};
  auto const number2 = multiplied(number, number);
  wide_integer<detail::larger(3 * A, detail::larger(A + B + 1, C + 2)) + 1> above{};
  detail::add_size(above, multiplied(number2, detail::size_of(s3.sum)), 1, s3.sum.negative());
  detail::add_size(above, multiplied(multiplied(number, size), s2.sum), 3, !down);
  detail::add_size(above, multiplied(multiplied(size, size), size), 2, down);
  return rounded_quotient<To>(above, exact_range<V, 3>::lowest, multiplied(number2, number));
}

/// (n^3 S4 - 4 n^2 S1 S3 + 6 n S1^2 S2 - 3 S1^4) / n^4, the fourth in the same way.
template <class V, class To, int A, int B, int C, int D>
TALLY_HD __attribute__((noinline)) constexpr To exact_fourth_moment(exact_sum_state<A> const& s1, exact_sum_state<B> const& s2, exact_sum_state<C> const& s3,
                                 exact_sum_state<D> const& s4, i64 n) {
  if (n <= 0 || (s1.special | s2.special | s3.special | s4.special) != 0)
    return stl::numeric_limits<To>::quiet_NaN();
  auto const size = detail::size_of(s1.sum);
  auto const square = multiplied(size, size);
  wide_integer<1> const number{{static_cast<u64>(n)}};
  auto const number2 = multiplied(number, number);
  wide_integer<detail::larger(4 * A, detail::larger(A + C + 2, D + 3)) + 1> above{};
  detail::add_size(above, multiplied(multiplied(number2, number), s4.sum), 1, false);
  detail::add_size(above, multiplied(multiplied(number2, size), detail::size_of(s3.sum)), 4, s1.sum.negative() == s3.sum.negative());
  detail::add_size(above, multiplied(multiplied(number, square), s2.sum), 6, false);
  detail::add_size(above, multiplied(square, square), 3, true);
  return rounded_quotient<To>(above, exact_range<V, 4>::lowest, multiplied(number2, number2));
}

} // namespace tally::v0

namespace tally::v0::answers {

/// The mean from an exact sum: one rounding instead of two.
template <class Sum, class Count>
struct exact_mean {
  Sum sum;
  Count count;
  template <class Outcome>
  constexpr auto value(Outcome const& o) const {
    return get<Sum::index>(o.leaves).monoid.mean(get<Sum::index>(o.states), count.value(o));
  }
};

/// The variance, or its root, from the exact sums of numbers, floats or integers, and of their squares.
template <class Number, class To, int Fewer, bool Root, class Count, class Sum, class Squares>
struct exact_spread {
  Count count;
  template <class Outcome>
  To value(Outcome const& o) const {
    To const v = exact_variance<Number, To>(get<Sum::index>(o.states), get<Squares::index>(o.states), count.value(o), Fewer);
    if constexpr (Root)
      return math::sqrt(v);
    else
      return v;
  }
};

/// The covariance from the exact sums of numbers, of others beside them, and of the products.
template <class Number, class To, class Count, class X, class Y, class Products>
struct exact_covariance_of {
  Count count;
  template <class Outcome>
  constexpr To value(Outcome const& o) const {
    return exact_covariance<Number, To>(get<X::index>(o.states), get<Y::index>(o.states), get<Products::index>(o.states), count.value(o));
  }
};

/// Whether exact sums that a node looks at may be near_sum_state, their bases at whole words, or sum_of_numbers.
template <class Node>
inline constexpr bool takes_near_sums = false;
template <int I>
inline constexpr bool takes_near_sums<leaf<I>> = true;
template <class Sum, class Count>
inline constexpr bool takes_near_sums<exact_mean<Sum, Count>> = true;
template <class Number, class To, int Fewer, bool Root, class Count, class Sum, class Squares>
inline constexpr bool takes_near_sums<exact_spread<Number, To, Fewer, Root, Count, Sum, Squares>> = true;
template <class Number, class To, class Count, class X, class Y, class Products>
inline constexpr bool takes_near_sums<exact_covariance_of<Number, To, Count, X, Y, Products>> = true;
/// The same of all nodes of a pack.
template <class Nodes>
inline constexpr bool all_take_near_sums = false;
template <class... Nodes>
inline constexpr bool all_take_near_sums<pack<Nodes...>> = (true && ... && takes_near_sums<Nodes>);

/// The number, the mean and the central moments from the exact sums of powers 1 to K, each rounded once.
template <class Number, class To, class Count, class... Sums>
struct exact_moments {
  static constexpr int order = sizeof...(Sums);
  Count count;
  template <class Outcome>
  constexpr auto value(Outcome const& o) const {
    using Sum = exact_sum_monoid<Number, To, 1>;
    i64 const n = count.value(o);
    auto const& sums = o.states;
    moments_result<To, order> r{n, n > 0 ? Sum().mean(get<at<0>>(sums), n) : To(0), {}};
    r.central[0] = exact_variance<Number, To>(get<at<0>>(sums), get<at<1>>(sums), n, 0);
    if constexpr (order >= 3)
      r.central[1] = exact_third_moment<Number, To>(get<at<0>>(sums), get<at<1>>(sums), get<at<2>>(sums), n);
    if constexpr (order >= 4)
      r.central[2] = exact_fourth_moment<Number, To>(get<at<0>>(sums), get<at<1>>(sums), get<at<2>>(sums), get<at<3>>(sums), n);
    return r;
  }

private:
  template <int K>
  static constexpr int at = nth_t<K, Sums...>::index;
};

} // namespace tally::v0::answers
