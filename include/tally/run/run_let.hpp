// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// run for reductions in which lets stand: the lets are folded first, then the rest beside their answers. Layer 5.
#pragma once

#include <tally/pipeline/collect.hpp>
#include <tally/run/lets.hpp>

namespace tally::v0 {

namespace detail {

/// A reduction of items: with groupings, or without.
template <class Pipe, class... Items>
constexpr auto reduction_of(pipe_and_items<Pipe, pack<Items...>> const& r) {
  if constexpr ((grouping<Items> || ...))
    return grouped<Pipe, Items...>{r.pipe, r.items};
  else
    return reduced<Pipe, Items...>{r.pipe, r.items};
}
template <class R, class Place, class... Options>
using reduction_without_lets = decltype(reduction_of(without_lets_in<Options...>(
    std::declval<R const&>().pipe, std::declval<R const&>().folds, std::declval<Place>(), contract{}, std::declval<answers_of_lets&>())));

template <class Place, class... Options, class Pipe, class Items>
constexpr auto judge_lets(Pipe const*, Items const*);
/// Why one let cannot be folded there, seen from a source of Rank axes.
template <int Rank, class Place, class... Options, class Pipe, class Item>
constexpr auto judge_let(let_answer<Pipe, Item> const*) {
  using Let = let_answer<Pipe, Item>;
  using Inner = decltype(judge_lets<Place, Options...>(static_cast<Pipe const*>(nullptr), static_cast<pack<Item> const*>(nullptr)));
  if constexpr (!let_fits<Rank, Let>()) {
    return reason<because::a_let_has_the_axes_of_its_source<because::type_of<Let>>>{};
  } else if constexpr (!std::same_as<Inner, allowed>) {
    return Inner{};
  } else {
    using R = decltype(without_lets_in<Options...>(std::declval<Pipe const&>(), std::declval<pack<Item> const&>(), std::declval<Place>(),
                                                   contract{}, std::declval<answers_of_lets&>()));
    using Domain = decltype(get<0>(std::declval<R const&>().items).bind(pipe_for<Options...>(std::declval<R const&>().pipe)));
    return judge_domain<Domain, Place, Options...>();
  }
}
template <int Rank, class Place, class... Options, class... Lets>
constexpr auto judge_each_let(pack<Lets...> const*) {
  return first_reason<allowed, decltype(judge_let<Rank, Place, Options...>(static_cast<Lets const*>(nullptr)))...>();
}
/// Why the lets of a pipe and its items cannot be folded there, or stand where none may.
template <class Place, class... Options, class Pipe, class Items>
constexpr auto judge_lets(Pipe const*, Items const*) {
  using Lets = decltype(all_lets(std::declval<Pipe const&>(), std::declval<Items const&>()));
  constexpr int rank = rank_of<decltype(Pipe::source)>, columns = decltype(Pipe::source.columns)::size;
  if constexpr (Lets::size > 0 && columns + Lets::size > max_columns)
    return reason<because::one_read_has_room_for_no_more<because::there_are<columns + Lets::size>>>{};
  else
    return judge_each_let<rank, Place, Options...>(static_cast<Lets const*>(nullptr));
}

/// Why a call of run with lets is refused, as a verdict.
template <class R, class... Options>
constexpr auto judge_call_with_lets() {
  if constexpr (!finished<R>) { // clang looks into the type of an overload before it asks whether it applies
    return allowed{};
  } else if constexpr (!options_of_run<Options...>) {
    return reason<because::run_takes_a_place_and_a_contract<because::answers<decltype(R::folds)::size>, Options...>>{};
  } else {
    using Place = std::remove_cvref_t<decltype(place_in(std::declval<Options>()...))>;
    using Found = std::conditional_t<std::same_as<Place, on::any_place>, on::cpu_place, Place>;
    using Verdict = decltype(judge_lets<Found, Options...>(static_cast<decltype(R::pipe) const*>(nullptr), static_cast<decltype(R::folds) const*>(nullptr)));
    if constexpr (!std::same_as<Verdict, allowed>)
      return Verdict{};
    else if constexpr (is_grouped<R>)
      return judge_grouped_call<reduction_without_lets<R, Found, Options...>, Options...>();
    else
      return judge_call<reduction_without_lets<R, Found, Options...>, Options...>();
  }
}
template <class R>
concept reduction_with_lets = finished<R> && looks_back<R> && !is_collected<R>;
template <class R, class... Options>
concept runnable_with_lets = reduction_with_lets<R> && std::same_as<decltype(judge_call_with_lets<R, Options...>()), allowed>;

/// The GPU that holds the columns of a pipe, if it can run there; -1: the CPU.
template <bool Possible, class Pipe>
int home_of_pipe([[maybe_unused]] Pipe const& pipe) {
  if constexpr (Possible) {
    auto b = bind_to(pipe, pack<>{});
    if (b.program.extent > 0 && gpu::device_count() > 0) {
      gpu::column_place places[max_sources]{};
      places_of(b.program, places);
      return gpu::home_of(places, decltype(b.program.columns)::size);
    }
  }
  return -1;
}
/// A place with the GPU that it means.
template <class Pipe>
on::gpu_place settled(on::gpu_place where, Pipe const& pipe) {
  if (gpu::device_count() == 0)
    throw no_gpu(gpu::why_no_device());
  if (where.ordinal < 0) {
    int const home = home_of_pipe<true>(pipe);
    where.ordinal = home < 0 ? 0 : home;
  }
  return where;
}
template <class Pipe>
on::cpu_place settled(on::cpu_place where, Pipe const&) {
  return where;
}

/// The answers of r, whose lets have become columns of plain.
template <class... Options, class R, class Plain, class Place>
auto answers_beside_lets(R const& r, Plain const& plain, Place where, contract c) {
  if constexpr (is_grouped<R>) {
    return run_grouped_at<Options...>(plain, where, c);
  } else {
    auto const b = bind_for<Options...>(plain);
    check_folds(b.program.leaves);
    return answers_of(r, b, compute(b.program, where, c));
  }
}
template <class... Options, class R, class Place>
auto run_with_lets_at(R const& r, Place asked, contract c) {
  answers_of_lets kept;
  auto const where = settled(asked, r.pipe);
  return answers_beside_lets<Options...>(r, reduction_of(without_lets_in<Options...>(r.pipe, r.folds, where, c, kept)), where, c);
}
/// f at the place that is asked for, or under on::any at the GPU that holds the columns of a pipe, if it is Possible there, else on the CPU.
template <bool Possible, class Pipe, class F, class... Options>
auto at_place(Pipe const& pipe, F const& f, Options... options) {
  auto const where = place_in(options...);
  if constexpr (!std::same_as<std::remove_cvref_t<decltype(where)>, on::any_place>) {
    return f(where);
  } else {
    check_source(pipe.source);
    if constexpr (Possible)
      if (int const ordinal = home_of_pipe<true>(pipe); ordinal >= 0)
        return f(on::gpu(ordinal));
    return f(on::cpu);
  }
}

} // namespace detail

/// Computes a reduction in which lets stand. Options, answers and errors are those of run without them; extent_mismatch too where a
/// let does not have the extents of the source it is seen beside.
template <detail::reduction_with_lets R, class... Options>
  requires detail::runnable_with_lets<R, Options...>
auto run(R const& r, Options... options) {
  auto const c = detail::contract_in(options...);
  constexpr bool possible = detail::runnable_with_lets<R, Options..., on::gpu_place>;
  return detail::at_place<possible>(r.pipe, [&](auto where) { return detail::run_with_lets_at<Options...>(r, where, c); }, options...);
}
/// What cannot be run there is refused, and the type says why.
template <detail::reduction_with_lets R, class... Options>
  requires(!detail::runnable_with_lets<R, Options...>)
auto run(R const&, Options const&...) -> typename decltype(detail::judge_call_with_lets<R, Options...>())::type {
  return {};
}

} // namespace tally::v0
