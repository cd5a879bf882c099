// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fold_of: a monoid of the user's own. Layer 1. Its functions are declared with TALLY_FUNCTION (any back end) or are host
// callables (CPU only); the laws are the user's word for what may be reordered.
#pragma once

#include <tally/fold/fold.hpp>

namespace tally::v0 {

/// The operation may be regrouped: combine(combine(a, b), c) and combine(a, combine(b, c)) mean the same.
struct associative_t {};
/// The operands may be exchanged as well.
struct commutative_t {};
/// Any order and grouping give the same bits (integers, lattices).
struct order_free_t {};
inline constexpr associative_t associative{};
inline constexpr commutative_t commutative{};
inline constexpr order_free_t order_free{};

/// A callable that knows whether it has device text.
template <class F>
concept device_function = requires { typename F::device_text; };

template <class Law, class... Laws>
inline constexpr bool declares = (false || ... || stl::same_as<Law, Laws>);

template <class State, class Combine, class Lift, class Lower, class... Laws>
struct custom_monoid {
  using state = State;
  static constexpr laws law{declares<commutative_t, Laws...> || declares<order_free_t, Laws...>,
                            declares<order_free_t, Laws...>};
  static constexpr bool lowerable = device_function<Combine> && device_function<Lift> && device_function<Lower>;
  State start;
  Combine combine_with;
  Lift lift_with;
  Lower lower_with;
  TALLY_INLINE constexpr State identity() const { return start; }
  template <class... Vs>
  TALLY_INLINE constexpr State lift(i64, Vs... vs) const {
    return lift_with(vs...);
  }
  TALLY_INLINE constexpr State combine(State const& a, State const& b) const { return combine_with(a, b); }
  constexpr auto lower(State const& s, summary) const { return lower_with(s); }
};

template <class State, class Combine, class Lift, class Lower, class... Laws>
struct custom_operation : fold_operation<custom_operation<State, Combine, Lift, Lower, Laws...>> {
  static constexpr char const* spelling = "fold_of";
  static constexpr bool is_associative = declares<associative_t, Laws...> || declares<order_free_t, Laws...>;
  State start;
  Combine combine;
  Lift lift;
  Lower lower;
  template <class... Vs>
  static constexpr bool accepts = requires(Lift l, Combine c, Lower w, State s, Vs... vs) {
    { l(vs...) } -> stl::convertible_to<State>;
    { c(s, s) } -> stl::convertible_to<State>;
    w(s);
    requires !stl::is_void_v<decltype(w(s))>;
  };
  template <class...>
  constexpr auto bind() const {
    return custom_monoid<State, Combine, Lift, Lower, Laws...>{start, combine, lift, lower};
  }
};

namespace detail {
template <class State, class... Laws>
constexpr auto judge_fold_of() {
  if constexpr (!(declares<associative_t, Laws...> || declares<order_free_t, Laws...>))
    return reason<because::fold_of_needs_an_associative_operation<State, Laws...>>{};
  else if constexpr (!__is_trivially_copyable(State) || sizeof(State) > 256)
    return reason<because::fold_of_needs_functions_of_its_state<State>>{};
  else
    return allowed{};
}
} // namespace detail

/// A fold of the user's own: identity is a trivially copyable state (size <= 256 bytes), combine(state, state) -> state,
/// lift(values...) -> state, lower(state) -> answer; laws are associative, commutative, order_free.
template <class State, class Combine, class Lift, class Lower, class... Laws>
  requires stl::same_as<decltype(detail::judge_fold_of<State, Laws...>()), allowed>
constexpr auto fold_of(State identity, Combine combine, Lift lift, Lower lower, Laws...) {
  using op = custom_operation<State, Combine, Lift, Lower, Laws...>;
  return fold_of_one<op>{op{{}, identity, combine, lift, lower}, {}, {}};
}

/// Without the law, or with a state that cannot travel: refused.
template <class State, class Combine, class Lift, class Lower, class... Laws>
  requires(!stl::same_as<decltype(detail::judge_fold_of<State, Laws...>()), allowed>)
auto fold_of(State, Combine, Lift, Lower, Laws...) -> typename decltype(detail::judge_fold_of<State, Laws...>())::type {
  return {};
}
/// With a function missing: refused.
template <class... Functions>
  requires(sizeof...(Functions) < 4)
auto fold_of(Functions...) -> because::fold_of_needs_functions_of_its_state<because::there_are<int(sizeof...(Functions))>> {
  return {};
}

} // namespace tally::v0
