// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// count and what counts: count, count_if, any, all, none, count_modulo, countdown_modulo. Layer 1. All are integers and
// free of order; a count without a mask is the extent and costs nothing.
#pragma once

#include <tally/fold/algebra.hpp>
#include <tally/fold/fold.hpp>

namespace tally::v0 {

/// How many elements pass.
struct count_monoid {
  using state = u64;
  static constexpr laws law = any_order;
  TALLY_INLINE constexpr u64 identity() const { return 0; }
  template <class... Vs>
  TALLY_INLINE constexpr u64 lift(i64, Vs...) const {
    return 1;
  }
  TALLY_INLINE constexpr u64 combine(u64 a, u64 b) const { return a + b; }
  constexpr i64 lower(u64 s, summary) const { return static_cast<i64>(s); }

  /// Lanes count in 32 bits: one lane sees fewer than 2^32 elements.
  template <int N>
  struct lanes {
    u32 n[N];
    TALLY_INLINE constexpr explicit lanes(count_monoid) {
      for (int j = 0; j < N; ++j)
        n[j] = 0;
    }
    template <class... Vs>
    TALLY_INLINE constexpr void step(count_monoid, int j, bool on, i64, Vs...) {
      n[j] += on ? 1u : 0u;
    }
    TALLY_INLINE constexpr u64 close(count_monoid, int j) const { return n[j]; }
  };
};

struct count_operation : fold_operation<count_operation> {
  static constexpr char const* spelling = "count";
  static constexpr int takes = 0;
  template <class... Vs>
  static constexpr bool accepts = sizeof...(Vs) == 0;
  template <class...>
  static constexpr auto bind() {
    return count_monoid{};
  }
};

/// The number of elements that pass the mask, an i64.
inline constexpr fold_of_none<count_operation> count{};

/// The number of elements for which the condition holds.
template <class P>
constexpr auto count_if(P condition) {
  return count.where(condition);
}

namespace op {
/// Whether a condition does not hold.
struct unmet {
  static constexpr char const* spelling = "!";
  static constexpr bool takes_a_condition = true;
  template <stl::same_as<bool> Condition>
  TALLY_INLINE static constexpr bool apply(Condition c) {
    return !c;
  }
};
struct is_positive {
  static constexpr char const* spelling = "any";
  static constexpr bool of_elements = true;
  static constexpr bool apply(i64 n) { return n > 0; }
};
struct is_zero {
  static constexpr char const* spelling = "none";
  static constexpr bool of_elements = true;
  static constexpr bool apply(i64 n) { return n == 0; }
};
struct has_no_failure {
  static constexpr char const* spelling = "all";
  static constexpr bool of_elements = true;
  static constexpr bool apply(i64 n) { return n == 0; }
};
} // namespace op

/// A question about a condition, answered from a count: any, all, none of a bool column or of a condition.
template <class Question, bool OfFailures>
struct condition_fold : folded_call<Question, decltype(count_if(_1))> {
  template <class P>
  constexpr auto operator()(P condition) const {
    return call_of<Question>(count_if(condition));
  }
  template <class... Es>
    requires(sizeof...(Es) != 1)
  auto operator()(Es...) const
      -> because::the_fold_takes_another_number_of_elements<Question, because::there_are<int(sizeof...(Es))>> {
    return {};
  }
};
template <class Question>
struct condition_fold<Question, true> : folded_call<Question, decltype(count_if(call_of<op::unmet>(_1)))> {
  template <class P>
  constexpr auto operator()(P condition) const {
    return call_of<Question>(count_if(call_of<op::unmet>(as_element<1>(condition))));
  }
  template <class... Es>
    requires(sizeof...(Es) != 1)
  auto operator()(Es...) const
      -> because::the_fold_takes_another_number_of_elements<Question, because::there_are<int(sizeof...(Es))>> {
    return {};
  }
};

/// Whether the condition (default: _1 itself) holds for at least one element; of nothing, false.
inline constexpr condition_fold<op::is_positive, false> any{};
/// Whether the condition holds for every element; of nothing, true.
inline constexpr condition_fold<op::has_no_failure, true> all{};
/// Whether the condition holds for no element; of nothing, true.
inline constexpr condition_fold<op::is_zero, false> none{};

/// Counting up (Up) or down modulo m: what red.inc and red.dec compute.
template <bool Up>
struct count_modulo_monoid {
  u32 modulus;
  using state = u32;
  static constexpr laws law = any_order;
  TALLY_INLINE constexpr u32 identity() const { return 0; }
  template <class... Vs>
  TALLY_INLINE constexpr u32 lift(i64, Vs...) const {
    return modulus == 1 ? 0 : (Up ? 1 : modulus - 1);
  }
  TALLY_INLINE constexpr u32 combine(u32 a, u32 b) const {
    u64 const s = u64(a) + b;
    return static_cast<u32>(s >= modulus ? s - modulus : s);
  }
  constexpr u32 lower(u32 s, summary) const { return s; }
};

template <bool Up>
struct count_modulo_operation : fold_operation<count_modulo_operation<Up>> {
  static constexpr char const* spelling = Up ? "count_modulo" : "countdown_modulo";
  u32 modulus;
  static constexpr int takes = 0;
  template <class... Vs>
  static constexpr bool accepts = sizeof...(Vs) == 0;
  template <class...>
  constexpr auto bind() const {
    return count_modulo_monoid<Up>{modulus};
  }
  template <class Out>
  void print_parameters(Out& out) const {
    out.number(modulus);
  }
};

namespace detail {
constexpr u32 modulus_of(i64 m) { return m >= 1 && m < i64(1) << 32 ? static_cast<u32>(m) : 0; }
} // namespace detail
/// The number of elements modulo m (1 <= m < 2^32, else run throws zero_modulus), a u32.
constexpr auto count_modulo(i64 m) { return fold_of_none<count_modulo_operation<true>>{{{}, detail::modulus_of(m)}, {}, {}}; }
/// Counting down from 0 through m - 1 modulo m (1 <= m < 2^32, else run throws zero_modulus), a u32.
constexpr auto countdown_modulo(i64 m) { return fold_of_none<count_modulo_operation<false>>{{{}, detail::modulus_of(m)}, {}, {}}; }

} // namespace tally::v0
