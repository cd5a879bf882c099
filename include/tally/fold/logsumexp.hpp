// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// logsumexp: log(sum(exp(x))) without overflow, as states (largest x, sum of exp(x - largest)). Layer 1. exp and log are
// tally::math's, so the bits are the same on every back end.
#pragma once

#include <tally/fold/fold.hpp>

namespace tally::inline v0 {

template <class A>
struct logsumexp_monoid {
  struct state {
    A largest, sum;
  };
  static constexpr laws law = any_grouping;
  TALLY_INLINE constexpr state identity() const { return {-cuda::std::numeric_limits<A>::infinity(), A(0)}; }
  template <class V>
  TALLY_INLINE constexpr state lift(i64, V v) const {
    return {static_cast<A>(v), A(1)};
  }
  TALLY_INLINE constexpr state combine(state const& a, state const& b) const {
    if (a.largest == b.largest) // equal infinities too, where the difference would be NaN
      return {a.largest, a.sum + b.sum};
    bool const left = a.largest > b.largest || a.largest != a.largest;
    state const& hi = left ? a : b;
    state const& lo = left ? b : a;
    return {hi.largest, hi.sum + lo.sum * math::exp(lo.largest - hi.largest)};
  }
  A lower(state const& s, summary) const {
    if (s.sum == A(0))
      return -cuda::std::numeric_limits<A>::infinity();
    if (s.largest == cuda::std::numeric_limits<A>::infinity() || s.largest != s.largest)
      return s.largest;
    return s.largest + math::log(s.sum);
  }
};

template <class In = void>
struct logsumexp_operation : fold_operation<logsumexp_operation<In>> {
  static constexpr char const* spelling = "logsumexp";
  template <class T>
  constexpr logsumexp_operation<T> in() const {
    return {};
  }
  template <class... Vs>
  static constexpr bool accepts = sizeof...(Vs) == 1 && (real<Vs> && ...) && (cuda::std::is_void_v<In> || floating<In>);
  template <class V>
  static constexpr auto bind() {
    using A = cuda::std::conditional_t<cuda::std::is_void_v<In>, decltype(op::real_argument(V{})), In>;
    return logsumexp_monoid<A>{};
  }
};

/// log(sum(exp(x))); of nothing, -infinity.
inline constexpr fold_of_one<logsumexp_operation<>> logsumexp{};

} // namespace tally::inline v0
