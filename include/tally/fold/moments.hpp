// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// moments<K>: number, mean and the central moments of order 2 to K <= 4 in one state, merged with Pebay's formulas; and
// covariance of two expressions. Layer 1.
#pragma once

#include <tally/fold/algebra.hpp>
#include <tally/fold/fold.hpp>

namespace tally::v0 {

/// n, the mean, and the sums of powers of the deviations from it: power[0] is the sum of squares.
template <class A, int K>
struct central_sums {
  u64 n;
  A mean;
  A power[K - 1];
};

template <class A, int K>
struct moments_monoid {
  using state = central_sums<A, K>;
  static constexpr laws law = any_grouping;
  TALLY_INLINE constexpr state identity() const { return {}; }
  template <class V>
  TALLY_INLINE constexpr state lift(i64, V v) const {
    return {1, static_cast<A>(v), {}};
  }
  TALLY_INLINE constexpr state combine(state const& a, state const& b) const {
    if (b.n == 0)
      return a;
    if (a.n == 0)
      return b;
    A const na = static_cast<A>(a.n), nb = static_cast<A>(b.n), n = na + nb;
    A const d = b.mean - a.mean, dn = d / n;
    state s{a.n + b.n, a.mean + dn * nb, {}};
    A const dd = d * dn * na * nb;
    s.power[0] = a.power[0] + b.power[0] + dd;
    if constexpr (K >= 3)
      s.power[1] = a.power[1] + b.power[1] + dd * dn * (na - nb) + A(3) * dn * (na * b.power[0] - nb * a.power[0]);
    if constexpr (K >= 4)
      s.power[2] = a.power[2] + b.power[2] + dd * dn * dn * (na * na - na * nb + nb * nb) +
                   A(6) * dn * dn * (na * na * b.power[0] + nb * nb * a.power[0]) +
                   A(4) * dn * (na * b.power[1] - nb * a.power[1]);
    return s;
  }
  constexpr state lower(state const& s, summary) const { return s; }
};

/// Answers of moments<K>: the number, the mean and central[k - 2] = mean of (x - mean)^k.
template <class A, int K>
struct moments_result {
  i64 n;
  A mean;
  A central[K - 1];
  /// Third standardised moment.
  A skewness() const
    requires(K >= 3)
  {
    return central[1] / (central[0] * math::sqrt(central[0]));
  }
  /// Fourth standardised moment; 3 for a normal distribution.
  A kurtosis() const
    requires(K >= 4)
  {
    return central[2] / (central[0] * central[0]);
  }
  friend constexpr bool operator==(moments_result const&, moments_result const&) = default;
};

template <int K, class In = void>
struct moments_operation : fold_operation<moments_operation<K, In>> {
  static constexpr char const* spelling = "central_sums";
  using accumulates_in = In;
  static constexpr bool exists = K >= 2 && K <= 4;
  template <class T>
  constexpr moments_operation<K, T> in() const {
    return {};
  }
  template <class... Vs>
  static constexpr bool accepts = sizeof...(Vs) == 1 && (real<Vs> && ...) && (stl::is_void_v<In> || floating<In>);
  template <class V>
  static constexpr auto bind() {
    using A = stl::conditional_t<stl::is_void_v<In>, decltype(op::real_argument(V{})), In>;
    return moments_monoid<A, K>{};
  }
};

namespace op {
struct central_moments {
  static constexpr char const* spelling = "moments";
  static constexpr bool of_elements = true;
  template <class A, int K>
  static constexpr auto apply(central_sums<A, K> const& s) {
    moments_result<A, K> r{static_cast<i64>(s.n), s.mean, {}};
    for (int k = 0; k < K - 1; ++k)
      r.central[k] = s.power[k] / static_cast<A>(s.n);
    return r;
  }
};
} // namespace op

template <int K>
struct moments_fold : folded_call<op::central_moments, fold_of_one<moments_operation<K>>> {
  template <class E>
  constexpr auto operator()(E e) const {
    return call_of<op::central_moments>(fold_of_one<moments_operation<K>>{}(e));
  }
  template <class... Es>
    requires(sizeof...(Es) != 1)
  auto operator()(Es...) const
      -> because::the_fold_takes_another_number_of_elements<op::central_moments, because::there_are<int(sizeof...(Es))>> {
    return {};
  }
};
/// Number, mean and central moments of order 2 to K (2 <= K <= 4).
template <int K>
inline constexpr moments_fold<K> moments{};

/// n, both means and the sum of products of deviations.
template <class A>
struct co_deviations {
  u64 n;
  A mean_x, mean_y, products;
};

template <class A>
struct covariance_monoid {
  using state = co_deviations<A>;
  static constexpr laws law = any_grouping;
  TALLY_INLINE constexpr state identity() const { return {}; }
  template <class V, class W>
  TALLY_INLINE constexpr state lift(i64, V v, W w) const {
    return {1, static_cast<A>(v), static_cast<A>(w), A(0)};
  }
  TALLY_INLINE constexpr state combine(state const& a, state const& b) const {
    if (b.n == 0)
      return a;
    if (a.n == 0)
      return b;
    A const share = static_cast<A>(b.n) / static_cast<A>(a.n + b.n);
    A const dx = b.mean_x - a.mean_x, dy = b.mean_y - a.mean_y;
    return {a.n + b.n, a.mean_x + dx * share, a.mean_y + dy * share,
            (a.products + b.products) + (dx * dy) * (static_cast<A>(a.n) * share)};
  }
  constexpr A lower(state const& s, summary) const { return s.products / static_cast<A>(s.n); }
};

template <class In = void>
struct covariance_operation : fold_operation<covariance_operation<In>> {
  static constexpr int takes = 2;
  static constexpr char const* spelling = "covariance";
  using accumulates_in = In;
  template <class T>
  constexpr covariance_operation<T> in() const {
    return {};
  }
  template <class... Vs>
  static constexpr bool accepts = sizeof...(Vs) == 2 && (real<Vs> && ...) && (stl::is_void_v<In> || floating<In>);
  template <class V, class W>
  static constexpr auto bind() {
    using A = stl::conditional_t<stl::is_void_v<In>,
                                       decltype(op::real_argument(V{}) + op::real_argument(W{})), In>;
    return covariance_monoid<A>{};
  }
};

/// The covariance of two expressions (divides by n), by default of _1 and _2; of nothing, NaN.
inline constexpr folding<covariance_operation<>, pack<placeholder<0>, placeholder<1>>> covariance{};

} // namespace tally::v0
