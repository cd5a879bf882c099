// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verbs enqueue and prepare: a reduction from device memory to device memory, queued on a stream and not waited for, also while the
// stream is captured into a graph. Layer 5. Nothing comes to the host, so what only the data can make wrong is not told.
#pragma once

#include <tally/run/gpu_finish.hpp>
#include <tally/run/run_into_grouped.hpp>

namespace tally::inline v0 {

namespace detail {

/// What an enqueued reduction folds, as a domain: folds of the whole source are one group, whose bits are those of run.
struct whole_source {};
template <class... Options, class R>
constexpr auto enqueued_domain(R const& r) {
  if constexpr (is_grouped<R>) {
    return r.folds.first.bind(pipe_for<Options...>(r.pipe));
  } else {
    auto b = bind_for<Options...>(r);
    return domain<whole_source, decltype(b.program), decltype(b.nodes)>{{}, b.program, b.nodes};
  }
}
template <class Domain>
inline constexpr bool is_enqueued = is_along_axes<Domain>;
template <class Program, class Nodes>
inline constexpr bool is_enqueued<domain<whole_source, Program, Nodes>> = true;
template <class Offset, class Program, class Nodes>
inline constexpr bool is_enqueued<domain<groups_between_offsets<Offset>, Program, Nodes>> = true;

template <class Program, class Nodes, class Outputs>
inline constexpr bool are_pointers_to_answers = false;
template <class Program, class... Nodes, class... Ts>
  requires(sizeof...(Nodes) == sizeof...(Ts))
inline constexpr bool are_pointers_to_answers<Program, pack<Nodes...>, pack<pointer_output<Ts>...>> =
    (true && ... && std::same_as<Ts, group_answer_of<Nodes, Program>>);

template <class... Folds>
constexpr bool some_may_be_absent(pack<Folds...> const*) {
  return (may_be_absent<Folds> || ...);
}
template <class R, class... Options, class... Outputs>
constexpr auto judge_domain_of(pack<Outputs...> const*) {
  using Domain = decltype(enqueued_domain<Options...>(std::declval<R const&>()));
  if constexpr (is_enqueued<Domain>) {
    using Program = decltype(Domain::program);
    if constexpr (!any_checked<Program> && are_pointers_to_answers<Program, decltype(Domain::nodes), pack<Outputs...>>)
      return allowed{};
    else
      return reason<because::enqueue_needs_a_kernel_that_finishes<because::type_of<R>, Outputs...>>{};
  } else {
    return reason<because::enqueue_needs_a_kernel_that_finishes<because::type_of<R>>>{};
  }
}
/// Why a call of enqueue is refused, as a verdict: what run refuses on a GPU, and what no kernel finishes.
template <class R, class... Options, class Outputs>
constexpr auto judge_enqueue(pack<Options...> const*, Outputs const* outputs) {
  if constexpr (refused<R> || !finished<R>)
    return judge_run<R, on::gpu_place>();
  else if constexpr (looks_back<R> || ((place<Options> && !std::same_as<Options, on::gpu_place>) || ...))
    return reason<because::enqueue_needs_a_kernel_that_finishes<because::type_of<R>>>{};
  else if constexpr (is_grouped<R>) {
    if constexpr (!runnable_grouped<R, Options...>)
      return judge_grouped_call<R, Options...>();
    else if constexpr (!std::same_as<decltype(judge_run_grouped<on::gpu_place, Options...>(static_cast<R const*>(nullptr))), allowed>)
      return judge_run_grouped<on::gpu_place, Options...>(static_cast<R const*>(nullptr));
    else if constexpr (decltype(R::folds)::size != 1)
      return reason<because::enqueue_needs_a_kernel_that_finishes<because::type_of<R>>>{};
    else
      return judge_domain_of<R, Options...>(outputs);
  } else if constexpr (!runnable<R, Options...>)
    return judge_call<R, Options...>();
  else if constexpr (some_may_be_absent(static_cast<decltype(R::folds) const*>(nullptr)))
    return reason<because::enqueue_needs_a_kernel_that_finishes<because::type_of<R>>>{};
  else
    return first_reason<decltype(judge_run<R, on::gpu_place, Options...>()), decltype(judge_domain_of<R, Options...>(outputs))>();
}
template <class R, class... Arguments>
using verdict_on_enqueue =
    decltype(judge_enqueue<R>(static_cast<options_in<Arguments...>*>(nullptr), static_cast<group_outputs_in<Arguments...>*>(nullptr)));
template <class R, class... Arguments>
concept enqueueable = std::same_as<verdict_on_enqueue<R, Arguments...>, allowed>;

/// One call: where, how, to what, and whether anything is queued.
struct enqueue_call {
  on::gpu_place where;
  contract promise;
  answer_arrays to;
  bool launches;
};

template <class... Ts>
constexpr std::size_t most_bytes() {
  std::size_t most = 0;
  ((most = sizeof(Ts) > most ? sizeof(Ts) : most), ...);
  return most;
}

/// The answers of groups that nothing is folded of.
template <class Program, class Nodes>
void enqueue_answers(Program const& p, Nodes const& nodes, i64 groups, enqueue_call const& call) {
  static gpu::kernel_cell cell;
  gpu::enqueue({&group_type_of<Program, Nodes>(), &cell, &p, &nodes, groups, call.to, call.where.ordinal, call.where.queue, call.launches});
}

template <class Program>
int place_on_gpu(Program& p, gpu::column_place* places, on::gpu_place where) {
  constexpr int count = decltype(p.columns)::size;
  int const home = where.ordinal >= 0 ? where.ordinal : gpu::home_of(places, count);
  check_gpu_can_keep(places, count, home < 0 ? 0 : home);
  return home < 0 ? 0 : home;
}

template <class Program, class... Nodes, class Source>
void enqueue_groups(domain<whole_source, Program, pack<Nodes...>> const& d, Source const&, enqueue_call& call) {
  static gpu::kernels_of<plan> kernels;
  auto p = d.program;
  gpu::column_place places[max_sources]{};
  if (p.extent > 0)
    places_of(p, places);
  call.where.ordinal = place_on_gpu(p, places, call.where);
  if (p.extent == 0 || Program::leaf_count == 0) // count alone is the extent
    return enqueue_answers(p, d.nodes, 1, call);
  answers_at<pack<Nodes...>> const answers{d.nodes, call.to};
  gpu::answers_in_kernel const finished{&group_type_of<Program, pack<Nodes...>>(), &kernels, &answers, call.to.at, int(sizeof...(Nodes)),
                                        most_bytes<group_answer_of<Nodes, Program>...>()};
  auto request = request_for(p, call.where, call.promise);
  request.f.queued = true;
  request.finished = &finished;
  request.launches = call.launches;
  gpu::enqueue(request);
}

template <int Rank, u32 Reduced, class Program, class Nodes, class Source>
void enqueue_groups(domain<groups_along_axes<Rank, Reduced>, Program, Nodes> const& d, Source const& s, enqueue_call& call) {
  axes_layout const at = layout_of(s, groups_along_axes<Rank, Reduced>::is_reduced);
  auto p = d.program;
  gpu::column_place places[max_sources]{};
  if (at.groups > 0 && at.extent > 0)
    places_in_grid(p, at, places);
  call.where.ordinal = place_on_gpu(p, places, call.where);
  gpu::staged_columns staged;
  if (at.groups > 0 && (at.extent == 0 || Program::leaf_count == 0)) {
    p.extent = at.extent;
    enqueue_answers(p, d.nodes, at.groups, call);
  } else if (at.groups > 0) {
    queue_groups(p, d.nodes, at, call.where, call.promise, call.to, staged, call.launches);
  }
}

template <class Offset, class Program, class Nodes, class Source>
void enqueue_groups(domain<groups_between_offsets<Offset>, Program, Nodes> const& d, Source const&, enqueue_call& call) {
  check_entries(d.where);
  auto p = d.program;
  gpu::column_place places[max_sources]{};
  if (p.extent > 0)
    places_of(p, places);
  call.where.ordinal = place_on_gpu(p, places, call.where);
  check_gpu_can_keep(d.where.offsets, "the memory of offsets", 0, call.where.ordinal);
  if (d.where.count != nullptr)
    check_gpu_can_keep(d.where.count, "the number of segments", 0, call.where.ordinal);
  if (d.where.segments() == 0)
    return;
  auto request = segments_request_for(d, p, 0, call.where, call.promise);
  request.to = call.to;
  request.told = false;
  request.launches = call.launches;
  gpu::staged_columns staged;
  gpu::enqueue(request, staged);
}

template <class R, class... Arguments>
void enqueue_or_prepare(bool launches, R const& r, Arguments&... arguments) {
  auto const options = join_all(option_of(arguments)...);
  auto const outputs = join_all(group_output_of(arguments)...);
  constexpr int count = std::remove_cvref_t<decltype(outputs)>::size;
  for_each_index<count>([&](auto i) { check_group_output(get<i>(outputs), i + 1); });
  check_source(r.pipe.source);
  unpack(
      [&]<class... Options>(Options... o) {
        auto const d = enqueued_domain<Options...>(r);
        check_folds(d.program.leaves);
        if (gpu::device_count() == 0)
          throw no_gpu(gpu::why_no_device());
        enqueue_call call{{}, contract_in(o...), {}, launches};
        if constexpr ((place<Options> || ...))
          call.where = place_in(o...);
        if (call.where.ordinal < 0)
          (void)gpu::residence_of(get<0>(outputs).to, &call.where.ordinal);
        for_each_index<count>([&](auto i) {
          call.to.at[i] = get<i>(outputs).to;
          check_gpu_can_keep(get<i>(outputs).to, "output ", i + 1, call.where.ordinal < 0 ? 0 : call.where.ordinal);
        });
        enqueue_groups(d, r.pipe.source, call);
      },
      options);
}

} // namespace detail

/// Queues a reduction on the stream of a GPU and returns. The columns, the offsets and the outputs, one pointer an answer with room for
/// all of it, are in memory of that GPU (or managed) and stay as they are until the stream has passed. Answers are those of run, but an
/// empty input has the answer of the identity, as an empty group has. A first call compiles and allocates; after it, or after prepare, on
/// the same stream the stream may be under capture. Offsets that fall or leave the source make their answers unspecified; a counted number of
/// segments is taken into [0, most]. Throws what run throws of columns, null_column, wrong_residence, and what a GPU can report.
template <class R, class... Arguments>
  requires detail::enqueueable<R, Arguments...>
void enqueue(R const& r, Arguments&&... arguments) {
  detail::enqueue_or_prepare(true, r, arguments...);
}
/// Everything that enqueue of the same would compile, load and allocate, and nothing queued.
template <class R, class... Arguments>
  requires detail::enqueueable<R, Arguments...>
void prepare(R const& r, Arguments&&... arguments) {
  detail::enqueue_or_prepare(false, r, arguments...);
}

/// What no kernel finishes is refused, and the type says why.
template <class R, class... Arguments>
  requires(!detail::enqueueable<R, Arguments...>)
auto enqueue(R const&, Arguments&&...) -> typename detail::verdict_on_enqueue<R, Arguments...>::type {
  return {};
}
template <class R, class... Arguments>
  requires(!detail::enqueueable<R, Arguments...>)
auto prepare(R const&, Arguments&&...) -> typename detail::verdict_on_enqueue<R, Arguments...>::type {
  return {};
}

} // namespace tally::inline v0
