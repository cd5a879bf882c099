// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of the user's own in an element expression: TALLY_FUNCTION gives one that has device text and runs anywhere;
// a host lambda is kept as it is and holds its pipeline on the CPU. Layer 1.
#pragma once

#include <tally/element/expression.hpp>
#include <tally/element/placeholder.hpp>

namespace tally::v0 {

namespace op {
/// A function declared with TALLY_FUNCTION, as an operation.
template <class F>
struct user {
  using device_text = F;
  static constexpr char const* spelling = F::spelling;
  template <class... Ts>
    requires requires(F f, Ts... xs) { f(xs...); }
  TALLY_INLINE static constexpr auto apply(Ts... xs) {
    return F{}(xs...);
  }
};
} // namespace op

/// What TALLY_FUNCTION declares: call it with numbers, expressions or folds.
template <class F>
struct user_function {
  using device_text = F;
  template <class... Ts>
    requires(false || ... || (expression<Ts> || fold_like<Ts>))
  TALLY_HD constexpr auto operator()(Ts... xs) const {
    return call_of<op::user<F>>(xs...);
  }
  template <class... Ts>
    requires(!(false || ... || (expression<Ts> || fold_like<Ts>))) && requires(F f, Ts... xs) { f(xs...); }
  TALLY_HD constexpr auto operator()(Ts... xs) const {
    return F{}(xs...);
  }
};

/// A host callable applied to expressions.
template <class F, class... Args>
struct host_call : expression_node<host_call<F, Args...>> {
  F function;
  pack<Args...> args;
  constexpr host_call(F f, pack<Args...> a) : function(f), args(a) {}
  static constexpr int arity = detail::max_of(0, Args::arity...);
  static constexpr bool lowerable = false;
  static constexpr bool calls_users_code = true;
  static constexpr bool captures = true;
  template <class Row>
  constexpr auto eval(Row const& r) const {
    return unpack([&](auto const&... a) TALLY_INLINE_LAMBDA { return function(a.eval(r)...); }, args);
  }
  template <class... Es>
  constexpr auto substitute(pack<Es...> const& with) const {
    return unpack(
        [&](auto const&... a) {
          auto replaced = make_pack(a.substitute(with)...);
          return unpack(
              [&](auto const&... r) {
                return host_call<F, stl::remove_cvref_t<decltype(r)>...>(function, make_pack(r...));
              },
              replaced);
        },
        args);
  }
  template <class Out>
  void print(Out& out) const {
    unpack([&](auto const&... a) { out.named("<host function>", a...); }, args);
  }
};

/// The placeholders _1 to _K.
template <int K>
constexpr auto placeholders() {
  return []<int... I>(index_list<I...>) {
    return pack<placeholder<I>...>{};
  }(indices_up_to<K>{});
}

/// An expression, a number, or a callable (given _1 to _K) as an expression.
template <int K, class F>
constexpr auto as_element(F f) {
  if constexpr (expression<F>)
    return f;
  else if constexpr (scalar<F>)
    return literal<F>(f);
  else if constexpr (requires { typename F::device_text; })
    return unpack([&](auto... all) { return f(all...); }, placeholders<K>());
  else
    return [&]<class... Ps>(pack<Ps...> all) { return host_call<F, Ps...>(f, all); }(placeholders<K>());
}

/// How many columns an argument of a stage needs.
template <class F>
constexpr int arity_of() {
  if constexpr (expression<F>)
    return F::arity;
  else
    return 0;
}

} // namespace tally::v0
