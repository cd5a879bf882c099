// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// run_into for reductions in which lets stand: the lets are folded first, then the rest goes into memory of the caller, as it does
// without them. Layer 5.
#pragma once

#include <tally/run/run_into_grouped.hpp>
#include <tally/run/run_let.hpp>

namespace tally::v0 {

namespace detail {

template <class R, class... Options, class Outputs>
constexpr auto judge_run_into_with_lets(pack<Options...> const*, Outputs const*) {
  if constexpr (!runnable_with_lets<R, Options...>) {
    return judge_call_with_lets<R, Options...>();
  } else {
    using Answers = decltype(run(std::declval<R const&>(), std::declval<Options>()...));
    if constexpr (is_grouped<R>) {
      using All = typename flat_answers<Answers>::type;
      if constexpr (all_groups_taken<Outputs, All>)
        return allowed{};
      else
        return reason<because::run_into_needs_an_output_for_each_answer<All, Outputs>>{};
    } else {
      using All = typename answer_types<Answers>::type;
      if constexpr (all_taken<Outputs, All>)
        return allowed{};
      else
        return reason<because::run_into_needs_an_output_for_each_answer<All, Outputs>>{};
    }
  }
}
template <class R, class... Arguments>
using outputs_of_lets = std::conditional_t<is_grouped<R>, group_outputs_in<Arguments...>, outputs_in<Arguments...>>;
template <class R, class... Arguments>
using verdict_on_run_into_with_lets = decltype(judge_run_into_with_lets<R>(static_cast<options_in<Arguments...> const*>(nullptr),
                                                                           static_cast<outputs_of_lets<R, Arguments...> const*>(nullptr)));

template <class... Options, class R, class Outputs, class Place>
void run_into_with_lets_at(R const& r, Outputs const& outputs, Place asked, contract c) {
  answers_of_lets kept;
  auto const where = settled(asked, r.pipe);
  auto const plain = reduction_of(without_lets_in<Options...>(r.pipe, r.folds, where, c, kept));
  gpu::stream_ref queue{};
  int ordinal = -1;
  if constexpr (std::same_as<Place, on::gpu_place>) {
    queue = where.queue;
    ordinal = where.ordinal;
    if constexpr (is_grouped<R>)
      if (written_by_kernel<Options...>(plain, outputs, where, c))
        return;
  }
  if constexpr (is_grouped<R>) {
    deliver_groups(outputs, answers_beside_lets<Options...>(r, plain, where, c), queue, ordinal);
  } else {
    auto values = converted(answers_beside_lets<Options...>(r, plain, where, c), outputs);
    deliver(outputs, values, queue, ordinal);
  }
}

} // namespace detail

/// Computes a reduction in which lets stand and writes its answers, one output each. Outputs are those of run_into without lets, options
/// and errors those of run; a grouping along axes on a GPU writes its answers into memory of that GPU by itself.
template <detail::reduction_with_lets R, class... Arguments>
  requires std::same_as<detail::verdict_on_run_into_with_lets<R, Arguments...>, allowed>
void run_into(R const& r, Arguments&&... arguments) {
  auto const outputs = [&] {
    if constexpr (is_grouped<R>)
      return join_all(detail::group_output_of(arguments)...);
    else
      return join_all(detail::output_of(arguments)...);
  }();
  if constexpr (is_grouped<R>)
    for_each_index<std::remove_cvref_t<decltype(outputs)>::size>([&](auto i) { detail::check_group_output(get<i>(outputs), i + 1); });
  else
    detail::check_outputs(outputs);
  unpack(
      [&]<class... Options>(Options... options) {
        auto const c = detail::contract_in(options...);
        constexpr bool possible = detail::runnable_with_lets<R, Options..., on::gpu_place>;
        detail::at_place<possible>(r.pipe, [&](auto where) { detail::run_into_with_lets_at<Options...>(r, outputs, where, c); }, options...);
      },
      join_all(detail::option_of(arguments)...));
}

/// What run refuses, and outputs that do not hold the answers, are refused, and the type says why.
template <detail::reduction_with_lets R, class... Arguments>
  requires(!std::same_as<detail::verdict_on_run_into_with_lets<R, Arguments...>, allowed>)
auto run_into(R const&, Arguments&&...) -> typename detail::verdict_on_run_into_with_lets<R, Arguments...>::type {
  return {};
}

} // namespace tally::v0
