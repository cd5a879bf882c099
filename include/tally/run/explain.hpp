// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verb explain: what run would do with a reduction, on which back end, and why. Layer 5. Here a reduction's types
// become the plain facts and names of a description; planning and rendering are compiled.
#pragma once

#include <tally/plan/explain.hpp>
#include <tally/plan/targets.hpp>
#include <tally/run/run.hpp>

namespace tally::inline v0 {

namespace detail {

template <class T>
concept explain_option = run_option<T> || std::same_as<T, target>;

template <class... Options>
constexpr target target_in([[maybe_unused]] Options... options) {
  target t{};
  [[maybe_unused]] auto take = [&](auto o) {
    if constexpr (std::same_as<decltype(o), target>)
      t = o;
  };
  (take(options), ...);
  return t;
}

using name_list = std::vector<std::string>;

/// Walks folds as answers::plant does and names each leaf where it first appears.
template <class Pipe, class Leaves, class Fold>
auto name_leaves(Pipe const& p, Leaves const& leaves, Fold const& fold, name_list& names);

template <class Pipe, class Leaves>
auto name_all(Pipe const&, Leaves const& leaves, name_list&) {
  return leaves;
}
template <class Pipe, class Leaves, class Fold, class... Folds>
auto name_all(Pipe const& p, Leaves const& leaves, name_list& names, Fold const& fold, Folds const&... more) {
  return name_all(p, name_leaves(p, leaves, fold, names), names, more...);
}
template <class Pipe, class Leaves, class Op, class Values, class Mask>
auto name_fold(Pipe const& p, Leaves const& leaves, folding<Op, Values, Mask> const& f, name_list& names) {
  auto const planted = answers::plant(p, leaves, f);
  if (decltype(planted.leaves)::size > Leaves::size)
    names.push_back(text_of(f));
  return planted.leaves;
}
template <class Pipe, class Leaves, class Op, class... Args>
auto name_fold(Pipe const& p, Leaves const& leaves, folded_call<Op, Args...> const& f, name_list& names) {
  return unpack([&](auto const&... a) { return name_all(p, leaves, names, a...); }, f.args);
}
template <class Pipe, class Leaves, class Fold, class T>
auto name_fold(Pipe const& p, Leaves const& leaves, or_else_fold<Fold, T> const& f, name_list& names) {
  return name_leaves(p, leaves, f.fold, names);
}
template <class Pipe, class Leaves, class Fold>
auto name_fold(Pipe const& p, Leaves const& leaves, maybe_fold<Fold> const& f, name_list& names) {
  return name_leaves(p, leaves, f.fold, names);
}
template <class Pipe, class Leaves, class Fold>
auto name_leaves(Pipe const& p, Leaves const& leaves, Fold const& fold, name_list& names) {
  if constexpr (fold_like<Fold>)
    return name_fold(p, leaves, static_cast<typename Fold::tally_fold const&>(fold), names);
  else
    return leaves;
}

template <class Column>
source_description describe_column(Column const& c, int number) {
  using T = typename Column::value_type;
  source_facts const f = facts_of_column(c);
  source_description s;
  s.name = "_" + std::to_string(number);
  s.type = short_name<T>();
  s.host_only = !Column::lowerable;
  s.bytes_per_element = s.host_only ? static_cast<i64>(sizeof(T)) : f.bytes_per_element;
  s.stride = f.stride;
  s.address_alignment = f.address_alignment;
  return s;
}

template <class Program, class Leaf>
fold_description describe_leaf(std::string name) {
  using M = typename Leaf::monoid_type;
  using State = typename M::state;
  fold_description d;
  d.name = std::move(name);
  d.state_bytes = int(sizeof(State));
  d.law = M::law;
  d.host_only = !Leaf::lowerable;
  if constexpr (floating<State>)
    d.rounds_in = short_name<State>();
  if constexpr (!cpu::detail::needs<Program, Leaf>::at_once)
    d.lanes = host_lanes::opaque;
  else if constexpr (!cpu::has_vector_form<M> || decltype(Leaf::values)::size != 1)
    d.lanes = host_lanes::one_by_one;
  return d;
}

template <class Columns, class... Leaves>
void describe_leaves(program<Columns, Leaves...> const&, std::vector<std::string> const& names,
                     std::vector<fold_description>& out) {
  [[maybe_unused]] std::size_t i = 0;
  (out.push_back(describe_leaf<program<Columns, Leaves...>, Leaves>(names.at(i++))), ...);
}

template <class Program>
std::string ptx_for(plan const& p, facts const& f) {
  return gpu::compile(gpu::unit_of(type_of<Program>(), p, f), f.target.compute_major, f.target.compute_minor).ptx;
}

/// Everything that does not depend on where the reduction runs.
template <class R, class Bound>
description describe_reduction(R const& r, Bound const& b, contract c) {
  using Program = std::remove_cvref_t<decltype(b.program)>;
  description d;
  d.pipeline = text_of(r);
  unpack([&](auto const&... f) { (d.answers.push_back(text_of(f)), ...); }, r.folds);
  d.facts = facts_of(b.program, target{}, c);
  for_each_index<Program::columns_type::size>(
      [&](auto i) { d.sources.push_back(describe_column(get<i>(b.program.columns), i + 1)); });
  std::vector<std::string> names;
  unpack([&](auto const&... f) { return name_all(r.pipe, pack<>{}, names, f...); }, r.folds);
  describe_leaves(b.program, names, d.folds);
  if constexpr (Program::lowerable)
    d.ptx_of = &ptx_for<Program>;
  return d;
}

inline void place_on_host(description& d, int threads) {
  d.facts.target = targets::host;
  d.threads = threads > 0 ? threads : cpu::core_count();
  d.leaves_per_tile = cpu::leaves_per_tile;
  d.place = "host, " + std::to_string(d.threads) + (d.threads == 1 ? " thread" : " threads");
}

/// Without the list of every place that was looked at.
inline std::string shortened(std::string const& reason) { return reason.substr(0, reason.find(": lib")); }

/// What holds a program on the host whatever the target.
inline bool held_on_host(description& d) {
  bool held = false;
  for (auto const& s : d.sources)
    if (s.host_only)
      held = true, d.why_not.push_back({"a GPU", "only host code knows the elements of this range", s.name});
  for (auto const& f : d.folds)
    if (f.host_only)
      held = true, d.why_not.push_back({"a GPU", "a host function has no device text; TALLY_FUNCTION would have", f.name});
  return held;
}

/// A GPU at hand: columns in host memory will be staged, and staged memory is aligned.
template <class Program>
void place_on_device(description& d, Program& p, int ordinal) {
  gpu::column_place places[max_sources]{};
  places_of(p, places);
  d.on_gpu = true;
  d.facts.target = gpu::target_of(ordinal);
  d.place = gpu::facts_of(ordinal).name + ", " + describe(d.facts.target);
  for (std::size_t i = 0; i < d.sources.size(); ++i) {
    if (places[i].pointer == nullptr)
      continue;
    auto const where = gpu::residence_of(*places[i].pointer);
    if (where != gpu::residence::host && where != gpu::residence::pinned)
      continue;
    d.sources[i].staged = true;
    d.sources[i].address_alignment = d.facts.sources[i].address_alignment = 16;
  }
}

template <class Program>
void place_by_target(description& d, Program&, target const& t) {
  if (t == targets::host)
    return d.why_not.push_back({"a GPU", "the target is the host", ""}), place_on_host(d, 0);
  if (held_on_host(d))
    return place_on_host(d, 0);
  d.on_gpu = true;
  d.facts.target = t;
  d.place = describe(t);
}
template <class Program>
void place_by_option(description& d, Program&, on::cpu_place where) {
  if (!held_on_host(d))
    d.why_not.push_back({"a GPU", "on::cpu asks for the host", ""});
  place_on_host(d, where.thread_count);
}
template <class Program>
void place_by_option(description& d, Program& p, on::gpu_place where) {
  if (gpu::device_count() == 0)
    throw no_gpu(gpu::why_no_device());
  gpu::column_place places[max_sources]{};
  places_of(p, places);
  int const home = where.ordinal >= 0 ? where.ordinal : gpu::home_of(places, Program::columns_type::size);
  place_on_device(d, p, home >= 0 ? home : 0);
}
template <class Program>
void place_by_option(description& d, Program& p, on::any_place) {
  if (int const ordinal = gpu_for(p); ordinal >= 0) {
    place_on_device(d, p, ordinal);
    return d.why_not.push_back({"the CPU", "the columns lie in the memory of this GPU", ""});
  }
  if (!held_on_host(d)) {
    if (!d.reads())
      d.why_not.push_back({"a GPU", "there is nothing to read", ""});
    else if (gpu::device_count() == 0)
      d.why_not.push_back({"a GPU", shortened(gpu::why_no_device()), ""});
    else
      d.why_not.push_back({"a GPU", "the columns lie in host memory, and the way to the GPU is longer than the read; "
                                    "on::gpu would copy them", ""});
  }
  place_on_host(d, 0);
}

template <class R, class Bound, class... Options>
explanation explain_bound(R const& r, Bound& b, Options... options) {
  description d = describe_reduction(r, b, contract_in(options...));
  if constexpr ((std::same_as<Options, target> || ...))
    place_by_target(d, b.program, target_in(options...));
  else
    place_by_option(d, b.program, place_in(options...));
  return explanation(std::move(d));
}

} // namespace detail

/// What run would do with a reduction: a value that prints itself and has text(), json(), mermaid() and ptx(). Options:
/// a contract, and a place as for run or a target (targets::h200, ..., targets::host), for which the columns are taken
/// to lie in its memory at the addresses they have. Nothing is read. Throws what run throws about its input; on::gpu
/// without one throws no_gpu, a target needs none.
template <class R, detail::explain_option... Options>
auto explain(R const& r, Options... options) {
  using Place = std::remove_cvref_t<decltype(detail::place_in(options...))>;
  if constexpr (std::same_as<R, ill_formed>) {
    return ill_formed{};
  } else {
    using Reason = typename decltype(detail::judge_run<R, Place>())::type;
    if constexpr (!std::same_as<Reason, because::fine>) {
      return (void)sizeof(Reason), ill_formed{};
    } else {
      check_source(r.pipe.source);
      auto b = tally::bind(r);
      return detail::explain_bound(r, b, options...);
    }
  }
}

} // namespace tally::inline v0
