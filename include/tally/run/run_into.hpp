// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verb run_into: computes a reduction and writes its answers into memory the caller owns, of the host or of a device.
// Layer 5. All answers exist before the first is written.
#pragma once

#include <tally/run/run.hpp>

namespace tally::v0 {

namespace detail {

/// Where one answer goes; a pointer may point into device memory, a reference may not.
template <class T>
struct output {
  T* to;
  bool is_pointer;
};
struct no_output {};

/// An argument of run_into as a list: empty for an option, else the one output it names.
template <class A>
constexpr auto output_of(A& a) {
  using T = std::remove_reference_t<A>;
  if constexpr (run_option<std::remove_cv_t<T>>)
    return pack<>{};
  else if constexpr (std::is_pointer_v<std::decay_t<T>>) {
    using To = std::remove_pointer_t<std::decay_t<T>>;
    if constexpr (std::is_const_v<To> || std::is_void_v<To>)
      return make_pack(no_output{});
    else
      return make_pack(output<To>{a, true});
  } else if constexpr (std::is_const_v<T>)
    return make_pack(no_output{});
  else
    return make_pack(output<T>{&a, false});
}
template <class A>
constexpr auto option_of(A& a) {
  if constexpr (run_option<std::remove_cv_t<A>>)
    return make_pack(a);
  else
    return pack<>{};
}

template <class Answer>
struct answer_types {
  using type = pack<Answer>;
};
template <class... Answers>
struct answer_types<std::tuple<Answers...>> {
  using type = pack<Answers...>;
};

/// Whether an output holds every value of the answer.
template <class Output, class Answer>
inline constexpr bool takes = false;
template <class T, class Answer>
  requires requires(Answer a, T t) {
    T{static_cast<Answer&&>(a)};
    t = T{static_cast<Answer&&>(a)};
  }
inline constexpr bool takes<output<T>, Answer> = true;

template <class Outputs, class Answers>
inline constexpr bool all_taken = false;
template <class... Outputs, class... Answers>
  requires(sizeof...(Outputs) == sizeof...(Answers))
inline constexpr bool all_taken<pack<Outputs...>, pack<Answers...>> = (true && ... && takes<Outputs, Answers>);

/// Why a call of run_into is refused, as a verdict.
template <class R, class... Options, class... Outputs>
constexpr auto judge_run_into(pack<Options...> const*, pack<Outputs...> const*) {
  if constexpr (!runnable<R, Options...>) {
    return judge_call<R, Options...>();
  } else {
    using Answers = typename answer_types<decltype(run(std::declval<R const&>(), std::declval<Options>()...))>::type;
    if constexpr (all_taken<pack<Outputs...>, Answers>)
      return allowed{};
    else
      return reason<because::run_into_needs_an_output_for_each_answer<Answers, pack<Outputs...>>>{};
  }
}
template <class... Arguments>
using options_in = decltype(join_all(option_of(std::declval<Arguments&>())...));
template <class... Arguments>
using outputs_in = decltype(join_all(output_of(std::declval<Arguments&>())...));
template <class R, class... Arguments>
using verdict_on_run_into = decltype(judge_run_into<R>(static_cast<options_in<Arguments...>*>(nullptr),
                                                       static_cast<outputs_in<Arguments...>*>(nullptr)));
template <class R, class... Arguments>
concept runnable_into = std::same_as<verdict_on_run_into<R, Arguments...>, allowed>;

/// The GPU whose memory an output lies in; -1 for what the host can write.
template <class T>
int device_of(output<T> const& o) {
  int ordinal = -1;
  if (std::is_trivially_copyable_v<T> && o.is_pointer && gpu::residence_of(o.to, &ordinal) == gpu::residence::device)
    return ordinal;
  return -1;
}

/// Copies answers that belong on devices and waits for the copies; then writes those of the host.
template <class... Ts>
void deliver(pack<output<Ts>...> const& outputs, pack<Ts...>& values, gpu::stream_ref queue, int queue_ordinal) {
  constexpr int count = int(sizeof...(Ts));
  int devices[count];
  auto const queue_on = [&](int ordinal) { return ordinal == queue_ordinal ? queue : gpu::stream_ref{}; };
  for_each_index<count>([&](auto i) {
    devices[i] = device_of(get<i>(outputs));
    if (devices[i] >= 0)
      gpu::copy(get<i>(outputs).to, &get<i>(values), sizeof(get<i>(values)), devices[i], queue_on(devices[i]));
  });
  for (int const ordinal : devices)
    if (ordinal >= 0)
      gpu::wait(ordinal, queue_on(ordinal));
  for_each_index<count>([&](auto i) {
    if (devices[i] < 0)
      *get<i>(outputs).to = static_cast<nth_t<i, Ts...>&&>(get<i>(values));
  });
}

template <class... Outputs>
void check_outputs(pack<Outputs...> const& outputs) {
  for_each_index<int(sizeof...(Outputs))>([&](auto i) {
    if (get<i>(outputs).to == nullptr)
      throw null_column("output " + std::to_string(i + 1) + " is a null pointer.");
  });
}

template <class Answers, class... Ts>
pack<Ts...> converted(Answers&& answers, pack<output<Ts>...> const&) {
  if constexpr (requires { std::tuple_size<std::remove_cvref_t<Answers>>::value; })
    return std::apply([](auto&&... a) { return pack<Ts...>(make_pack(Ts{static_cast<decltype(a)&&>(a)}...)); },
                      static_cast<Answers&&>(answers));
  else
    return make_pack(Ts{static_cast<Answers&&>(answers)}...);
}

} // namespace detail

/// Computes a reduction and writes its answers, one output each: a variable, or a pointer to memory of the host or of a
/// device. Among the outputs may stand the options of run. Throws what run throws, and null_column for a null output;
/// nothing is written when anything throws. When it returns, all answers are where they belong.
template <class R, class... Arguments>
  requires detail::runnable_into<R, Arguments...>
void run_into(R const& r, Arguments&&... arguments) {
  auto const options = join_all(detail::option_of(arguments)...);
  auto const outputs = join_all(detail::output_of(arguments)...);
  detail::check_outputs(outputs);
  auto values = detail::converted(unpack([&](auto... o) { return run(r, o...); }, options), outputs);
  auto const where = unpack([](auto... o) { return detail::place_in(o...); }, options);
  if constexpr (std::same_as<std::remove_cvref_t<decltype(where)>, on::gpu_place>)
    detail::deliver(outputs, values, where.queue, where.ordinal < 0 ? 0 : where.ordinal);
  else
    detail::deliver(outputs, values, {}, -1);
}

/// What run refuses, and outputs that do not hold the answers, are refused, and the type says why.
template <class R, class... Arguments>
  requires(!is_grouped<R> && !looks_back<R> && !detail::runnable_into<R, Arguments...>)
auto run_into(R const&, Arguments&&...) -> typename detail::verdict_on_run_into<R, Arguments...>::type {
  return {};
}

} // namespace tally::v0
