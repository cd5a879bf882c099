// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verb run_timed: run, and beside the answers the explanation with what it took. Layer 5.
#pragma once

#include <tally/run/explain.hpp>

namespace tally::v0 {

/// Answers as run gives them, and the plan with expected and measured time side by side.
template <class Answers>
struct timed_run {
  Answers answers;
  explanation explained;
};

namespace detail {

template <class States>
struct timed_states {
  States states;
  double seconds;
};

/// Seconds of a clock that never goes back; compiled, because <chrono> is a heavy header.
double seconds_now();

template <class Program>
timed_states<typename Program::states> compute_timed(Program p, on::cpu_place where, contract c) {
  double const start = seconds_now();
  auto states = compute(p, where, c);
  return {states, seconds_now() - start};
}
/// Seconds of the GPU itself, between two marks around the launch.
template <class Program>
timed_states<typename Program::states> compute_timed(Program p, on::gpu_place where, contract c) {
  if (gpu::device_count() == 0 || p.extent == 0 || Program::leaf_count == 0)
    return {compute(p, where, c), 0};
  auto request = request_for(p, where, c);
  auto queued = gpu::enqueue(request, true);
  auto const& states = *static_cast<typename Program::states const*>(queued.states.wait());
  return {states, gpu::seconds_between(queued.begun, queued.done)};
}
template <class Program>
timed_states<typename Program::states> compute_timed(Program p, on::any_place, contract c) {
  if constexpr (Program::lowerable)
    if (int const ordinal = gpu_for(p); ordinal >= 0)
      return compute_timed(p, on::gpu(ordinal), c);
  return compute_timed(p, on::cpu, c);
}

} // namespace detail

/// run(r, options...) once, timed: .answers, and .explained with measured seconds and GB/s beside the expectation. A
/// first run compiles and touches cold memory; time a second one. Throws what run throws.
template <class R, class... Options>
  requires detail::runnable<R, Options...>
auto run_timed(R const& r, Options... options) {
  auto const plan_of = explain(r, options...);
  double const start = detail::seconds_now();
  auto const b = detail::bind_for<Options...>(r);
  auto const timed = detail::compute_timed(b.program, detail::place_in(options...), detail::contract_in(options...));
  double const whole = detail::seconds_now() - start;
  auto answers = detail::answers_of(r, b, timed.states);
  return timed_run<decltype(answers)>{std::move(answers), plan_of.measured(timed.seconds, whole)};
}

/// What run refuses is refused, and the type says why.
template <class R, class... Options>
  requires(!detail::runnable<R, Options...>)
auto run_timed(R const&, Options const&...) -> typename decltype(detail::judge_call<R, Options...>())::type {
  return {};
}

} // namespace tally::v0
