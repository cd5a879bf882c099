// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// logsumexp: log(sum(exp(x))) without overflow, as states (largest x, sum of exp(x - largest)). Layer 1. exp and log are
// tally::math's, so the bits are the same on every back end.
#pragma once

#include <tally/fold/fold.hpp>
#include <tally/fold/min_max.hpp>

namespace tally::v0 {

template <class A>
struct logsumexp_monoid {
  struct state {
    A largest, sum;
  };
  static constexpr laws law = any_grouping;
  TALLY_INLINE constexpr state identity() const { return {-stl::numeric_limits<A>::infinity(), A(0)}; }
  template <class V>
  TALLY_INLINE constexpr state lift(i64, V v) const {
    return {static_cast<A>(v), A(1)};
  }
  /// A sum that matters is one or more, so that the smaller side counts for nothing long before its weight would underflow.
  TALLY_INLINE constexpr state combine(state const& a, state const& b) const {
    A const weight = math::detail::weight_at_distance(a.largest - b.largest);
    bool const left = a.largest > b.largest;
    A const more = left ? a.sum : b.sum, less = left ? b.sum : a.sum;
    return {extreme_monoid<A, false>{}.combine(a.largest, b.largest), math::fma(less, weight, more)};
  }
  /// The first element of a lane costs nothing, the second no choice of sides.
  template <int N>
  struct lanes {
    state s[N];
    bool met[N];
    TALLY_INLINE constexpr explicit lanes(logsumexp_monoid m) {
      for (int j = 0; j < N; ++j)
        s[j] = m.identity(), met[j] = false;
    }
    template <class V>
    TALLY_INLINE constexpr void step(logsumexp_monoid m, int j, bool on, i64 position, V v) {
      state const x = m.lift(position, v), next = met[j] ? m.combine(s[j], x) : x;
      s[j] = on ? next : s[j];
      met[j] = true;
    }
    TALLY_INLINE constexpr state close(logsumexp_monoid, int j) const { return s[j]; }
  };
  A lower(state const& s, summary) const {
    if (!(math::abs(s.largest) < stl::numeric_limits<A>::infinity())) // nothing, infinity or NaN
      return s.largest;
    return s.largest + math::log(s.sum);
  }
};

template <class In = void>
struct logsumexp_operation : fold_operation<logsumexp_operation<In>> {
  static constexpr char const* spelling = "logsumexp";
  using accumulates_in = In;
  template <class T>
  constexpr logsumexp_operation<T> in() const {
    return {};
  }
  template <class... Vs>
  static constexpr bool accepts = sizeof...(Vs) == 1 && (real<Vs> && ...) && (stl::is_void_v<In> || floating<In>);
  template <class V>
  static constexpr auto bind() {
    using A = stl::conditional_t<stl::is_void_v<In>, decltype(op::real_argument(V{})), In>;
    return logsumexp_monoid<A>{};
  }
};

/// log(sum(exp(x))); of nothing, -infinity.
inline constexpr fold_of_one<logsumexp_operation<>> logsumexp{};

} // namespace tally::v0
