// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// run for reductions with groupings: folds of the whole source give values, groupings give arrays, in the order they were
// written. Layer 5. Everything is computed before anything is returned.
#pragma once

#include <tally/run/grouped_on_gpu.hpp>
#include <tally/run/grouped_on_host.hpp>

namespace tally::v0 {

namespace detail {

/// Why one program of a grouped reduction cannot be run there.
template <class Program, class Place, class... Options>
constexpr auto judge_program() {
  if constexpr (Program::leaf_count > max_folds)
    return reason<because::one_read_has_room_for_no_more<because::there_are<Program::leaf_count>>>{};
  else if constexpr (std::same_as<Place, on::gpu_place> && !Program::lowerable)
    return reason<because::the_gpu_needs_device_text<because::type_of<Place>>>{};
  else if constexpr (asks_exact<Options...>)
    return judge_exact<because::answers<1>>(static_cast<decltype(Program::leaves) const*>(nullptr));
  else
    return allowed{};
}
template <class Domain>
constexpr auto judge_on_gpu() {
  if constexpr (requires { Domain::judge_on_gpu(); })
    return Domain::judge_on_gpu();
  else
    return allowed{};
}
/// The same of a grouping's domain, which may know more reasons.
template <class Domain, class Place, class... Options>
constexpr auto judge_domain() {
  using Verdict = decltype(judge_program<decltype(Domain::program), Place, Options...>());
  if constexpr (!std::same_as<Verdict, allowed> || !std::same_as<Place, on::gpu_place>)
    return Verdict{};
  else
    return judge_on_gpu<Domain>();
}
template <class Item, class Pipe, class Place, class... Options>
constexpr auto judge_run_of_item() {
  if constexpr (grouping<Item>)
    return judge_domain<decltype(std::declval<Item const&>().bind(pipe_for<Options...>(std::declval<Pipe const&>()))), Place, Options...>();
  else
    return judge_program<decltype(bind_to(pipe_for<Options...>(std::declval<Pipe const&>()), std::declval<pack<Item> const&>()).program),
                         Place, Options...>();
}
template <class Place, class... Options, class Pipe, class... Items>
constexpr auto judge_run_grouped(grouped<Pipe, Items...> const*) {
  return first_reason<decltype(judge_run_of_item<Items, Pipe, Place, Options...>())...>();
}
/// Why a call of run with a grouped reduction is refused, as a verdict.
template <class R, class... Options>
constexpr auto judge_grouped_call() {
  if constexpr (!is_grouped<R>) // clang looks into the type of an overload before it asks whether it applies
    return allowed{};
  else if constexpr (looks_back<R>)
    return reason<because::a_let_has_the_axes_of_its_source<because::type_of<R>>>{};
  else if constexpr (!options_of_run<Options...>)
    return reason<because::run_takes_a_place_and_a_contract<because::answers<decltype(R::folds)::size>, Options...>>{};
  else
    return judge_run_grouped<std::remove_cvref_t<decltype(place_in(std::declval<Options>()...))>, Options...>(
        static_cast<R const*>(nullptr));
}
template <class R, class... Options>
concept runnable_grouped = grouped_reduction<R> && std::same_as<decltype(judge_grouped_call<R, Options...>()), allowed>;

template <class... Options, class R, class Place>
auto run_grouped_at(R const& r, Place where, contract c) {
  if constexpr (std::same_as<Place, on::gpu_place>)
    return c == contract::fast ? run_grouped_on_gpu<true, Options...>(r, where, c) : run_grouped_on_gpu<false, Options...>(r, where, c);
  else
    return run_grouped_on_host<Options...>(r, where, c);
}

/// On the GPU that holds the columns, else on the CPU.
template <class... Options, class R>
auto run_grouped_anywhere(R const& r, contract c) {
  if constexpr (std::same_as<decltype(judge_grouped_call<R, Options..., on::gpu_place>()), allowed>) {
    auto b = bind_to(r.pipe, pack<>{});
    gpu::column_place places[max_sources]{};
    if (gpu::device_count() > 0 && b.program.extent > 0) {
      places_of(b.program, places);
      if (int const ordinal = gpu::home_of(places, decltype(b.program.columns)::size); ordinal >= 0)
        return run_grouped_at<Options...>(r, on::gpu(ordinal), c);
    }
  }
  return run_grouped_at<Options...>(r, on::cpu, c);
}

} // namespace detail

/// Computes a reduction with groupings: its one answer, or a std::tuple. A fold gives a value, a grouping an mdarray with the axes
/// it keeps, or a std::tuple of one for each of its folds. An empty group has the answer of the fold's identity, or what or_else
/// says. Options and errors are those of run.
template <grouped_reduction R, class... Options>
  requires detail::runnable_grouped<R, Options...>
auto run(R const& r, Options... options) {
  check_source(r.pipe.source);
  auto const where = detail::place_in(options...);
  using Place = std::remove_cvref_t<decltype(where)>;
  auto const c = detail::contract_in(options...);
  if constexpr (!std::same_as<Place, on::any_place>)
    return detail::run_grouped_at<Options...>(r, where, c);
  else
    return detail::run_grouped_anywhere<Options...>(r, c);
}

/// What cannot be run there is refused, and the type says why.
template <grouped_reduction R, class... Options>
  requires(!looks_back<R> && !detail::runnable_grouped<R, Options...>)
auto run(R const&, Options const&...) -> typename decltype(detail::judge_grouped_call<R, Options...>())::type {
  return {};
}

} // namespace tally::v0
