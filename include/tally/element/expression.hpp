// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an element expression is: a value that computes one number from one row of the source. Layer 1. An expression is
// an ordinary function object as well, so the same object is called on the host, in a kernel and in a range view.
#pragma once

#include <tally/base/numbers.hpp>
#include <tally/base/pack.hpp>

namespace tally::v0 {

/// One element of every column, and its position.
template <class... Ts>
struct row {
  pack<Ts...> values;
  i64 position;
};

/// Base of every expression node: makes the node callable with one value per placeholder.
template <class Self>
struct expression_node {
  using tally_expression = Self;
  static constexpr bool calls_users_code = false;

  /// The value of the expression for the given elements (_1 is the first argument).
  template <class... Ts>
  TALLY_HD constexpr auto operator()(Ts... xs) const {
    return static_cast<Self const&>(*this).eval(row<Ts...>{make_pack(xs...), 0});
  }
};

template <class T>
concept expression = requires { typename T::tally_expression; };
template <class T>
concept fold_like = requires { typename T::tally_fold; };

/// A run-time scalar captured by an expression; it travels with the pipeline and needs no recompilation.
template <class T>
struct literal : expression_node<literal<T>> {
  T value;
  constexpr literal() = default;
  TALLY_HD constexpr explicit literal(T v) : value(v) {}
  static constexpr int arity = 0;
  static constexpr bool lowerable = true;
  static constexpr bool captures = true;
  template <class Row>
  TALLY_INLINE constexpr T eval(Row const&) const {
    return value;
  }
  template <class... Es>
  constexpr auto substitute(pack<Es...> const&) const {
    return *this;
  }
  template <class Out>
  void print(Out& out) const {
    out.scalar(value);
  }
};

/// Opens expressions to another number-like type (tally/complex.hpp does it for complex numbers).
template <class T>
inline constexpr bool is_scalar = false;
template <class T>
concept scalar = real<T> || is_scalar<T>;

/// What may stand in an expression beside another: expressions, folds, numbers.
template <class T>
concept operand = expression<T> || fold_like<T> || scalar<T>;

template <class T>
TALLY_HD constexpr auto as_operand(T x) {
  if constexpr (expression<T> || fold_like<T>)
    return x;
  else
    return literal<T>(x);
}

namespace detail {
constexpr int max_of(int a) { return a; }
template <class... Is>
constexpr int max_of(int a, int b, Is... is) {
  return max_of(a > b ? a : b, is...);
}
} // namespace detail

/// An operation applied to expressions. Op has a static apply(values...) and a static constexpr spelling.
template <class Op, class... Args>
struct call : expression_node<call<Op, Args...>> {
  pack<Args...> args;
  constexpr call() = default;
  TALLY_HD constexpr explicit call(pack<Args...> a) : args(a) {}
  /// How many columns the expression needs: the highest placeholder in it.
  static constexpr int arity = detail::max_of(0, Args::arity...);
  /// False as soon as a part exists as host code only.
  static constexpr bool lowerable = (true && ... && Args::lowerable);
  /// Whether a function of the user's is called, which need not be defined for elements that a mask holds back.
  static constexpr bool calls_users_code = requires { typename Op::device_text; } || (false || ... || Args::calls_users_code);
  /// True when the node holds run-time values, so that equal types need not mean equal expressions.
  static constexpr bool captures = (false || ... || Args::captures);
  template <class Row>
  TALLY_INLINE constexpr auto eval(Row const& r) const {
    if constexpr (calls_users_code && requires { Op::settled_by; })
      return static_cast<bool>(args.first.eval(r)) == Op::settled_by ? Op::settled_by : static_cast<bool>(args.rest.first.eval(r));
    else
      return unpack([&](auto const&... a) TALLY_INLINE_LAMBDA { return Op::apply(a.eval(r)...); }, args);
  }
  template <class... Es>
  constexpr auto substitute(pack<Es...> const& with) const {
    return unpack(
        [&](auto const&... a) {
          auto replaced = make_pack(a.substitute(with)...);
          return unpack([](auto const&... r) { return call<Op, std_decay<decltype(r)>...>(make_pack(r...)); }, replaced);
        },
        args);
  }
  template <class Out>
  void print(Out& out) const {
    unpack([&](auto const&... a) { out.call(Op{}, a...); }, args);
  }

private:
  template <class T>
  using std_decay = stl::remove_cvref_t<T>;
};

template <class Op, class... Args>
struct folded_call; // an operation applied to folds: fold/algebra.hpp

/// Builds the node for an operation: over elements, or over folds as soon as one operand is a fold.
template <class Op, class... Ts>
TALLY_HD constexpr auto call_of(Ts... xs) {
  if constexpr ((false || ... || fold_like<Ts>))
    return folded_call<Op, decltype(as_operand(xs))...>{make_pack(as_operand(xs)...)};
  else
    return call<Op, decltype(as_operand(xs))...>(make_pack(as_operand(xs)...));
}

/// At least one operand is ours, so that plain numbers keep the operators of the language.
template <class... Ts>
concept operands = (true && ... && operand<Ts>) && (false || ... || (expression<Ts> || fold_like<Ts>));

} // namespace tally::v0
