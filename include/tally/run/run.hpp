// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verb run: computes a reduction and gives its answers. Layer 5.
#pragma once

#include <stdexcept>
#include <tuple>

#include <tally/pipeline/answer.hpp>
#include <tally/pipeline/refused_operands.hpp>
#include <tally/pipeline/text.hpp>
#include <tally/run/check.hpp>
#include <tally/run/compute.hpp>

namespace tally::v0 {

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
    if constexpr (std::same_as<decltype(o), contract>) {
      if (o == contract::exact)
        throw std::logic_error("tally: the contract exact is asked for as tally::exact, whose type is known while compiling.");
      c = o;
    } else if constexpr (std::same_as<decltype(o), exact_contract>) {
      c = o;
    }
  };
  (take(options), ...);
  return c;
}
template <class T>
concept contract_option = std::same_as<T, contract> || std::same_as<T, exact_contract>;
template <class T>
concept run_option = place<T> || contract_option<T>;
/// Options of one call: at most one place and one contract.
template <class... Options>
concept options_of_run = (run_option<Options> && ...) && (0 + ... + int(place<Options>)) <= 1 && (0 + ... + int(contract_option<Options>)) <= 1;

/// Why a leaf may not take part under exact: its bits depend on the order, and it has no counterpart whose do not.
template <class OnAnswers, class... Leaves>
constexpr auto judge_exact(pack<Leaves...> const*) {
  return first_reason<allowed, std::conditional_t<Leaves::monoid_type::law.order_free, allowed,
                                                  reason<because::the_fold_has_no_exact_form<
                                                      OnAnswers, because::type_of<typename Leaves::monoid_type>>>>...>();
}

/// Why a thing cannot be run there, as a verdict.
template <class R, class Place, class... Options>
constexpr auto judge_run() {
  if constexpr (looks_back<R>) {
    return reason<because::a_let_has_the_axes_of_its_source<because::type_of<R>>>{};
  } else if constexpr (refused<R>) {
    return reason<absorbed<because::answers<answer_count<R>>>>{};
  } else if constexpr (!finished<R>) {
    return reason<because::run_needs_a_reduction<R>>{};
  } else {
    using Program = decltype(bind_for<Options...>(std::declval<R>()).program);
    using on_answers = because::answers<decltype(R::folds)::size>;
    if constexpr (Program::leaf_count > max_folds)
      return reason<because::one_read_has_room_for_no_more<on_answers, because::there_are<Program::leaf_count>>>{};
    else if constexpr (std::same_as<Place, on::gpu_place> && !Program::lowerable)
      return reason<because::the_gpu_needs_device_text<on_answers>>{};
    else if constexpr (asks_exact<Options...>)
      return judge_exact<on_answers>(static_cast<decltype(Program::leaves) const*>(nullptr));
    else
      return allowed{};
  }
}
/// Why a call of run is refused, as a verdict: the options first need a pipeline to be options of.
template <class R, class... Options>
constexpr auto judge_call() {
  if constexpr (refused<R> || !finished<R>)
    return judge_run<R, on::any_place>();
  else if constexpr (is_grouped<R>)
    return reason<because::groups_are_run<because::answers<decltype(R::folds)::size>>>{};
  else if constexpr (!options_of_run<Options...>)
    return reason<because::run_takes_a_place_and_a_contract<because::answers<decltype(R::folds)::size>, Options...>>{};
  else
    return judge_run<R, std::remove_cvref_t<decltype(place_in(std::declval<Options>()...))>, Options...>();
}
template <class R, class... Options>
concept runnable = !is_grouped<R> && std::same_as<decltype(judge_call<R, Options...>()), allowed>;

[[noreturn]] inline void throw_overflow() { throw overflow("a checked sum left the range of its accumulator."); }
/// Throws overflow.
template <class Leaves, class States>
void check_overflow(Leaves const& leaves, States const& states) {
  if (answers::any_overflowed(leaves, states))
    throw_overflow();
}

/// Throws empty_input; compiled in dsl/run/check.cpp.
[[noreturn]] void throw_no_element(std::string const& fold, i64 extent);

/// One answer, or the error that there is none.
template <class Node, class Fold, class Outcome>
auto answer_of(Node const& node, Fold const& fold, Outcome const& o) {
  if (answers::is_empty(node, o))
    throw_no_element(text_of(fold), o.of.extent);
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
/// contract (reproducible, fast, exact). Throws extent_mismatch, null_column, zero_stride, zero_modulus, empty_input, overflow,
/// wrong_residence, and what a GPU can report; nothing has run when the input is at fault.
template <class R, class... Options>
  requires detail::runnable<R, Options...>
auto run(R const& r, Options... options) {
  auto const b = bind_checked<Options...>(r);
  return detail::answers_of(r, b, compute(b.program, detail::place_in(options...), detail::contract_in(options...)));
}

/// What cannot be run there is refused, and the type says why.
template <class R, class... Options>
  requires(!is_grouped<R> && !looks_back<R> && !detail::runnable<R, Options...>)
auto run(R const&, Options const&...) -> typename decltype(detail::judge_call<R, Options...>())::type {
  return {};
}

/// A refused run still takes as many names as it would have had answers: auto [a, b] = run(...) is one error.
template <std::size_t, refused T>
constexpr ill_formed get(T const&) {
  return {};
}

} // namespace tally::v0

template <class T>
  requires(std::same_as<T, std::remove_cv_t<T>> && tally::v0::refused<T> && tally::v0::detail::answer_count<T> > 1)
struct std::tuple_size<T> : std::integral_constant<std::size_t, tally::v0::detail::answer_count<T>> {};
template <std::size_t I, class T>
  requires(std::same_as<T, std::remove_cv_t<T>> && tally::v0::refused<T> && tally::v0::detail::answer_count<T> > 1)
struct std::tuple_element<I, T> {
  using type = tally::v0::ill_formed;
};
