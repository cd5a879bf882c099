// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// run_into for reductions with groupings: arrays and values go into memory the caller owns. Layer 5. All answers exist, and are known to
// fit, before the first is written; one grouping along axes on a GPU writes its answers where they belong by itself.
#pragma once

#include <vector>

#include <tally/run/run_grouped.hpp>
#include <tally/run/run_into.hpp>

namespace tally::v0 {

namespace detail {

/// Where answers go: one variable, a pointer to as many as there are, or a range that holds exactly as many.
template <class T>
struct variable_output {
  T* to;
};
template <class T>
struct pointer_output {
  T* to;
};
template <class T>
struct range_output {
  T* to;
  i64 room;
};

template <class A>
constexpr auto group_output_of(A& a) {
  using T = std::remove_reference_t<A>;
  if constexpr (run_option<std::remove_cv_t<T>>) {
    return pack<>{};
  } else if constexpr (requires { std::data(a), std::size(a); }) {
    using To = std::remove_pointer_t<decltype(std::data(a))>;
    if constexpr (std::is_const_v<To>)
      return make_pack(no_output{});
    else
      return make_pack(range_output<To>{std::data(a), static_cast<i64>(std::size(a))});
  } else if constexpr (std::is_pointer_v<std::remove_cv_t<T>>) {
    using To = std::remove_pointer_t<std::remove_cv_t<T>>;
    if constexpr (std::is_const_v<To> || std::is_void_v<To>)
      return make_pack(no_output{});
    else
      return make_pack(pointer_output<To>{a});
  } else if constexpr (std::is_const_v<T>) {
    return make_pack(no_output{});
  } else {
    return make_pack(variable_output<T>{&a});
  }
}
template <class... Arguments>
using group_outputs_in = decltype(join_all(group_output_of(std::declval<Arguments&>())...));

/// The answers of a run, one after the other: a grouping of several folds has several.
template <class... Packs>
struct joined_packs {
  using type = pack<>;
};
template <class... As, class... Packs>
struct joined_packs<pack<As...>, Packs...> {
  template <class... Bs>
  static pack<As..., Bs...> before(pack<Bs...> const*);
  using type = decltype(before(static_cast<typename joined_packs<Packs...>::type const*>(nullptr)));
};
template <class A>
struct flat_answers {
  using type = pack<A>;
};
template <class... As>
struct flat_answers<std::tuple<As...>> {
  using type = typename joined_packs<typename flat_answers<As>::type...>::type;
};
template <class A, class F>
void for_each_answer(A const& a, F const& f) {
  if constexpr (requires { std::tuple_size<A>::value; })
    std::apply([&](auto const&... one) { (for_each_answer(one, f), ...); }, a);
  else
    f(a);
}

template <class T>
inline constexpr bool is_array_of_answers = false;
template <class T, int Rank>
inline constexpr bool is_array_of_answers<mdarray<T, Rank>> = true;

/// Whether an output takes an answer.
template <class Output, class Answer>
inline constexpr bool takes_group = false;
template <class T, class Answer>
inline constexpr bool takes_group<variable_output<T>, Answer> = takes<output<T>, Answer>;
template <class T, class Answer>
inline constexpr bool takes_group<pointer_output<T>, Answer> = takes<output<T>, Answer>;
template <class T, class Answer, int Rank>
inline constexpr bool takes_group<variable_output<T>, mdarray<Answer, Rank>> = false;
template <class T, class Answer, int Rank>
inline constexpr bool takes_group<pointer_output<T>, mdarray<Answer, Rank>> = takes<output<T>, Answer>;
template <class T, class Answer, int Rank>
inline constexpr bool takes_group<range_output<T>, mdarray<Answer, Rank>> = takes<output<T>, Answer>;

template <class Outputs, class Answers>
inline constexpr bool all_groups_taken = false;
template <class... Outputs, class... Answers>
  requires(sizeof...(Outputs) == sizeof...(Answers))
inline constexpr bool all_groups_taken<pack<Outputs...>, pack<Answers...>> = (true && ... && takes_group<Outputs, Answers>);

template <class R, class... Options, class... Outputs>
constexpr auto judge_run_into_grouped(pack<Options...> const*, pack<Outputs...> const*) {
  if constexpr (!runnable_grouped<R, Options...>) {
    return judge_grouped_call<R, Options...>();
  } else {
    using Answers = typename flat_answers<decltype(run(std::declval<R const&>(), std::declval<Options>()...))>::type;
    if constexpr (all_groups_taken<pack<Outputs...>, Answers>)
      return allowed{};
    else
      return reason<because::run_into_needs_an_output_for_each_answer<Answers, pack<Outputs...>>>{};
  }
}
template <class R, class... Arguments>
using verdict_on_run_into_grouped = decltype(judge_run_into_grouped<R>(static_cast<options_in<Arguments...>*>(nullptr),
                                                                       static_cast<group_outputs_in<Arguments...>*>(nullptr)));
template <class R, class... Arguments>
concept runnable_into_grouped = grouped_reduction<R> && std::same_as<verdict_on_run_into_grouped<R, Arguments...>, allowed>;

template <class T>
void check_group_output(variable_output<T> const&, int) {}
template <class T>
void check_group_output(pointer_output<T> const& o, int number) {
  if (o.to == nullptr)
    throw null_column("output " + std::to_string(number) + " is a null pointer.");
}
template <class T>
void check_group_output(range_output<T> const& o, int number) {
  if (o.to == nullptr && o.room > 0)
    throw null_column("output " + std::to_string(number) + " is a null pointer.");
}
/// A range holds as many answers as there are.
template <class Output>
void check_room(Output const& o, i64 answers, int number) {
  if constexpr (requires { o.room; })
    if (o.room != answers)
      throw extent_mismatch("output " + std::to_string(number) + " has room for " + std::to_string(o.room) + " answers, there are " +
                            std::to_string(answers) + ".");
}
template <class Answer>
i64 answers_in(Answer const& a) {
  if constexpr (is_array_of_answers<Answer>)
    return static_cast<i64>(a.size());
  else
    return 1;
}
/// The GPU whose memory an output lies in; -1 for what the host can write.
template <class T>
int device_of_group(variable_output<T> const&) {
  return -1;
}
template <class Output>
int device_of_group(Output const& o) {
  return device_of(output<std::remove_pointer_t<decltype(o.to)>>{o.to, true});
}

/// The answers of one output in its type.
template <class T, class Answer>
auto answers_as(Answer const& a) {
  auto const* from_there = [&] {
    if constexpr (is_array_of_answers<Answer>)
      return a.data();
    else
      return &a;
  }();
  std::vector<T> out;
  out.reserve(static_cast<std::size_t>(answers_in(a)));
  for (i64 i = 0; i < answers_in(a); ++i)
    out.push_back(T{from_there[i]});
  return out;
}

/// Checks every output against its answer; then copies those that belong on devices and waits; then writes those of the host.
template <class Outputs, class Answers>
void deliver_groups(Outputs const& outputs, Answers const& answers, gpu::stream_ref queue, int queue_ordinal) {
  constexpr int count = Outputs::size;
  auto const visit = [&](auto const& f) {
    int at = 0;
    for_each_answer(answers, [&](auto const& a) {
      for_each_index<count>([&](auto i) {
        if constexpr (takes_group<std::remove_cvref_t<decltype(get<i>(outputs))>, std::remove_cvref_t<decltype(a)>>)
          if (i == at)
            f(get<i>(outputs), a, int(i));
      });
      ++at;
    });
  };
  visit([](auto const& o, auto const& a, int i) { check_room(o, answers_in(a), i + 1); });
  auto const queue_on = [&](int ordinal) { return ordinal == queue_ordinal ? queue : gpu::stream_ref{}; };
  auto const to_device = [&](auto const& o, auto const& a, int) {
    using T = std::remove_pointer_t<decltype(o.to)>;
    if constexpr (std::is_trivially_copyable_v<T>)
      if (int const ordinal = device_of_group(o); ordinal >= 0) {
        auto const values = answers_as<T>(a);
        if (!values.empty()) {
          gpu::copy(o.to, values.data(), values.size() * sizeof(T), ordinal, queue_on(ordinal));
          gpu::wait(ordinal, queue_on(ordinal));
        }
      }
  };
  visit(to_device);
  visit([](auto const& o, auto const& a, int) {
    using T = std::remove_pointer_t<decltype(o.to)>;
    if (device_of_group(o) >= 0)
      return;
    auto* to = o.to;
    if constexpr (is_array_of_answers<std::remove_cvref_t<decltype(a)>>)
      for (auto const& x : a)
        *to++ = T{x};
    else
      *to = T{a};
  });
}

/// Groups along axes that a GPU can write by itself: the outputs are memory of the GPU that runs it, in the types of the answers.
template <class Domain>
inline constexpr bool is_along_axes = false;
template <int Rank, u32 Reduced, class Program, class Nodes>
inline constexpr bool is_along_axes<domain<groups_along_axes<Rank, Reduced>, Program, Nodes>> = true;

template <class Program, class... Nodes, class... Outputs>
bool takes_from_kernel(pack<Nodes...> const*, pack<Outputs...> const& outputs, int ordinal, answer_arrays& to) {
  if constexpr ((true && ... && std::same_as<decltype(Outputs::to), group_answer_of<Nodes, Program>*>)) {
    bool every = true;
    for_each_index<int(sizeof...(Outputs))>([&](auto i) {
      to.at[i] = get<i>(outputs).to;
      every = every && device_of_group(get<i>(outputs)) == ordinal;
    });
    return every;
  } else {
    return false;
  }
}

/// The GPU that holds the columns of a pipe; -1: none.
template <class Pipe>
int home_of_source(Pipe const& pipe) {
  auto b = bind_to(pipe, pack<>{});
  if (gpu::device_count() == 0 || b.program.extent == 0)
    return -1;
  gpu::column_place places[max_sources]{};
  places_of(b.program, places);
  return gpu::home_of(places, decltype(b.program.columns)::size);
}

/// Runs a reduction that is one grouping along axes so that its kernel writes the outputs; false where it cannot.
template <class... Options, class R, class Outputs>
bool written_by_kernel(R const& r, Outputs const& outputs, on::gpu_place where, contract c) {
  if constexpr (decltype(r.folds)::size == 1) {
    auto const d = r.folds.first.bind(pipe_for<Options...>(r.pipe));
    using Domain = std::remove_cvref_t<decltype(d)>;
    if constexpr (is_along_axes<Domain> && !any_checked(leaves_of<decltype(Domain::program)>)) {
      using Program = decltype(Domain::program);
      using Where = decltype(Domain::where);
      axes_layout const at = layout_of(d.program, r.pipe.source, Where::is_reduced);
      if (gpu::device_count() == 0 || at.groups == 0 || at.extent == 0 || Program::leaf_count == 0)
        return false;
      check_folds(d.program.leaves);
      auto p = d.program;
      where.ordinal = ordinal_for(p, at, where);
      answer_arrays to{};
      if (!takes_from_kernel<Program>(static_cast<decltype(Domain::nodes) const*>(nullptr), outputs, where.ordinal, to))
        return false;
      for_each_index<Outputs::size>([&](auto i) { check_room(get<i>(outputs), at.groups, i + 1); });
      gpu::staged_columns staged;
      queue_groups(p, d.nodes, at, where, c, to, staged);
      gpu::wait(where.ordinal, where.queue);
      return true;
    }
  }
  return false;
}

} // namespace detail

/// Computes a reduction with groupings and writes its answers, one output each, in order; every fold of a grouping is an answer. A value
/// goes into a variable or through a pointer; an array through a pointer to memory of the host or of a device with room for it, or into a
/// contiguous range of exactly its size, else extent_mismatch. Options and errors are those of run_into of a reduction.
template <grouped_reduction R, class... Arguments>
  requires detail::runnable_into_grouped<R, Arguments...>
void run_into(R const& r, Arguments&&... arguments) {
  auto const options = join_all(detail::option_of(arguments)...);
  auto const outputs = join_all(detail::group_output_of(arguments)...);
  for_each_index<std::remove_cvref_t<decltype(outputs)>::size>([&](auto i) { detail::check_group_output(get<i>(outputs), i + 1); });
  unpack(
      [&]<class... Options>(Options... o) {
        auto const where = detail::place_in(o...);
        if constexpr (std::same_as<std::remove_cvref_t<decltype(where)>, on::gpu_place>) {
          check_source(r.pipe.source);
          if (!detail::written_by_kernel<Options...>(r, outputs, where, detail::contract_in(o...)))
            detail::deliver_groups(outputs, run(r, o...), where.queue, where.ordinal < 0 ? 0 : where.ordinal);
        } else {
          if constexpr (std::same_as<std::remove_cvref_t<decltype(where)>, on::any_place> && detail::runnable_grouped<R, Options..., on::gpu_place>) {
            check_source(r.pipe.source);
            if (int const home = detail::home_of_source(r.pipe); home >= 0)
              if (detail::written_by_kernel<Options...>(r, outputs, on::gpu(home), detail::contract_in(o...)))
                return;
          }
          detail::deliver_groups(outputs, run(r, o...), {}, -1);
        }
      },
      options);
}

/// What run refuses, and outputs that do not hold the answers, are refused, and the type says why.
template <grouped_reduction R, class... Arguments>
  requires(!looks_back<R> && !detail::runnable_into_grouped<R, Arguments...>)
auto run_into(R const&, Arguments&&...) -> typename detail::verdict_on_run_into_grouped<R, Arguments...>::type {
  return {};
}

} // namespace tally::v0
