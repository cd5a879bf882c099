// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verbs enqueue and prepare: a reduction from device memory to device memory, queued on a stream and not waited for, also while the
// stream is captured into a graph. Layer 5. Nothing comes to the host, so what only the data can make wrong is not told.
#pragma once

#include <tally/run/enqueue_domain.hpp>
#include <tally/run/enqueue_in_turns.hpp>

namespace tally::v0 {

namespace detail {

/// Item I of a reduction as a domain, under the contract among the options; folds of the whole source are one domain together.
template <int I, class... Options, class R>
constexpr auto domain_of_item(R const& r) {
  return get<I>(r.folds).bind(pipe_for<Options...>(r.pipe));
}
template <class... Options, class R>
constexpr auto whole_domain(R const& r) {
  auto const of = [](auto const& b) { return domain<whole_source, std::remove_cvref_t<decltype(b.program)>, std::remove_cvref_t<decltype(b.nodes)>>{{}, b.program, b.nodes}; };
  if constexpr (is_grouped<R>)
    return of(bind_to(pipe_for<Options...>(r.pipe), whole_folds(r.folds)));
  else
    return of(bind_for<Options...>(r));
}
template <int I, class R>
inline constexpr bool is_grouping_item = grouping<std::remove_cvref_t<decltype(get<I>(std::declval<R const&>().folds))>>;

/// How many answers item I has, and how many those before it have.
template <int I, class R, class... Options>
constexpr int answers_of_item() {
  if constexpr (is_grouping_item<I, R>)
    return decltype(domain_of_item<I, Options...>(std::declval<R const&>()).nodes)::size;
  else
    return 1;
}
template <int I, class R, class... Options>
constexpr int answers_before() {
  int n = 0;
  for_each_index<I>([&](auto k) { n += answers_of_item<k, R, Options...>(); });
  return n;
}
/// The outputs of item I, and of the folds of the whole source.
template <int I, class R, class... Options, class Outputs>
constexpr auto outputs_of_item(Outputs const& all) {
  return [&]<int... K>(index_list<K...>) {
    return make_pack(get<answers_before<I, R, Options...>() + K>(all)...);
  }(indices_up_to<answers_of_item<I, R, Options...>()>{});
}
template <class R, class... Options, class Outputs>
constexpr auto outputs_of_whole(Outputs const& all) {
  return [&]<int... I>(index_list<I...>) {
    auto const of = [&]<int K>(index_constant<K>) {
      if constexpr (is_grouping_item<K, R>)
        return pack<>{};
      else
        return outputs_of_item<K, R, Options...>(all);
    };
    return join_all(of(index_constant<I>{})...);
  }(indices_up_to<decltype(R::folds)::size>{});
}
template <class... Outputs>
answer_arrays places_of_outputs(pack<Outputs...> const& outputs) {
  answer_arrays to{};
  for_each_index<int(sizeof...(Outputs))>([&](auto i) { to.at[i] = get<i>(outputs).to; });
  return to;
}

template <class Program, class Nodes, class Outputs>
inline constexpr bool are_pointers_to_answers = false;
template <class Program, class... Nodes, class... Ts>
  requires(sizeof...(Nodes) == sizeof...(Ts))
inline constexpr bool are_pointers_to_answers<Program, pack<Nodes...>, pack<pointer_output<Ts>...>> =
    (true && ... && std::same_as<Ts, group_answer_of<Nodes, Program>>);
/// Whether kernels finish a domain by themselves, and whether these outputs are where.
template <class Domain>
inline constexpr bool finishes = false;
template <class Domain>
  requires is_enqueued<Domain>
inline constexpr bool finishes<Domain> = !any_checked(leaves_of<decltype(Domain::program)>);
template <class Domain, class Outputs>
inline constexpr bool takes_answers = are_pointers_to_answers<decltype(Domain::program), decltype(Domain::nodes), Outputs>;

template <class... Folds>
constexpr bool some_may_be_absent(pack<Folds...> const*) {
  return (may_be_absent<Folds> || ...);
}
/// Why a reduction that run takes on a GPU is refused, as a verdict: what no kernel finishes, and outputs of other types or numbers.
template <class R, class... Options, class... Outputs>
constexpr auto judge_domains(pack<Outputs...> const*) {
  constexpr int items = decltype(R::folds)::size;
  constexpr bool all_finish = []<int... I>(index_list<I...>) {
    return (true && ... && [] {
      if constexpr (is_grouping_item<I, R>)
        return finishes<decltype(domain_of_item<I, Options...>(std::declval<R const&>()))>;
      else
        return true;
    }()) && finishes<decltype(whole_domain<Options...>(std::declval<R const&>()))> &&
           !some_may_be_absent(static_cast<decltype(whole_folds(std::declval<R const&>().folds)) const*>(nullptr));
  }(indices_up_to<items>{});
  if constexpr (!all_finish) {
    return reason<because::enqueue_needs_a_kernel_that_finishes<because::type_of<R>>>{};
  } else if constexpr (answers_before<items, R, Options...>() != int(sizeof...(Outputs))) {
    return reason<because::enqueue_needs_a_kernel_that_finishes<because::type_of<R>, Outputs...>>{};
  } else {
    using All = pack<Outputs...>;
    constexpr bool all_taken = []<int... I>(index_list<I...>) {
      return (true && ... && [] {
        if constexpr (is_grouping_item<I, R>)
          return takes_answers<decltype(domain_of_item<I, Options...>(std::declval<R const&>())),
                               decltype(outputs_of_item<I, R, Options...>(std::declval<All const&>()))>;
        else
          return true;
      }()) && takes_answers<decltype(whole_domain<Options...>(std::declval<R const&>())), decltype(outputs_of_whole<R, Options...>(std::declval<All const&>()))>;
    }(indices_up_to<items>{});
    if constexpr (all_taken)
      return allowed{};
    else
      return reason<because::enqueue_needs_a_kernel_that_finishes<because::type_of<R>, Outputs...>>{};
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
    else
      return first_reason<decltype(judge_run_grouped<on::gpu_place, Options...>(static_cast<R const*>(nullptr))),
                          decltype(judge_domains<R, Options...>(outputs))>();
  } else if constexpr (!runnable<R, Options...>)
    return judge_call<R, Options...>();
  else
    return first_reason<decltype(judge_run<R, on::gpu_place, Options...>()), decltype(judge_domains<R, Options...>(outputs))>();
}
template <class R, class... Arguments>
using verdict_on_enqueue =
    decltype(judge_enqueue<R>(static_cast<options_in<Arguments...>*>(nullptr), static_cast<group_outputs_in<Arguments...>*>(nullptr)));
template <class R, class... Arguments>
concept enqueueable = std::same_as<verdict_on_enqueue<R, Arguments...>, allowed>;

/// Calls f(domain, places of its answers, item) for every domain of a reduction that has answers; the whole source is item -1.
template <class... Options, class R, class Outputs, class F>
void for_each_domain(R const& r, Outputs const& outputs, F const& f) {
  for_each_index<decltype(R::folds)::size>([&](auto i) {
    if constexpr (is_grouping_item<i, R>)
      f(domain_of_item<i, Options...>(r), places_of_outputs(outputs_of_item<i, R, Options...>(outputs)), index_constant<i>{});
  });
  auto const of_whole = outputs_of_whole<R, Options...>(outputs);
  if constexpr (decltype(outputs_of_whole<R, Options...>(outputs))::size > 0)
    f(whole_domain<Options...>(r), places_of_outputs(of_whole), index_constant<-1>{});
}

/// Queues the columns, rows and whole of a matrix as one read, where they make one, or segments and the whole in turn: which items have their answers
/// by it, a bit each; the whole is the last.
struct enqueued_together {
  u32 items = 0;
  static constexpr u32 bit(int item) { return u32(1) << (item < 0 ? 31 : item); }
  constexpr bool has(int item) const { return (items & bit(item)) != 0; }
};
/// The same of segments that take turns.
template <class... Options, class R, class Outputs>
enqueued_together enqueue_in_turns(R const& r, Outputs const& outputs, enqueue_call const& call) {
  using Pipe = std::remove_cvref_t<decltype(pipe_for<Options...>(r.pipe))>;
  using Items = std::remove_cvref_t<decltype(r.folds)>;
  auto const whole = whole_domain<Options...>(r);
  auto const domains = segments_of_items(r.folds, pipe_for<Options...>(r.pipe));
  segments_to_enqueue<std::remove_cvref_t<decltype(domains)>> segments(domains, call);
  enqueued_together out;
  for_each_index<Items::size>([&](auto i) {
    if constexpr (folds_segments<std::remove_cvref_t<decltype(get<i>(r.folds))>, Pipe>) {
      segments.template answer_to<number_of_segments<i, Pipe>(static_cast<Items const*>(nullptr))>(places_of_outputs(outputs_of_item<i, R, Options...>(outputs)));
      out.items |= out.bit(i);
    }
  });
  if (!segments.enqueue_with(whole, places_of_outputs(outputs_of_whole<R, Options...>(outputs))))
    return {};
  out.items |= decltype(whole.program)::leaf_count > 0 ? out.bit(-1) : 0;
  return out;
}
template <class... Options, class R, class Outputs>
enqueued_together enqueue_together([[maybe_unused]] R const& r, [[maybe_unused]] Outputs const& outputs, [[maybe_unused]] enqueue_call const& call) {
  enqueued_together out;
  if constexpr (is_grouped<R> && decltype(R::folds)::size > 1) {
    constexpr int segments = decltype(segments_of_items(r.folds, pipe_for<Options...>(r.pipe)))::size;
    if constexpr (constexpr mixed_items at = mixed_items_of<R>; at.columns >= 0 || (at.rows >= 0 && segments == 0)) {
      auto const whole = whole_domain<Options...>(r);
      auto read = mixed_read_of<at>(r.folds, pipe_for<Options...>(r.pipe), whole.program.leaves, call.where, call.promise, true);
      if (read.joins()) {
        auto const places_of = [&](auto item) {
          if constexpr (item >= 0) {
            out.items |= out.bit(item);
            return places_of_outputs(outputs_of_item<item, R, Options...>(outputs));
          } else {
            return answer_arrays{};
          }
        };
        auto const columns = places_of(index_constant<at.columns>{}), rows = places_of(index_constant<at.rows>{});
        if constexpr (at.each >= 0) {
          bool const joins = read.planned().total_joins();
          auto const each = joins ? places_of(index_constant<at.each>{}) : answer_arrays{};
          read.queue_each_to(columns, rows, each, call.launches);
        } else {
          read.queue_answers_to(columns, rows, whole.nodes, places_of_outputs(outputs_of_whole<R, Options...>(outputs)), call.launches);
          out.items |= read.planned().total_joins() ? out.bit(-1) : 0;
        }
      }
    } else if constexpr (segments > 0 && segments <= max_segments_in_turns) {
      return enqueue_in_turns<Options...>(r, outputs, call);
    }
  }
  return out;
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
        for_each_domain<Options...>(r, outputs, [](auto const& d, auto const&, auto) { check_folds(d.program.leaves); });
        if (gpu::device_count() == 0)
          throw no_gpu(gpu::why_no_device());
        enqueue_call call{{}, contract_in(o...), launches};
        if constexpr ((place<Options> || ...))
          call.where = place_in(o...);
        if (call.where.ordinal < 0)
          (void)gpu::residence_of(get<0>(outputs).to, &call.where.ordinal);
        for_each_index<count>([&](auto i) {
          check_gpu_can_keep(get<i>(outputs).to, "output ", i + 1, call.where.ordinal < 0 ? 0 : call.where.ordinal);
        });
        for_each_domain<Options...>(r, outputs, [&](auto const& d, auto const&, auto) { call.where.ordinal = gpu_that_keeps(d, r.pipe.source, call.where); });
        auto const together = enqueue_together<Options...>(r, outputs, call);
        for_each_domain<Options...>(r, outputs, [&](auto const& d, answer_arrays const& to, auto item) {
          if (!together.has(item))
            enqueue_domain(d, r.pipe.source, to, call);
        });
      },
      options);
}

} // namespace detail

/// Queues a reduction on the stream of a GPU and returns: folds of the whole source, groupings along axes or between offsets, histograms and
/// folds by key that drop strays. docs/reference/enqueue.md says how many launches each takes. The columns, the offsets and the outputs, one pointer an
/// answer with room for all of it, are in memory of that GPU (or managed) and stay as they are until the stream has passed. Answers are those
/// of run, but an empty input has the answer of the identity, as an empty group has. A first call compiles and allocates; after it, or after
/// prepare, on the same stream the stream may be under capture. Offsets that fall or leave the source make their answers unspecified; a
/// counted number of segments is taken into [0, most]. Throws what run throws of columns, null_column, wrong_residence, and what a GPU can
/// report.
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

} // namespace tally::v0
