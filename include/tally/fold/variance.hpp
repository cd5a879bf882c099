// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// variance, sample_variance, stddev: states (n, mean, sum of squared deviations) merged with Chan's formula. Layer 1.
// A lane keeps plain sums of deviations from its own first element, which is cheap and loses nothing over the few
// elements a lane sees; it becomes a state when it is closed.
#pragma once

#include <tally/fold/algebra.hpp>
#include <tally/fold/fold.hpp>

namespace tally::v0 {

/// Number, mean and sum of squared deviations of some elements, in A.
template <class A>
struct deviations {
  u64 n;
  A mean;
  A squares;
};

template <class A>
struct variance_monoid {
  using state = deviations<A>;
  static constexpr laws law = any_grouping;
  TALLY_INLINE constexpr state identity() const { return {0, A(0), A(0)}; }
  template <class V>
  TALLY_INLINE constexpr state lift(i64, V v) const {
    return {1, static_cast<A>(v), A(0)};
  }
  struct even {
    A mean, squares;
  };
  TALLY_INLINE constexpr even even_part(state const& s) const { return {s.mean, s.squares}; }
  TALLY_INLINE constexpr state of_even(even const& e, u64 n) const { return {n, e.mean, e.squares}; }
  TALLY_INLINE constexpr even combine_even(even const& a, even const& b, u64 n) const {
    A const d = b.mean - a.mean;
    return {a.mean + d * A(0.5), (a.squares + b.squares) + (d * d) * (static_cast<A>(n) * A(0.5))};
  }
  TALLY_INLINE constexpr state combine(state const& a, state const& b) const {
    A const d = b.mean - a.mean;
    if (a.n == b.n) // full lanes and leaves: no division
      return of_even(combine_even(even_part(a), even_part(b), a.n), a.n + b.n);
    if (b.n == 0)
      return a;
    if (a.n == 0)
      return b;
    A const share = static_cast<A>(b.n) / static_cast<A>(a.n + b.n);
    return {a.n + b.n, a.mean + d * share, (a.squares + b.squares) + (d * d) * (static_cast<A>(a.n) * share)};
  }
  constexpr state lower(state const& s, summary) const { return s; }

  template <int N>
  struct lanes {
    A pivot[N], sum[N], squares[N];
    u32 n[N];
    TALLY_INLINE constexpr explicit lanes(variance_monoid) {
      for (int j = 0; j < N; ++j)
        pivot[j] = sum[j] = squares[j] = A(0), n[j] = 0;
    }
    template <class V>
    TALLY_INLINE constexpr void step(variance_monoid, int j, bool on, i64, V v) {
      A const x = static_cast<A>(v);
      A const p = n[j] == 0 ? x : pivot[j];
      A const d = x - p;
      pivot[j] = on ? p : pivot[j];
      sum[j] = on ? sum[j] + d : sum[j];
      squares[j] = on ? squares[j] + d * d : squares[j];
      n[j] += on ? 1u : 0u;
    }
    TALLY_INLINE constexpr state close(variance_monoid, int j) const {
      A const share = n[j] == 0 ? A(0) : sum[j] / static_cast<A>(n[j]);
      A const rest = squares[j] - sum[j] * share;
      return {n[j], pivot[j] + share, rest < A(0) ? A(0) : rest};
    }
  };
};

/// The operation behind variance; In = void computes in float for float and smaller, else in double.
template <class In = void>
struct variance_operation : fold_operation<variance_operation<In>> {
  static constexpr char const* spelling = "deviations";
  using accumulates_in = In;
  template <class T>
  constexpr variance_operation<T> in() const {
    return {};
  }
  template <class V>
  using accumulator =
      stl::conditional_t<stl::is_void_v<In>, decltype(op::real_argument(V{})), In>;
  template <class... Vs>
  static constexpr bool accepts = sizeof...(Vs) == 1 && (real<Vs> && ...) && (stl::is_void_v<In> || floating<In>);
  template <class V>
  static constexpr auto bind() {
    return variance_monoid<accumulator<V>>{};
  }
};

namespace op {
/// Squares over n - Fewer.
template <int Fewer>
struct variance {
  static constexpr char const* spelling = Fewer ? "sample_variance" : "variance";
  static constexpr bool of_elements = true;
  template <class A>
  static constexpr A apply(deviations<A> const& s) {
    if (s.n <= u64(Fewer))
      return stl::numeric_limits<A>::quiet_NaN();
    return s.squares / static_cast<A>(static_cast<i64>(s.n) - Fewer);
  }
};
struct stddev {
  static constexpr char const* spelling = "stddev";
  static constexpr bool of_elements = true;
  template <class A>
  static A apply(deviations<A> const& s) {
    return math::sqrt(variance<0>::apply(s));
  }
};
} // namespace op

/// A function of the deviations of one element expression.
template <class Function>
struct deviation_fold : folded_call<Function, fold_of_one<variance_operation<>>> {
  template <class E>
  constexpr auto operator()(E e) const {
    return call_of<Function>(fold_of_one<variance_operation<>>{}(e));
  }
  template <class... Es>
    requires(sizeof...(Es) != 1)
  auto operator()(Es...) const
      -> because::the_fold_takes_another_number_of_elements<Function, because::there_are<int(sizeof...(Es))>> {
    return {};
  }
};
/// The mean squared deviation from the mean (divides by n); of nothing, NaN.
inline constexpr deviation_fold<op::variance<0>> variance{};
/// The unbiased estimate of the variance (divides by n - 1); of one element or none, NaN.
inline constexpr deviation_fold<op::variance<1>> sample_variance{};
/// The square root of the variance; of nothing, NaN.
inline constexpr deviation_fold<op::stddev> stddev{};

} // namespace tally::v0
