// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Answers: how the states of a finished read become what the user asked for. Layer 2, host only. Binding turns the folds
// of a reduction into leaves, each computed once however often it is named, and into answer nodes that say which leaf they
// look at; the nodes are evaluated on the host, so their arithmetic is the same on every back end.
#pragma once

#include <optional>

#include <tally/fold/answer_nodes.hpp>
#include <tally/fold/columns_read.hpp>
#include <tally/fold/count.hpp>
#include <tally/fold/exact.hpp>
#include <tally/fold/exact_nodes.hpp>
#include <tally/fold/mean.hpp>
#include <tally/fold/min_max.hpp>
#include <tally/fold/moments.hpp>
#include <tally/fold/norm.hpp>
#include <tally/fold/variance.hpp>
#include <tally/pipeline/grid.hpp>
#include <tally/pipeline/index_along.hpp>
#include <tally/pipeline/reduce.hpp>

namespace tally::v0::answers {
/// Which sums of powers may take the place of a fold: up to squares, or also those of third and fourth powers.
enum class powers { squares, all };
template <class Pipe, powers Kept = powers::all>
struct exactly;
} // namespace tally::v0::answers

namespace tally::v0::detail {
template <class Pipe, answers::powers Kept>
struct row_type<answers::exactly<Pipe, Kept>> : row_type<Pipe> {};
} // namespace tally::v0::detail

namespace tally::v0::answers {

template <class T>
constexpr std::optional<T> with_one_nan(std::optional<T> const& x) {
  return x ? std::optional<T>(with_one_nan(*x)) : x;
}

template <class Node>
struct perhaps {
  Node node;
  template <class Outcome>
  constexpr auto value(Outcome const& o) const {
    using Value = decltype(node.value(o));
    return is_empty(node, o) ? std::optional<Value>() : std::optional<Value>(node.value(o));
  }
};

/// A pipe whose folds are planted as the contract exact wants them. A third or fourth power has a wide state: by key it is kept
/// only where exact was asked for, because there is a sort otherwise.
template <class Pipe, powers Kept>
struct exactly : Pipe {};
template <class Pipe>
inline constexpr bool is_exact = false;
template <class Pipe, powers Kept>
inline constexpr bool is_exact<exactly<Pipe, Kept>> = true;
/// Whether sums of the powers of V up to K are kept exactly.
template <class Pipe, class V, int K>
inline constexpr bool keeps_powers = false;
template <class Pipe, powers Kept, class V, int K>
inline constexpr bool keeps_powers<exactly<Pipe, Kept>, V, K> = Kept == powers::all || K == 2;

/// Leaves so far, and the node that was just planted.
template <class Leaves, class Node>
struct planted {
  Leaves leaves;
  Node node;
};

namespace detail {
template <class Leaf, class... Leaves>
constexpr int find(pack<Leaves...> const*) {
  int at = -1, i = 0;
  ((at < 0 && std::same_as<Leaf, Leaves> ? void(at = i++) : void(++i)), ...);
  return at;
}
template <class... Values>
constexpr bool any_captures(pack<Values...> const*) {
  return (false || ... || Values::captures);
}
template <class Op>
constexpr bool holds_values() {
  return sizeof(Op) > 1;
}

/// The monoid of an operation over values of the given types, behind a flag where a mask may let nothing through.
template <class Row, class Op, class Mask, class... Values>
constexpr auto monoid_for(Op const& op, Mask const&, pack<Values...> const&) {
  auto m = op.template bind<decltype(std::declval<Values>().eval(std::declval<Row>()))...>();
  if constexpr (requires { decltype(m)::empty_by_extent; } && !std::same_as<Mask, always>)
    return seen<decltype(m)>{m};
  else
    return m;
}

/// A monoid and the values it folds.
template <class Monoid, class Values>
struct formed {
  Monoid monoid;
  Values values;
};
/// The two factors of a product, which an exact sum takes as they are; anything else as it is.
template <class Values>
constexpr auto factors_of(Values const& values) {
  return values;
}
template <class X, class Y>
constexpr auto factors_of(pack<call<op::times, X, Y>> const& values) {
  return values.first.args;
}
template <class X>
constexpr auto factors_of(pack<call<op::squared, X>> const& values) {
  return make_pack(values.first.args.first, values.first.args.first);
}
template <class X>
constexpr auto factors_of(pack<call<op::power<2>, X>> const& values) {
  return make_pack(values.first.args.first, values.first.args.first);
}
template <class Row, class M, class Values>
struct exact_form {
  static constexpr bool exists = false;
};
template <class Row, class M, class... Values>
  requires has_exact_counterpart<M, value_of<Values, Row>...>
struct exact_form<Row, M, pack<Values...>> {
  static constexpr bool exists = true;
  using type = typename exact_counterpart<M, value_of<Values, Row>...>::type;
};
/// Real numbers that are added up as integers saturate like cast, which converts alike everywhere.
template <class M, class V>
inline constexpr bool adds_reals_as_integers = false;
template <integer A, floating V>
inline constexpr bool adds_reals_as_integers<sum_monoid<A>, V> = true;
template <class Row, integer A, class E>
constexpr auto values_of_sum(sum_monoid<A> const&, pack<E> const& values) {
  if constexpr (adds_reals_as_integers<sum_monoid<A>, value_of<E, Row>>)
    return make_pack(call<op::cast<A>, E>(values));
  else
    return values;
}
template <class Row, class M, class Values>
constexpr auto values_of_sum(M const&, Values const& values) {
  return values;
}
/// What a leaf folds, and over which values: under exact, a sum of floats or of their products keeps every bit.
template <class Pipe, class Op, class Mask, class Values>
constexpr auto form_of(Op const& op, Mask const& mask, Values const& values) {
  auto m = monoid_for<row_of<Pipe>>(op, mask, values);
  using M = decltype(m);
  using Factors = decltype(factors_of(values));
  if constexpr (is_exact<Pipe> && exact_form<row_of<Pipe>, M, Factors>::exists)
    return formed<typename exact_form<row_of<Pipe>, M, Factors>::type, Factors>{{}, factors_of(values)};
  else if constexpr (is_exact<Pipe> && exact_form<row_of<Pipe>, M, Values>::exists)
    return formed<typename exact_form<row_of<Pipe>, M, Values>::type, Values>{{}, values};
  else {
    auto const converted = values_of_sum<row_of<Pipe>>(m, values);
    return formed<M, std::remove_const_t<decltype(converted)>>{m, converted};
  }
}

/// The node of a composed fold: a mean looks at the exact sum itself.
template <class Leaves, class Op, class... Nodes>
constexpr auto node_of(pack<Nodes...> const& nodes) {
  return computed<Op, Nodes...>{nodes};
}
template <class Leaf>
concept exact_leaf = exact_monoid<typename Leaf::monoid_type>;
template <class Leaves, int I>
struct leaf_at;
template <class... Leaves, int I>
struct leaf_at<pack<Leaves...>, I> {
  using type = nth_t<I, Leaves...>;
};
template <class Leaves, std::same_as<op::mean> Op, int I, class Count>
  requires exact_leaf<typename leaf_at<Leaves, I>::type>
constexpr auto node_of(pack<leaf<I>, Count> const& nodes) {
  return exact_mean<leaf<I>, Count>{nodes.first, nodes.rest.first};
}
} // namespace detail

template <class Pipe, class Leaves, class Fold>
constexpr auto plant(Pipe const& p, Leaves const& leaves, Fold const& fold);

namespace detail {
template <class Pipe, class Leaves, class Op, class Values, class Mask>
constexpr auto plant_fold(Pipe const& p, Leaves const& leaves, folding<Op, Values, Mask> const& f) {
  auto const bound_here = [&](auto const& e) { return tally::v0::detail::with_axes_of(p.source, e); };
  auto mask = bound_here(both_masks(p.mask, f.mask.substitute(p.values)));
  if constexpr (std::same_as<Op, count_operation> && std::same_as<decltype(mask), always>) {
    return planted<Leaves, extent>{leaves, {}};
  } else {
    auto values = unpack([&](auto const&... v) { return make_pack(bound_here(v.substitute(p.values))...); }, f.values);
    auto form = form_of<Pipe>(f.op, mask, values);
    using Leaf = bound<decltype(form.monoid), decltype(form.values), decltype(mask)>;
    // the mask of the pipe is the same value for every leaf, so only what the fold itself captures tells leaves apart
    constexpr bool shared =
        !any_captures(static_cast<Values const*>(nullptr)) && !Mask::captures && !holds_values<Op>();
    constexpr int at = find<Leaf>(static_cast<Leaves const*>(nullptr));
    if constexpr (shared && at >= 0)
      return planted<Leaves, leaf<at>>{leaves, {}};
    else
      return planted<decltype(join(leaves, make_pack(Leaf{form.monoid, form.values, mask}))), leaf<Leaves::size>>{
          join(leaves, make_pack(Leaf{form.monoid, form.values, mask})), {}};
  }
}
template <class Pipe, class Leaves>
constexpr auto plant_all(Pipe const&, Leaves const& leaves) {
  return planted<Leaves, pack<>>{leaves, {}};
}
template <class Pipe, class Leaves, class Fold, class... Folds>
constexpr auto plant_all(Pipe const& p, Leaves const& leaves, Fold const& fold, Folds const&... folds) {
  auto first = plant(p, leaves, fold);
  auto rest = plant_all(p, first.leaves, folds...);
  auto nodes = join(make_pack(first.node), rest.node);
  return planted<decltype(rest.leaves), decltype(nodes)>{rest.leaves, nodes};
}
/// What a mean divides: integers of 64 bits, whose sum may leave these, are added up in 128.
template <class Pipe, class X, class Mask>
constexpr auto sum_of_mean(Pipe const& p, folding<sum_operation<>, pack<X>, Mask> const& s) {
  using V = value_of<decltype(s.values.first.substitute(p.values)), row_of<Pipe>>;
  if constexpr (integer<V> && sizeof(V) == 8)
    return folding<sum_operation<double, sum_form::checked>, pack<X>, Mask>{{}, s.values, s.mask};
  else
    return s;
}
template <class Pipe, class Fold>
constexpr auto const& sum_of_mean(Pipe const&, Fold const& f) {
  return f;
}
template <class Pipe, class Op, class... Args>
constexpr auto const& planted_args(Pipe const&, folded_call<Op, Args...> const& f) {
  return f.args;
}
template <class Pipe, class Sum, class Count>
constexpr auto planted_args(Pipe const& p, folded_call<op::mean, Sum, Count> const& f) {
  return make_pack(sum_of_mean(p, static_cast<typename Sum::tally_fold const&>(f.args.first)), f.args.rest.first);
}
template <class Pipe, class Leaves, class Op, class... Args>
constexpr auto plant_fold(Pipe const& p, Leaves const& leaves, folded_call<Op, Args...> const& f) {
  auto planted_all = unpack([&](auto const&... a) { return plant_all(p, leaves, a...); }, planted_args(p, f));
  auto node = node_of<decltype(planted_all.leaves), Op>(planted_all.node);
  return planted<decltype(planted_all.leaves), decltype(node)>{planted_all.leaves, node};
}
/// What a function of deviations divides by less than n, and whether it takes the root.
template <class Op>
struct spread_of;
template <int F>
struct spread_of<op::variance<F>> {
  static constexpr int fewer = F;
  static constexpr bool root = false;
};
template <>
struct spread_of<op::stddev> : spread_of<op::variance<0>> {
  static constexpr bool root = true;
};
template <class X, class Y>
constexpr auto product_of(X const& x, Y const& y) {
  return call<op::times, X, Y>(make_pack(x, y));
}
/// The sum of the first K powers of x, by parts: x itself, whatever it is computed from, then the products of it.
template <int K, class X, class Mask>
constexpr auto sums_of_powers(X const& x, Mask const& mask) {
  auto const square = make_pack(product_of(x, x));
  auto const two = make_pack(folding<exact_sum_operation<1>, pack<X>, Mask>{{}, make_pack(x), mask},
                             folding<sum_operation<>, pack<call<op::times, X, X>>, Mask>{{}, square, mask});
  if constexpr (K == 2)
    return two;
  else if constexpr (K == 3)
    return join(two, make_pack(folding<exact_sum_operation<3>, pack<X, X, X>, Mask>{{}, make_pack(x, x, x), mask}));
  else
    return join(two, make_pack(folding<exact_sum_operation<3>, pack<X, X, X>, Mask>{{}, make_pack(x, x, x), mask},
                               folding<exact_sum_operation<4>, pack<X, X, X, X>, Mask>{{}, make_pack(x, x, x, x), mask}));
}
/// x as a T.
template <class T, class Pipe, class X>
constexpr auto converted_to(X const& x) {
  if constexpr (std::same_as<std::remove_cvref_t<value_in<X, Pipe>>, T>)
    return x;
  else
    return call<op::cast<T>, X>(make_pack(x));
}
template <class V>
inline constexpr bool has_wide_squares = false;
template <integer V>
inline constexpr bool has_wide_squares<V> = sizeof(V) <= 4;
/// The sum in 128 bits of products of integers of up to 32.
template <class Pipe, class X, class Y, class Mask>
constexpr auto sum_of_wide_products(X const& x, Y const& y, Mask const& mask) {
  using T = std::conditional_t<std::is_signed_v<std::remove_cvref_t<value_in<X, Pipe>>> || std::is_signed_v<std::remove_cvref_t<value_in<Y, Pipe>>>, i64, u64>;
  auto const product = product_of(converted_to<T, Pipe>(x), converted_to<T, Pipe>(y));
  return folding<sum_operation<double, sum_form::checked>, pack<std::remove_const_t<decltype(product)>>, Mask>{{}, make_pack(product), mask};
}
/// How a fold is planted in parts under exact: how many sums it needs in front of a count, and the node that makes the answer of
/// them. No `sums`: it is planted as it is.
template <class Pipe, class Fold>
struct parts_of {};
template <class Pipe, class Op, class In, class X, class Mask>
  requires(is_exact<Pipe> && requires { spread_of<Op>::fewer; } && floating<value_in<X, Pipe>> &&
           floating<typename variance_operation<In>::template accumulator<value_in<X, Pipe>>>)
struct parts_of<Pipe, folded_call<Op, folding<variance_operation<In>, pack<X>, Mask>>> {
  static constexpr int sums = 2;
  using number = accumulator_t<value_in<X, Pipe>>;
  using to = typename variance_operation<In>::template accumulator<value_in<X, Pipe>>;
  template <class Count, class... Sums>
  using node = exact_spread<number, to, spread_of<Op>::fewer, spread_of<Op>::root, Count, Sums...>;
};
template <class Pipe, class Op, class In, class X, class Mask>
  requires(is_exact<Pipe> && requires { spread_of<Op>::fewer; } && has_wide_squares<std::remove_cvref_t<value_in<X, Pipe>>>)
struct parts_of<Pipe, folded_call<Op, folding<variance_operation<In>, pack<X>, Mask>>> {
  static constexpr int sums = 2;
  using integers = std::remove_cvref_t<value_in<X, Pipe>>;
  using to = typename variance_operation<In>::template accumulator<integers>;
  template <class Count, class... Sums>
  using node = exact_spread<integers, to, spread_of<Op>::fewer, spread_of<Op>::root, Count, Sums...>;
};
template <class Pipe, int K, class In, class X, class Mask>
  requires(floating<value_in<X, Pipe>> && keeps_powers<Pipe, accumulator_t<value_in<X, Pipe>>, K>)
struct parts_of<Pipe, folded_call<op::central_moments, folding<moments_operation<K, In>, pack<X>, Mask>>> {
  static constexpr int sums = K;
  using number = accumulator_t<value_in<X, Pipe>>;
  using to = std::conditional_t<std::is_void_v<In>, number, In>;
  template <class Count, class... Sums>
  using node = exact_moments<number, to, Count, Sums...>;
};
/// The numbers that an exact covariance multiplies: floats, or integers of up to 32 bits.
template <class V, class W>
using multiplied_numbers = std::conditional_t<has_wide_squares<V> && has_wide_squares<W>, i64, decltype(op::real_argument(V{}) + op::real_argument(W{}))>;
template <class Pipe, class In, class X, class Y, class Mask>
  requires is_exact<Pipe>
struct parts_of<Pipe, folding<covariance_operation<In>, pack<X, Y>, Mask>> {
  static constexpr int sums = 3;
  using V = std::remove_cvref_t<value_in<X, Pipe>>;
  using W = std::remove_cvref_t<value_in<Y, Pipe>>;
  using number = multiplied_numbers<V, W>;
  using to = std::conditional_t<std::is_void_v<In>, decltype(op::real_argument(V{}) + op::real_argument(W{})), In>;
  template <class Count, class... Sums>
  using node = exact_covariance_of<number, to, Count, Sums...>;
};
/// Whether a fold is planted in parts, and these.
template <class Pipe, class Fold>
concept has_parts = requires { parts_of<Pipe, Fold>::sums; };
template <class Pipe, class Op, class Operation, class X, class Mask>
constexpr auto parts_in(folded_call<Op, folding<Operation, pack<X>, Mask>> const& f) {
  using Parts = parts_of<Pipe, folded_call<Op, folding<Operation, pack<X>, Mask>>>;
  auto const& one = f.args.first;
  auto const sums = [&] {
    if constexpr (requires { typename Parts::integers; })
      return make_pack(folding<sum_operation<>, pack<X>, Mask>{{}, one.values, one.mask}, sum_of_wide_products<Pipe>(one.values.first, one.values.first, one.mask));
    else
      return sums_of_powers<Parts::sums>(one.values.first, one.mask);
  }();
  return join(sums, make_pack(folding<count_operation, pack<>, Mask>{{}, {}, one.mask}));
}
template <class Pipe, class In, class X, class Y, class Mask>
constexpr auto parts_in(folding<covariance_operation<In>, pack<X, Y>, Mask> const& f) {
  using number = typename parts_of<Pipe, folding<covariance_operation<In>, pack<X, Y>, Mask>>::number;
  auto const& x = f.values.first;
  auto const& y = f.values.rest.first;
  folding<count_operation, pack<>, Mask> const n{{}, {}, f.mask};
  if constexpr (integer<number>) {
    return make_pack(folding<sum_operation<>, pack<X>, Mask>{{}, make_pack(x), f.mask}, folding<sum_operation<>, pack<Y>, Mask>{{}, make_pack(y), f.mask},
                     sum_of_wide_products<Pipe>(x, y, f.mask), n);
  } else {
    auto const a = make_pack(converted_to<number, Pipe>(x));
    auto const b = make_pack(converted_to<number, Pipe>(y));
    auto const product = make_pack(product_of(a.first, b.first));
    return make_pack(folding<exact_sum_operation<1>, std::remove_const_t<decltype(a)>, Mask>{{}, a, f.mask},
                     folding<exact_sum_operation<1>, std::remove_const_t<decltype(b)>, Mask>{{}, b, f.mask},
                     folding<sum_operation<>, std::remove_const_t<decltype(product)>, Mask>{{}, product, f.mask}, n);
  }
}
template <class Pipe, class Leaves, class Fold>
constexpr auto plant_parts(Pipe const& p, Leaves const& leaves, Fold const& f) {
  using Parts = parts_of<Pipe, Fold>;
  auto all = unpack([&](auto const&... part) { return plant_all(p, leaves, part...); }, parts_in<Pipe>(f));
  auto const node = []<class... Nodes>(pack<Nodes...> const&) {
    return []<int... K>(index_list<K...>) {
      return typename Parts::template node<nth_t<Parts::sums, Nodes...>, nth_t<K, Nodes...>...>{};
    }(indices_up_to<Parts::sums>{});
  }(all.node);
  return planted<decltype(all.leaves), std::remove_const_t<decltype(node)>>{all.leaves, node};
}
template <class Pipe, class Leaves, class Op, class... Args>
  requires has_parts<Pipe, folded_call<Op, Args...>>
constexpr auto plant_fold(Pipe const& p, Leaves const& leaves, folded_call<Op, Args...> const& f) {
  return plant_parts(p, leaves, f);
}
template <class Pipe, class Leaves, class Op, class Values, class Mask>
  requires has_parts<Pipe, folding<Op, Values, Mask>>
constexpr auto plant_fold(Pipe const& p, Leaves const& leaves, folding<Op, Values, Mask> const& f) {
  return plant_parts(p, leaves, f);
}
template <class Pipe, class Leaves, class Fold, class T>
constexpr auto plant_fold(Pipe const& p, Leaves const& leaves, or_else_fold<Fold, T> const& f) {
  auto inner = plant(p, leaves, f.fold);
  return planted<decltype(inner.leaves), otherwise<decltype(inner.node), T>>{inner.leaves, {inner.node, f.value}};
}
template <class Pipe, class Leaves, class Fold>
constexpr auto plant_fold(Pipe const& p, Leaves const& leaves, maybe_fold<Fold> const& f) {
  auto inner = plant(p, leaves, f.fold);
  return planted<decltype(inner.leaves), perhaps<decltype(inner.node)>>{inner.leaves, {inner.node}};
}
} // namespace detail

/// Adds the leaves a fold needs and gives the node that computes its answer.
template <class Pipe, class Leaves, class Fold>
constexpr auto plant(Pipe const& p, Leaves const& leaves, Fold const& fold) {
  if constexpr (fold_like<Fold>)
    return detail::plant_fold(p, leaves, static_cast<typename Fold::tally_fold const&>(fold));
  else
    return planted<Leaves, number<decltype(fold.value)>>{leaves, {fold.value}};
}

} // namespace tally::v0::answers

namespace tally::v0 {

/// A reduction bound to types: the program to run and the nodes that make the answers.
template <class Program, class Nodes>
struct bound_reduction {
  Program program;
  Nodes nodes;
};

namespace detail {
template <class... Columns>
constexpr i64 extent_of_source(source<Columns...> const& s) {
  return s.extents[0];
}
template <int Rank, class... Columns>
constexpr i64 extent_of_source(grid<Rank, Columns...> const& s) {
  i64 all = 1;
  for (int k = 0; k < Rank; ++k)
    all *= s.extent_along(k);
  return all;
}
/// Leaves over the columns that they name; over all columns where there are none.
template <u32 Named, class Columns, class... Leaves>
constexpr auto program_of(Columns const& columns, i64 extent, pack<Leaves...> const& leaves) {
  using All = program<Columns, Leaves...>;
  constexpr u32 named = sizeof...(Leaves) == 0 && Named == 0 ? ~u32(0) : Named | columns_folded<All>;
  return program_reading<named>(All{columns, extent, 0, leaves});
}
template <class Source, class Leaves>
constexpr auto make_program(Source const& s, Leaves const& leaves) {
  return program_of<0>(s.columns, extent_of_source(s), leaves);
}
} // namespace detail

namespace detail {
template <class Pipe, class Folds>
constexpr auto bind_to(Pipe const& pipe, Folds const& folds) {
  auto planted = unpack([&](auto const&... f) { return answers::detail::plant_all(pipe, pack<>{}, f...); }, folds);
  auto program = make_program(pipe.source, planted.leaves);
  return bound_reduction<decltype(program), decltype(planted.node)>{program, planted.node};
}
} // namespace detail

/// Binds the folds of a reduction to the types of its source; extents are taken from the first column.
template <class Pipe, class... Folds>
constexpr auto bind(reduced<Pipe, Folds...> const& r) {
  return detail::bind_to(r.pipe, r.folds);
}
/// The same under the contract exact: sums of floats become sums that do not round.
template <class Pipe, class... Folds>
constexpr auto bind_exactly(reduced<Pipe, Folds...> const& r) {
  return detail::bind_to(answers::exactly<Pipe>{r.pipe}, r.folds);
}

} // namespace tally::v0
