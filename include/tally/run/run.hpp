// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verb run: computes a reduction and gives its answers. Layer 5.
#pragma once

#include <tuple>

#include <tally/pipeline/answer.hpp>
#include <tally/pipeline/text.hpp>
#include <tally/run/check.hpp>
#include <tally/run/compute.hpp>

namespace tally::inline v0 {

namespace detail {

/// The place and the contract among the options of a call.
template <class... Options>
constexpr auto place_in(Options... options) {
  if constexpr ((place<Options> || ...)) {
    auto const all = make_pack(options...);
    constexpr int at = [] {
      int i = 0, found = 0;
      ((place<Options> ? void(found = i++) : void(++i)), ...);
      return found;
    }();
    return get<at>(all);
  } else {
    return on::any;
  }
}
template <class... Options>
constexpr contract contract_in([[maybe_unused]] Options... options) {
  contract c = contract::reproducible;
  [[maybe_unused]] auto take = [&](auto o) {
    if constexpr (std::same_as<decltype(o), contract>)
      c = o;
  };
  (take(options), ...);
  return c;
}
template <class T>
concept run_option = place<T> || std::same_as<T, contract>;

/// Why a thing cannot be run, as a class of because::.
template <class R, class Place>
constexpr auto judge_run() {
  if constexpr (!finished<R>)
    return reason<because::run_needs_a_reduction<R>>{};
  else if constexpr (std::same_as<Place, on::gpu_place> && !decltype(bind(std::declval<R>()).program)::lowerable)
    return reason<because::the_gpu_needs_device_text<R>>{};
  else
    return reason<because::fine>{};
}

template <class Leaves, class States>
void check_overflow(Leaves const& leaves, States const& states) {
  for_each_index<Leaves::size>([&](auto i) {
    auto const& m = get<i>(leaves).monoid;
    if constexpr (requires { m.overflowed(get<i>(states)); })
      if (m.overflowed(get<i>(states)))
        throw overflow("a checked sum left the range of its 64-bit accumulator.");
  });
}

/// One answer, or the error that there is none.
template <class Node, class Fold, class Outcome>
auto answer_of(Node const& node, Fold const& fold, Outcome const& o) {
  if (node.empty(o))
    throw empty_input(text_of(fold) + " met no element among " + std::to_string(o.of.extent) + ".");
  return answers::with_one_nan(node.value(o));
}

/// The answers of a reduction from its states: a value for one fold, a tuple for several.
template <class R, class Bound, class States>
auto answers_of(R const& r, Bound const& b, States const& states) {
  check_overflow(b.program.leaves, states);
  answers::outcome<decltype(b.program.leaves), States> const o{b.program.leaves, states, {b.program.extent}};
  constexpr int count = decltype(r.folds)::size;
  if constexpr (count == 1)
    return answer_of(get<0>(b.nodes), get<0>(r.folds), o);
  else
    return [&]<int... I>(index_list<I...>) {
      return std::tuple(answer_of(get<I>(b.nodes), get<I>(r.folds), o)...);
    }(indices_up_to<count>{});
}

} // namespace detail

/// Computes a reduction: its one answer, or a std::tuple of its answers. Options: a place (on::any, on::cpu, on::gpu) and a
/// contract (reproducible, fast). Throws extent_mismatch, null_column, zero_stride, empty_input, overflow, wrong_residence,
/// and what a GPU can report; nothing has run when the input is at fault.
template <class R, detail::run_option... Options>
auto run(R const& r, Options... options) {
  auto const where = detail::place_in(options...);
  using Place = std::remove_cvref_t<decltype(where)>;
  if constexpr (std::same_as<R, ill_formed>) {
    return ill_formed{};
  } else {
    using Reason = typename decltype(detail::judge_run<R, Place>())::type;
    if constexpr (!std::same_as<Reason, because::fine>) {
      return (void)sizeof(Reason), ill_formed{};
    } else {
      check_source(r.pipe.source);
      auto const b = bind(r);
      return detail::answers_of(r, b, compute(b.program, where, detail::contract_in(options...)));
    }
  }
}

} // namespace tally::inline v0
