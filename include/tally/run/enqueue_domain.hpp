// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One domain of a reduction from device memory to device memory, queued and not waited for: the whole source, groups along axes, groups
// between offsets, bins. Layer 5.
#pragma once

#include <tally/run/gpu_finish.hpp>
#include <tally/run/gpu_one_segment.hpp>
#include <tally/run/run_into_grouped.hpp>
#include <tally/run/run_keyed.hpp>

namespace tally::v0::detail {

/// Folds of the whole source as a domain: one group, whose bits are those of run.
struct whole_source {};
template <class Domain>
inline constexpr bool is_enqueued = is_along_axes<Domain>;
template <class Program, class Nodes>
inline constexpr bool is_enqueued<domain<whole_source, Program, Nodes>> = true;
template <class Offset, class Program, class Nodes>
inline constexpr bool is_enqueued<domain<groups_between_offsets<Offset>, Program, Nodes>> = true;
/// Of folds by key those that have no stray to tell of.
template <int Rank, u32 Reduced, int Dims, class Key, class Mask, class Program, class Nodes, class Direct>
inline constexpr bool is_enqueued<keyed_domain<groups_by_key<Rank, Reduced, Dims, Key, Mask, true>, Program, Nodes, Direct>> = true;

/// One call: where, how, and whether anything is queued.
struct enqueue_call {
  on::gpu_place where;
  contract promise;
  bool launches;
};

template <class Program>
int gpu_that_keeps(Program const&, gpu::column_place* places, on::gpu_place where) {
  constexpr int count = decltype(Program::columns)::size;
  int const home = where.ordinal >= 0 ? where.ordinal : gpu::home_of(places, count);
  check_gpu_can_keep(places, count, home < 0 ? 0 : home);
  return home < 0 ? 0 : home;
}
/// The GPU that has all that a domain reads. Throws where none has, and what is wrong with the entries of offsets.
template <class Program, class Nodes, class Source>
int gpu_that_keeps(domain<whole_source, Program, Nodes> const& d, Source const&, on::gpu_place where) {
  auto p = d.program;
  gpu::column_place places[max_sources]{};
  if (p.extent > 0)
    places_of(p, places);
  return gpu_that_keeps(p, places, where);
}
template <class Where, class Program, class Nodes, class Source>
  requires requires { Where::is_reduced(0); }
int gpu_that_keeps(domain<Where, Program, Nodes> const& d, Source const& s, on::gpu_place where) {
  axes_layout const at = layout_of(d.program, s, Where::is_reduced);
  auto p = d.program;
  gpu::column_place places[max_sources]{};
  if (at.groups > 0 && at.extent > 0)
    places_in_grid(p, at, places);
  return gpu_that_keeps(p, places, where);
}
template <class Offset, class Program, class Nodes, class Source>
int gpu_that_keeps(domain<groups_between_offsets<Offset>, Program, Nodes> const& d, Source const& s, on::gpu_place where) {
  check_entries(d.where);
  int const home = gpu_that_keeps(domain<whole_source, Program, Nodes>{{}, d.program, d.nodes}, s, where);
  check_gpu_can_keep(d.where.offsets, "the memory of offsets", 0, home);
  if (d.where.count != nullptr)
    check_gpu_can_keep(d.where.count, "the number of segments", 0, home);
  return home;
}

/// The answers of groups that nothing is folded of.
template <class Program, class Nodes>
void enqueue_answers(Program const& p, Nodes const& nodes, i64 groups, answer_arrays const& to, enqueue_call const& call) {
  static gpu::kernel_cell cell;
  gpu::enqueue({&group_type_of<Program, Nodes>(), &cell, &p, &nodes, groups, to, call.where.ordinal, call.where.queue, call.launches});
}

/// Folds of the whole source, whose kernel makes the answers.
template <class Program, class Nodes>
class whole_to_enqueue {
  static gpu::kernels_of<plan>& kernels() {
    static gpu::kernels_of<plan> all;
    return all;
  }
  template <class... Ns>
  static gpu::answers_in_kernel in_kernel(answers_at<pack<Ns...>> const& a) {
    return {&group_type_of<Program, Nodes>(), &a, a.to.at, sizeof...(Ns), most_bytes<group_answer_of<Ns, Program>...>()};
  }
  Program program_;
  answers_at<Nodes> answers_;
  gpu::answers_in_kernel finished_;

public:
  gpu::full_request request;
  whole_to_enqueue(Program const& p, Nodes const& nodes, answer_arrays const& to, enqueue_call const& call)
      : program_(p), answers_{nodes, to}, finished_(in_kernel(answers_)), request(request_for(program_, call.where, call.promise)) {
    request.kernels = &kernels();
    request.f.queued = true;
    request.finished = &finished_;
    request.launches = call.launches;
  }
  whole_to_enqueue(whole_to_enqueue const&) = delete;
};
template <class Program, class... Nodes, class Source>
void enqueue_domain(domain<whole_source, Program, pack<Nodes...>> const& d, Source const&, answer_arrays const& to, enqueue_call const& call) {
  if (d.program.extent == 0 || Program::leaf_count == 0) // count alone is the extent
    return enqueue_answers(d.program, d.nodes, 1, to, call);
  whole_to_enqueue<Program, pack<Nodes...>> whole(d.program, d.nodes, to, call);
  gpu::enqueue(whole.request);
}

template <int Rank, u32 Reduced, class Program, class Nodes, class Source>
void enqueue_domain(domain<groups_along_axes<Rank, Reduced>, Program, Nodes> const& d, Source const& s, answer_arrays const& to,
                    enqueue_call const& call) {
  axes_layout const at = layout_of(d.program, s, groups_along_axes<Rank, Reduced>::is_reduced);
  auto p = d.program;
  gpu::staged_columns staged;
  if (at.groups > 0 && (at.extent == 0 || Program::leaf_count == 0)) {
    p.extent = at.extent;
    enqueue_answers(p, d.nodes, at.groups, to, call);
  } else if (at.groups > 0) {
    queue_groups(p, d.nodes, at, call.where, call.promise, to, staged, call.launches);
  }
}

/// What lies between two offsets: its size is read by the kernel, and nothing is cleared in front of it. False where it has no room for the states.
template <class Offset, class Program, class... Nodes>
bool enqueue_one_segment(domain<groups_between_offsets<Offset>, Program, pack<Nodes...>> const& d, answer_arrays const& to, enqueue_call const& call) {
  static gpu::kernels_of<one_segment_plan> kernels;
  auto p = d.program;
  gpu::one_segment_request request{&group_type_of<Program, pack<Nodes...>>(), &kernels, offset_text<Offset>(), sizeof(Offset),
                                   words_of(static_cast<typename Program::states const*>(nullptr)), &p, &d.nodes, {},
                                   facts_of(p, target{}, call.promise), d.where.offsets, to, sizeof...(Nodes), most_bytes<group_answer_of<Nodes, Program>...>(),
                                   call.where.ordinal, call.where.queue, call.launches};
  request.f.queued = true;
  if (!holds_one_segment(request.f, sizeof(typename Program::states)))
    return false;
  if (p.extent > 0)
    places_of(p, request.columns);
  gpu::enqueue(request);
  return true;
}

template <class Offset, class Program, class Nodes, class Source>
void enqueue_domain(domain<groups_between_offsets<Offset>, Program, Nodes> const& d, Source const&, answer_arrays const& to,
                    enqueue_call const& call) {
  if (d.where.segments() == 0)
    return;
  if constexpr (Program::leaf_count > 0)
    if (d.where.segments() == 1 && d.where.count == nullptr && enqueue_one_segment(d, to, call))
      return;
  auto read = read_of(d, 0, d.program.extent);
  read.memory.to = to;
  auto request = segments_request_for(read, 0, call.where, call.promise);
  request.told = false;
  request.launches = call.launches;
  gpu::staged_columns staged;
  gpu::enqueue(request, staged);
}

template <bool Sorted, class Where, class Program, class Nodes, class Source>
void enqueue_bins(domain<Where, Program, Nodes> const& d, Source const& s, answer_arrays const& to, enqueue_call const& call) {
  static kernels_by_key<Sorted> kernels;
  axes_layout const at = layout_of(d.program, s, Where::is_reduced);
  check_bins(d.where, at.groups);
  auto p = d.program;
  i64 const slots = d.where.bins * at.groups;
  if (slots > 0 && at.extent == 0) {
    p.extent = 1; // as everywhere else by key: answers know their counts
    enqueue_answers(p, d.nodes, slots, to, call);
  } else if (slots > 0) {
    p.extent = at.extent;
    auto r = keys_request_for(d, p, at, call.where, call.promise);
    r.to = to;
    r.enqueued = true;
    r.launches = call.launches;
    gpu::keys_in_flight flight{};
    gpu::enqueue(r, kernels, flight);
  }
}
template <class Where, class Program, class Nodes, class Direct, class Source>
void enqueue_domain(keyed_domain<Where, Program, Nodes, Direct> const& d, Source const& s, answer_arrays const& to, enqueue_call const& call) {
  using Keyed = std::remove_cvref_t<decltype(d)>;
  auto const& exactly = static_cast<typename Keyed::exact_domain const&>(d);
  if constexpr (folds_as_they_are<true, Keyed>)
    if (call.promise == contract::fast && !(has_exact_folds<Keyed> && takes_exact(d.direct, exactly, s, call.where, call.promise)))
      return enqueue_bins<is_sorted<true, Keyed>>(d.direct, s, to, call);
  enqueue_bins<is_sorted<false, Keyed>>(exactly, s, to, call);
}

} // namespace tally::v0::detail
