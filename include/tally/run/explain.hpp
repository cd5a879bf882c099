// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verb explain: what run would do with a reduction, on which back end, and why. Layer 5. Here a reduction's types
// become the plain facts and names of a description; placing, planning and rendering are compiled.
#pragma once

#include <tally/plan/explain.hpp>
#include <tally/plan/targets.hpp>
#include <tally/run/run.hpp>

namespace tally::v0 {

namespace detail {

/// A target stands where a place would.
template <class Option>
using place_for = std::conditional_t<std::same_as<Option, target>, on::any_place, Option>;
template <class R, class... Options>
concept explainable = runnable<R, place_for<Options>...>;

/// Where a plan is asked for: a target, or a place of run.
struct asked_place {
  enum class kind { target, any, cpu, gpu };
  kind what = kind::any;
  target chip{};
  on::cpu_place cpu{};
  on::gpu_place gpu{};
  constexpr void take(target const& t) { what = kind::target, chip = t; }
  constexpr void take(on::any_place) { what = kind::any; }
  constexpr void take(on::cpu_place p) { what = kind::cpu, cpu = p; }
  constexpr void take(on::gpu_place p) { what = kind::gpu, gpu = p; }
  template <contract_option Contract>
  constexpr void take(Contract) {}
};
/// The one among the options of a call; on::any where none is.
template <class... Options>
constexpr asked_place asked_in([[maybe_unused]] Options... options) {
  asked_place asked;
  (asked.take(options), ...);
  return asked;
}

/// Walks folds as answers::plant does and names each leaf where it first appears.
template <class Pipe, class Leaves, class Fold>
[[gnu::cold]] auto name_leaves(Pipe const& p, Leaves const& leaves, Fold const& fold, name_list& names);

template <class Pipe, class Leaves>
[[gnu::cold]] auto name_all(Pipe const&, Leaves const& leaves, name_list&) {
  return leaves;
}
template <class Pipe, class Leaves, class Fold, class... Folds>
[[gnu::cold]] auto name_all(Pipe const& p, Leaves const& leaves, name_list& names, Fold const& fold,
                            Folds const&... more) {
  return name_all(p, name_leaves(p, leaves, fold, names), names, more...);
}
template <class Pipe, class Leaves, class Op, class Values, class Mask>
[[gnu::cold]] auto name_fold(Pipe const& p, Leaves const& leaves, folding<Op, Values, Mask> const& f,
                             name_list& names) {
  if constexpr (answers::detail::has_parts<Pipe, folding<Op, Values, Mask>>) {
    return unpack([&](auto const&... part) { return name_all(p, leaves, names, part...); }, answers::detail::parts_in<Pipe>(f));
  } else {
    auto const planted = answers::plant(p, leaves, f);
    if (decltype(planted.leaves)::size > Leaves::size)
      names.add_fold(text_of(f, names.of_columns()));
    return planted.leaves;
  }
}
template <class Pipe, class Leaves, class Op, class... Args>
[[gnu::cold]] auto name_fold(Pipe const& p, Leaves const& leaves, folded_call<Op, Args...> const& f, name_list& names) {
  if constexpr (answers::detail::has_parts<Pipe, folded_call<Op, Args...>>)
    return unpack([&](auto const&... part) { return name_all(p, leaves, names, part...); },
                  answers::detail::parts_in<Pipe>(f));
  else
    return unpack([&](auto const&... a) { return name_all(p, leaves, names, a...); }, answers::detail::planted_args(p, f));
}
template <class Pipe, class Leaves, class Fold, class T>
[[gnu::cold]] auto name_fold(Pipe const& p, Leaves const& leaves, or_else_fold<Fold, T> const& f, name_list& names) {
  return name_leaves(p, leaves, f.fold, names);
}
template <class Pipe, class Leaves, class Fold>
[[gnu::cold]] auto name_fold(Pipe const& p, Leaves const& leaves, maybe_fold<Fold> const& f, name_list& names) {
  return name_leaves(p, leaves, f.fold, names);
}
template <class Pipe, class Leaves, class Fold>
[[gnu::cold]] auto name_leaves(Pipe const& p, Leaves const& leaves, Fold const& fold, name_list& names) {
  if constexpr (fold_like<Fold>)
    return name_fold(p, leaves, static_cast<typename Fold::tally_fold const&>(fold), names);
  else
    return leaves;
}

template <class Column>
[[gnu::cold]] void describe_column(description& d, Column const& c) {
  using T = typename Column::value_type;
  source_facts const f = facts_of_column(c);
  d.add_source(f, short_name<T>(), Column::lowerable ? f.bytes_per_element : i64(sizeof(T)), !Column::lowerable);
  d.sources.back().looked_up = is_searched<Column>;
  d.sources.back().unnamed = is_unread<Column>;
}

template <class Program, class Leaf>
constexpr host_lanes lanes_of() {
  if constexpr (!cpu::detail::needs<Program, Leaf>::at_once)
    return host_lanes::opaque;
  else if constexpr (exact_monoid<typename Leaf::monoid_type>)
    return host_lanes::registers;
  else if constexpr (!cpu::has_vector_form<typename Leaf::monoid_type> || decltype(Leaf::values)::size != 1)
    return host_lanes::one_by_one;
  else
    return host_lanes::registers;
}

template <class Columns, class... Leaves>
[[gnu::cold]] void describe_leaves(description& d, program<Columns, Leaves...> const&, name_list& names) {
  [[maybe_unused]] auto const rounds_in = []<class State>(State const*) {
    if constexpr (floating<State>)
      return short_name<State>();
    else
      return std::string();
  };
  [[maybe_unused]] std::size_t i = 0;
  (d.add_fold(facts_of_fold<typename Leaves::monoid_type>(), std::move(names.folds[i++]),
              rounds_in(static_cast<typename Leaves::state const*>(nullptr)),
              lanes_of<program<Columns, Leaves...>, Leaves>(), !Leaves::lowerable),
   ...);
}

template <class Program>
[[gnu::cold]] std::string ptx_for(plan const& p, facts const& f) {
  return gpu::ptx_of(gpu::unit_of(type_of<Program>(), p, f), f.target);
}

/// Everything that does not depend on where the reduction runs.
template <bool Exact, class R, class Bound>
[[gnu::cold]] description describe_reduction(R const& r, Bound const& b, contract c, name_list names = {}) {
  using Program = std::remove_cvref_t<decltype(b.program)>;
  description d;
  d.pipeline = text_of(r);
  unpack([&](auto const&... f) { (d.add_answer(text_of(f, names.of_columns())), ...); }, r.folds);
  d.facts = facts_of(b.program, target{}, c);
  unpack([&](auto const&... column) { (describe_column(d, column), ...); }, b.program.columns);
  if constexpr (Exact)
    unpack([&](auto const&... f) { name_all(answers::exactly<decltype(r.pipe)>{r.pipe}, pack<>{}, names, f...); }, r.folds);
  else
    unpack([&](auto const&... f) { name_all(r.pipe, pack<>{}, names, f...); }, r.folds);
  describe_leaves(d, b.program, names);
  d.leaves_per_tile = cpu::leaves_per_tile;
  if constexpr (Program::lowerable)
    d.ptx_of = &ptx_for<Program>;
  return d;
}

/// Where the columns lie, and the GPU that on::any would take (-1: the host).
struct column_places {
  gpu::column_place columns[max_sources];
  int of_any;
};

/// Compiled in dsl/plan: plans for a place or a target, and says why not another.
explanation explain_at(description d, column_places const& places, asked_place const& asked);

template <class R, class Bound, class... Options>
[[gnu::cold]] explanation explain_bound(R const& r, Bound& b, Options... options) {
  description d = describe_reduction<asks_exact<Options...>>(r, b, contract_in(options...));
  column_places places{{}, gpu_for(b.program)};
  places_of(b.program, places.columns);
  return explain_at(std::move(d), places, asked_in(options...));
}

} // namespace detail

/// What run would do with a reduction: a value that prints itself and has text(), json(), mermaid() and ptx(). Options:
/// a contract, and a place as for run or a target (targets::h200, ..., targets::host), for which the columns are taken
/// to lie in its memory at the addresses they have. Nothing is read. Throws what run throws about its input; on::gpu
/// without one throws no_gpu, a target needs none.
template <class R, class... Options>
  requires detail::explainable<R, Options...>
auto explain(R const& r, Options... options) {
  auto b = bind_checked<Options...>(r);
  return detail::explain_bound(r, b, options...);
}

/// What run refuses is refused, and the type says why.
template <class R, class... Options>
  requires(!is_grouped<R> && !looks_back<R> && !detail::explainable<R, Options...>)
auto explain(R const&, Options const&...) ->
    typename decltype(detail::judge_call<R, detail::place_for<Options>...>())::type {
  return {};
}

} // namespace tally::v0
