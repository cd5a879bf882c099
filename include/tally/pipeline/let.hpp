// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// let(r): the answers of a reduction as an element of another pipeline, seen alike along the axes that were folded away, or by all of a segment or a key. Layer 2.
// Nothing runs here; run folds r first, and puts columns of answers where the lets stand.
#pragma once

#include <stdexcept>

#include <tally/pipeline/by_segment.hpp>
#include <tally/pipeline/keyed.hpp>
#include <tally/pipeline/over.hpp>
#include <tally/pipeline/text.hpp>

namespace tally::v0 {

/// The answers of one fold over a pipe, in the groups of a grouping of it alone.
template <class Pipe, class Item>
struct let_answer : expression_node<let_answer<Pipe, Item>> {
  Pipe pipe;
  Item item;
  using where = std::remove_cvref_t<decltype(std::declval<Item const&>().bind(std::declval<Pipe const&>()).where)>;
  static constexpr int arity = 0;
  static constexpr bool lowerable = true;
  static constexpr bool captures = true;
  constexpr let_answer(Pipe const& p, Item const& i) : pipe(p), item(i) {}

  /// Its type; a value is there only when the reduction has run.
  template <class Row>
  auto eval(Row const&) const {
    using Domain = decltype(item.bind(pipe));
    using Program = decltype(Domain::program);
    using Value = std::remove_cvref_t<decltype(answers::with_one_nan(get<0>(std::declval<Domain const&>().nodes).value(
        std::declval<answers::outcome<decltype(Program::leaves), typename Program::states> const&>())))>;
    throw std::logic_error("tally: a let is evaluated before its reduction has run.");
    return Value{};
  }
  template <class... Es>
  constexpr auto substitute(pack<Es...> const&) const {
    return *this;
  }
  template <class Out>
  void print(Out& out) const {
    out.text("let(");
    print_stages(out, pipe);
    print_text(out, item);
    out.text(")");
  }
};
template <class Pipe, class Item>
inline constexpr bool looks_back<let_answer<Pipe, Item>> = true;

namespace detail {
template <class R>
struct let_of {
  static constexpr bool exists = false;
};
template <class Pipe, fold_like Fold>
  requires(!may_be_absent<Fold>)
struct let_of<reduced<Pipe, Fold>> {
  static constexpr bool exists = true;
  static constexpr auto make(reduced<Pipe, Fold> const& r) {
    return [&]<int... Axes>(index_list<Axes...>) {
      using Item = folded_over<index_list<Axes...>, Fold>;
      return let_answer<Pipe, Item>(r.pipe, Item{r.folds});
    }(indices_up_to<rank_of<decltype(Pipe::source)>>{});
  }
};
template <class Pipe, class Axes, class Fold>
struct let_of<grouped<Pipe, folded_over<Axes, Fold>>> {
  static constexpr bool exists = true;
  static constexpr auto make(grouped<Pipe, folded_over<Axes, Fold>> const& r) { return let_answer<Pipe, folded_over<Axes, Fold>>(r.pipe, get<0>(r.folds)); }
};
template <class Pipe, class Offset, class Fold>
struct let_of<grouped<Pipe, folded_by_segment<Offset, Fold>>> {
  static constexpr bool exists = true;
  static constexpr auto make(grouped<Pipe, folded_by_segment<Offset, Fold>> const& r) {
    return let_answer<Pipe, folded_by_segment<Offset, Fold>>(r.pipe, get<0>(r.folds));
  }
};
template <class Pipe, class Axes, int Dims, bool DropsStrays, class Key, class Fold>
  requires(name_axes<rank_of<decltype(Pipe::source)>>(Axes{}).bits == (u32(1) << rank_of<decltype(Pipe::source)>) - 1)
struct let_of<grouped<Pipe, folded_by_key<Axes, Dims, DropsStrays, Key, Fold>>> {
  using Item = folded_by_key<Axes, Dims, DropsStrays, Key, Fold>;
  static constexpr bool exists = true;
  static constexpr auto make(grouped<Pipe, Item> const& r) { return let_answer<Pipe, Item>(r.pipe, get<0>(r.folds)); }
};
} // namespace detail

/// The answers of a reduction with one fold, or with over<...>, by_segment, by_key or histogram of one fold, as an element: map(_1 - let(mu)) subtracts from
/// every element the mean of its row, of its segment, or of those that have its key. Lets may stand in the reductions of lets. Segments hold all elements, from
/// the first offset, 0, to the last; keys are those of all axes.
template <class R>
  requires detail::let_of<R>::exists
constexpr auto let(R const& r) {
  return detail::let_of<R>::make(r);
}
/// What has no one answer is refused, and the type says why.
template <class R>
  requires(!detail::let_of<R>::exists && !refused<R>)
auto let(R const&) -> because::let_takes_one_answer<because::type_of<R>> {
  return {};
}
template <refused R>
auto let(R const&) -> absorbed<> {
  return {};
}

namespace detail {

/// Column I of the source, in the expressions of a fold: what a let in a fold becomes.
template <int I>
struct column_of_source : leaf_expression<column_of_source<I>> {
  template <class... Es>
  constexpr auto substitute(pack<Es...> const&) const {
    return placeholder<I>{};
  }
  template <class Out>
  void print(Out& out) const {
    out.column(I);
  }
};

/// The lets of an expression, a fold, an item of reduce or a pack of these, in the order in which they stand.
template <class E>
constexpr auto lets_in(E const& e);
template <class Pipe, class Item>
constexpr auto lets_of(let_answer<Pipe, Item> const& l) {
  return make_pack(l);
}
template <class... Parts>
constexpr auto lets_of(pack<Parts...> const& parts) {
  if constexpr (sizeof...(Parts) == 0)
    return parts;
  else
    return join(lets_in(parts.first), lets_of(parts.rest));
}
template <class Op, class... Args>
constexpr auto lets_of(call<Op, Args...> const& c) {
  return lets_of(c.args);
}
template <class F, class... Args>
constexpr auto lets_of(host_call<F, Args...> const& c) {
  return lets_of(c.args);
}
template <class Op, class Values, class Mask>
constexpr auto lets_of(folding<Op, Values, Mask> const& f) {
  return join(lets_of(f.values), lets_in(f.mask));
}
template <class Op, class... Args>
constexpr auto lets_of(folded_call<Op, Args...> const& f) {
  return lets_of(f.args);
}
template <class Fold, class T>
constexpr auto lets_of(or_else_fold<Fold, T> const& f) {
  return lets_in(f.fold);
}
template <class Fold>
constexpr auto lets_of(maybe_fold<Fold> const& f) {
  return lets_in(f.fold);
}
template <grouping Item>
constexpr auto lets_of(Item const& item) {
  return lets_of(item.parts());
}
template <class E>
constexpr auto lets_in(E const& e) {
  if constexpr (!looks_back<E>)
    return pack<>{};
  else if constexpr (requires { typename E::tally_fold; })
    return lets_of(static_cast<typename E::tally_fold const&>(e));
  else
    return lets_of(e);
}
template <class E>
inline constexpr int let_count = decltype(lets_in(std::declval<E const&>()))::size;

/// The same with columns First, First + 1, ... where the lets stand; InFold: placeholders there name current elements.
template <int First, bool InFold, class E>
constexpr auto without_lets(E const& e);
template <int First, bool InFold, class Pipe, class Item>
constexpr auto rewritten(let_answer<Pipe, Item> const&) {
  if constexpr (InFold)
    return column_of_source<First>{};
  else
    return placeholder<First>{};
}
template <int First, bool InFold, class... Parts>
constexpr auto rewritten(pack<Parts...> const& parts) {
  if constexpr (sizeof...(Parts) == 0)
    return parts;
  else
    return join(make_pack(without_lets<First, InFold>(parts.first)),
                rewritten<First + let_count<decltype(parts.first)>, InFold>(parts.rest));
}
template <int First, bool InFold, class Op, class... Args>
constexpr auto rewritten(call<Op, Args...> const& c) {
  return [&]<class... As>(pack<As...> const& args) { return call<Op, As...>(args); }(rewritten<First, InFold>(c.args));
}
template <int First, bool InFold, class F, class... Args>
constexpr auto rewritten(host_call<F, Args...> const& c) {
  return [&]<class... As>(pack<As...> const& args) { return host_call<F, As...>(c.function, args); }(rewritten<First, InFold>(c.args));
}
template <int First, bool, class Op, class Values, class Mask>
constexpr auto rewritten(folding<Op, Values, Mask> const& f) {
  auto values = rewritten<First, true>(f.values);
  auto mask = without_lets<First + let_count<Values>, true>(f.mask);
  return folding<Op, decltype(values), decltype(mask)>{f.op, values, mask};
}
template <int First, bool, class Op, class... Args>
constexpr auto rewritten(folded_call<Op, Args...> const& f) {
  return [&]<class... As>(pack<As...> const& args) { return folded_call<Op, As...>{args}; }(rewritten<First, true>(f.args));
}
template <int First, bool, class Fold, class T>
constexpr auto rewritten(or_else_fold<Fold, T> const& f) {
  auto inner = without_lets<First, true>(f.fold);
  return or_else_fold<decltype(inner), T>{inner, f.value};
}
template <int First, bool, class Fold>
constexpr auto rewritten(maybe_fold<Fold> const& f) {
  auto inner = without_lets<First, true>(f.fold);
  return maybe_fold<decltype(inner)>{inner};
}
template <int First, bool, grouping Item>
constexpr auto rewritten(Item const& item) {
  return item.with_parts(rewritten<First, true>(item.parts()));
}
template <int First, bool InFold, class E>
constexpr auto without_lets(E const& e) {
  if constexpr (!looks_back<E>)
    return e;
  else if constexpr (requires { typename E::tally_fold; })
    return rewritten<First, InFold>(static_cast<typename E::tally_fold const&>(e));
  else
    return rewritten<First, InFold>(e);
}

/// All lets of a pipeline.
template <class Pipe, class Items>
constexpr auto all_lets(Pipe const& p, Items const& items) {
  return join(lets_in(p.values), join(lets_in(p.mask), lets_in(items)));
}

template <class Where>
inline constexpr bool is_of_axes = false;
template <int Rank, u32 Reduced>
inline constexpr bool is_of_axes<groups_along_axes<Rank, Reduced>> = true;
/// Whether the groups of a let are those along axes, not segments or keys.
template <class Let>
inline constexpr bool lets_along_axes = is_of_axes<typename Let::where>;
/// Whether it is the one answer of a whole source.
template <class Let>
constexpr bool is_sole_answer() {
  if constexpr (lets_along_axes<Let>)
    return Let::where::kept == 0;
  else
    return false;
}
/// Whether a let can be seen beside the columns of a source.
template <int Rank, class Let>
constexpr bool let_fits() {
  if constexpr (lets_along_axes<Let>)
    return is_sole_answer<Let>() || Let::where::rank == Rank;
  else
    return rank_of<decltype(Let::pipe.source)> == Rank;
}
/// Whether elements go to the answers of items along the axes of their source, not by keys or by segments.
template <class Items>
inline constexpr bool go_along_axes = true;
template <class Item>
inline constexpr bool goes_along_axes = !grouping<Item>;
template <class Axes, class... Folds>
inline constexpr bool goes_along_axes<folded_over<Axes, Folds...>> = true;
template <class... Items>
inline constexpr bool go_along_axes<pack<Items...>> = (true && ... && goes_along_axes<Items>);
} // namespace detail

} // namespace tally::v0
