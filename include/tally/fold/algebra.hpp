// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds compose: arithmetic and functions of folds build a bigger fold that still reads the data once. Layer 1. A
// composed fold is a tree whose leaves are foldings; what happens to their answers is host arithmetic after the read.
#pragma once

#include <tally/fold/fold.hpp>

namespace tally::v0 {

template <class Op, class... Args>
struct folded_call;

/// Whether a fold, or a fold of a formula, has an accumulator to choose; numbers have none.
template <class Fold>
inline constexpr bool has_an_accumulator = false;
template <fold_like Fold>
  requires(!stl::same_as<Fold, typename Fold::tally_fold>)
inline constexpr bool has_an_accumulator<Fold> = has_an_accumulator<typename Fold::tally_fold>;
template <class Op, class Values, class Mask>
inline constexpr bool has_an_accumulator<folding<Op, Values, Mask>> = requires(Op o) { o.template in<double>(); };
template <class Op, class... Args>
inline constexpr bool has_an_accumulator<folded_call<Op, Args...>> = (false || ... || has_an_accumulator<Args>);
template <class Fold, class Value>
inline constexpr bool has_an_accumulator<or_else_fold<Fold, Value>> = has_an_accumulator<Fold>;
template <class Fold>
inline constexpr bool has_an_accumulator<maybe_fold<Fold>> = has_an_accumulator<Fold>;

namespace detail {
/// The elements of the first fold of a formula that folds any.
template <class Fold>
constexpr auto elements_folded(Fold const& f);
constexpr pack<> first_elements(pack<> const&) { return {}; }
template <class Fold, class... Folds>
constexpr auto first_elements(pack<Fold, Folds...> const& all) {
  auto const first = elements_folded(all.first);
  if constexpr (decltype(elements_folded(all.first))::size > 0)
    return first;
  else
    return first_elements(all.rest);
}
template <class Fold>
constexpr auto elements_folded(Fold const& f) {
  if constexpr (!fold_like<Fold>)
    return pack<>{};
  else if constexpr (requires { f.values; })
    return f.values;
  else if constexpr (requires { f.args; })
    return first_elements(f.args);
  else
    return elements_folded(f.fold);
}
} // namespace detail

/// An operation applied to the answers of folds and to numbers.
template <class Op, class... Args>
struct folded_call {
  using tally_fold = folded_call;
  pack<Args...> args;

  /// The answer where there is no element to answer from.
  template <class T>
  constexpr auto or_else(T value) const {
    return or_else_fold<folded_call, T>{*this, value};
  }
  /// The answer as std::optional.
  constexpr auto maybe() const { return maybe_fold<folded_call>{*this}; }
  /// Every leaf restricted to the elements for which the condition holds.
  template <class P>
  constexpr auto where(P condition) const {
    return each_leaf([&](auto leaf) { return leaf.where(condition); });
  }
  /// Every leaf that has a choice kept in accumulators of type T: a count stays a count.
  template <class T>
    requires has_an_accumulator<folded_call>
  constexpr auto in() const {
    return each_leaf([](auto leaf) {
      if constexpr (has_an_accumulator<decltype(leaf)>)
        return leaf.template in<T>();
      else
        return leaf;
    });
  }
  template <class T, class O = Op>
    requires(!has_an_accumulator<folded_call>)
  auto in() const -> because::the_fold_has_no_such_form<O> {
    return {};
  }
  template <class O = Op>
  auto checked() const -> because::the_fold_has_no_such_form<O> {
    return {};
  }
  template <class O = Op>
  auto compensated() const -> because::the_fold_has_no_such_form<O> {
    return {};
  }
  /// Every leaf without NaN elements; a count counts what the first leaf with elements folds.
  constexpr auto ignoring_nan() const {
    if constexpr (decltype(detail::first_elements(args))::size == 0)
      return because::the_fold_has_no_such_form<Op>{};
    else
      return ignoring_nan_of(detail::first_elements(args));
  }
  /// The same, where counts count elements that are given.
  template <class Elements>
  constexpr auto ignoring_nan_of(Elements const& elements) const {
    return each_leaf([&](auto leaf) {
      if constexpr (requires { leaf.args; })
        return leaf.ignoring_nan_of(elements);
      else if constexpr (decltype(detail::elements_folded(leaf))::size > 0)
        return leaf.ignoring_nan();
      else
        return leaf.where(unpack([](auto... v) { return (!is_nan(v) && ...); }, elements));
    });
  }

private:
  template <class F>
  constexpr auto each_leaf(F f) const {
    auto change = [&](auto const& arg) {
      if constexpr (fold_like<stl::remove_cvref_t<decltype(arg)>>)
        return f(arg);
      else
        return arg;
    };
    return unpack([&](auto const&... a) { return remake(change(a)...); }, args);
  }
  template <class... As>
  static constexpr auto remake(As... as) {
    return folded_call<Op, As...>{make_pack(as...)};
  }
};
template <class Fold>
struct maybe_fold;
/// A fold with an answer for the empty case.
template <class Fold, class Value>
struct or_else_fold {
  using tally_fold = or_else_fold;
  Fold fold;
  Value value;

  /// The fold of the elements for which the condition holds, with the same answer for the empty case.
  template <class P>
  constexpr auto where(P condition) const {
    auto f = fold.where(condition);
    return or_else_fold<decltype(f), Value>{f, value};
  }
  /// The fold of the elements that are no NaN, with the same answer for the empty case.
  constexpr auto ignoring_nan() const {
    auto f = fold.ignoring_nan();
    return or_else_fold<decltype(f), Value>{f, value};
  }
  /// Another answer for the empty case, or none.
  template <class T>
  constexpr auto or_else(T other) const {
    return or_else_fold<Fold, T>{fold, other};
  }
  constexpr auto maybe() const { return maybe_fold<Fold>{fold}; }
  /// The same fold kept in accumulators of type T.
  template <class T>
    requires has_an_accumulator<Fold>
  constexpr auto in() const {
    auto f = fold.template in<T>();
    return or_else_fold<decltype(f), Value>{f, value};
  }
  template <class T, class F = Fold>
    requires(!has_an_accumulator<Fold>)
  auto in() const -> because::the_fold_has_no_such_form<F> {
    return {};
  }
};

/// A fold whose answer is optional.
template <class Fold>
struct maybe_fold {
  using tally_fold = maybe_fold;
  Fold fold;

  /// An answer for the empty case instead.
  template <class T>
  constexpr auto or_else(T value) const {
    return or_else_fold<Fold, T>{fold, value};
  }

  /// The fold of the elements for which the condition holds, its answer optional as before.
  template <class P>
  constexpr auto where(P condition) const {
    auto f = fold.where(condition);
    return maybe_fold<decltype(f)>{f};
  }
  /// The fold of the elements that are no NaN, its answer optional as before.
  constexpr auto ignoring_nan() const {
    auto f = fold.ignoring_nan();
    return maybe_fold<decltype(f)>{f};
  }
  /// The same fold kept in accumulators of type T.
  template <class T>
    requires has_an_accumulator<Fold>
  constexpr auto in() const {
    auto f = fold.template in<T>();
    return maybe_fold<decltype(f)>{f};
  }
  template <class T, class F = Fold>
    requires(!has_an_accumulator<Fold>)
  auto in() const -> because::the_fold_has_no_such_form<F> {
    return {};
  }
};

} // namespace tally::v0
