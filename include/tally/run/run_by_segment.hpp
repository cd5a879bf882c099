// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A grouping by segment, computed: its offsets are checked, then every segment is folded and its answers stored. Layer 5.
#pragma once

#include <optional>
#include <tuple>

#include <tally/pipeline/by_segment.hpp>
#include <tally/run/cpu_segments.hpp>
#include <tally/run/cpu_turns.hpp>
#include <tally/run/gpu_segments.hpp>
#include <tally/run/run.hpp>
#include <tally/run/run_over.hpp>
#include <tally/run/segments_request.hpp>
#include <tally/run/shared_word.hpp>
#include <tally/run/traits_of_leaves.hpp>

namespace tally::v0 {

namespace detail {

/// Whether an offset below `end` and above `begin` lies below the one before it.
template <class Offset>
bool falls(Offset const* offsets, i64 begin, i64 end) {
  bool found = false;
  for (i64 i = begin; i < end; ++i)
    found |= offsets[i + 1] < offsets[i];
  return found;
}
/// Throws bad_offsets or null_column unless there are offsets at all.
template <class Offset>
void check_entries(groups_between_offsets<Offset> const& at) {
  if (at.entries < 1)
    throw bad_offsets("by_segment has " + std::to_string(at.entries) + " offsets, and n segments take n + 1.");
  if (at.offsets == nullptr)
    throw null_column("the offsets are a null pointer with " + std::to_string(at.entries) + " entries.");
}
/// The offsets of as many segments as are counted. Throws bad_offsets, wrong_residence.
template <class Offset>
groups_between_offsets<Offset> counted(groups_between_offsets<Offset> const& at, bool on_cpu, gpu::stream_ref stream) {
  check_entries(at);
  if (at.count == nullptr)
    return at;
  Offset n{};
  int owner = 0;
  if (gpu::residence_of(at.count, &owner) != gpu::residence::device) {
    n = *at.count;
  } else if (on_cpu) {
    throw wrong_residence("the number of segments is in device memory and the run is on the CPU.");
  } else {
    gpu::copy(&n, at.count, sizeof n, owner, stream);
    gpu::wait(owner, stream);
  }
  if (n < Offset(0) || static_cast<u64>(n) > static_cast<u64>(at.segments()))
    throw bad_offsets(std::to_string(n) + " segments are counted, and there are offsets for " + std::to_string(at.segments()) + ".");
  return at.with(static_cast<i64>(n));
}
template <class Offset>
[[gnu::cold, noreturn]] void throw_negative(Offset first) {
  throw bad_offsets("offset 0 is " + std::to_string(first) + ", below 0.");
}
template <class Offset>
[[gnu::cold, noreturn]] void throw_falling(i64 i, Offset before, Offset o) {
  throw bad_offsets("offset " + std::to_string(i) + " is " + std::to_string(o) + ", the one before it is " + std::to_string(before) + ".");
}
template <class Offset>
[[gnu::cold, noreturn]] void throw_beyond(i64 i, Offset o, i64 extent) {
  throw bad_offsets("offset " + std::to_string(i) + " is " + std::to_string(o) + ", the source has " + std::to_string(extent) + " elements.");
}

/// Throws bad_offsets unless offsets that the host can read are those of an extent.
template <class Offset>
void check_offsets(groups_between_offsets<Offset> const& at, i64 extent, int threads) {
  if (at.offsets[0] < Offset(0))
    throw_negative(at.offsets[0]);
  i64 const steps = at.entries - 1, chunk = 1 << 18, chunks = steps == 0 ? 0 : (steps - 1) / chunk + 1;
  shared_word<bool> wrong;
  if (chunks > 0)
    cpu::detail::spread_over_cores(chunks, threads, [&](i64 c) {
      if (falls(at.offsets, c * chunk, steps < (c + 1) * chunk ? steps : (c + 1) * chunk))
        wrong.store(true);
    });
  if (wrong.load())
    for (i64 i = 1; i <= steps; ++i)
      if (at.offsets[i] < at.offsets[i - 1])
        throw_falling(i, at.offsets[i - 1], at.offsets[i]);
  if (static_cast<u64>(at.offsets[steps]) > static_cast<u64>(extent))
    throw_beyond(steps, at.offsets[steps], extent);
}
/// Throws bad_offsets about offset number `wrong`, which a kernel found in device memory.
template <class Offset>
[[gnu::cold, noreturn]] void throw_wrong(groups_between_offsets<Offset> const& at, i64 wrong, i64 extent, int ordinal, gpu::stream_ref stream) {
  Offset two[2]{};
  i64 const from = wrong > 0 ? wrong - 1 : 0;
  gpu::copy(two, at.offsets + from, sizeof(Offset) * static_cast<std::size_t>(wrong - from + 1), ordinal, stream);
  gpu::wait(ordinal, stream);
  if (wrong == 0)
    throw_negative(two[0]);
  if (two[1] < two[0])
    throw_falling(wrong, two[0], two[1]);
  throw_beyond(wrong, two[1], extent);
}

} // namespace detail

namespace detail {

/// A grouping by segment on the host: its offsets checked, its walk, and its answers.
template <class Domain>
class segments_on_host;
template <class Offset, class Program, class... Nodes>
class segments_on_host<domain<groups_between_offsets<Offset>, Program, pack<Nodes...>>> {
  using domain_type = domain<groups_between_offsets<Offset>, Program, pack<Nodes...>>;
  using arrays = std::tuple<mdarray<group_answer_of<Nodes, Program>, 1>...>;
  struct sink {
    domain_type const& d;
    arrays& to;
    TALLY_INLINE void operator()(i64 s, typename Program::states const& states, i64 n) const {
      check_overflow(d.program.leaves, states);
      for_each_index<int(sizeof...(Nodes))>([&](auto i) TALLY_INLINE_LAMBDA {
        std::get<i>(to)[static_cast<std::size_t>(s)] = group_answer(get<i>(d.nodes), d.program.leaves, states, n);
      });
    }
  };

public:
  /// Throws wrong_residence, bad_offsets and null_column.
  segments_on_host(domain_type const& d, int threads, bool takes_turns)
      : d_(checked(d, threads)), to_(room_for(d_)), walk_(d_.program, d_.where, threads, takes_turns, sink{d_, to_}) {}
  segments_on_host(segments_on_host const&) = delete;
  auto& walk() { return walk_; }
  /// The answers, after all tasks of the walk.
  auto take() {
    walk_.finish();
    if constexpr (sizeof...(Nodes) == 1)
      return std::move(std::get<0>(to_));
    else
      return std::move(to_);
  }

private:
  domain_type d_;
  arrays to_;
  cpu::segments_walk<Program, Offset, sink> walk_;

  static domain_type checked(domain_type d, int threads) {
    d.where = counted(d.where, true, {});
    if (gpu::residence_of(d.where.offsets) == gpu::residence::device)
      throw wrong_residence("the offsets are in device memory and the run is on the CPU.");
    check_offsets(d.where, d.program.extent, threads);
    if constexpr (Program::leaf_count > 0) {
      auto program = d.program;
      if (program.extent > 0 && d.where.segments() > 0)
        check_host_can_read(program);
    }
    return d;
  }
  static arrays room_for(domain_type const& d) {
    i64 const extents[1] = {d.where.segments()};
    return arrays(mdarray<group_answer_of<Nodes, Program>, 1>(extents)...);
  }
};

} // namespace detail

/// The answers of a grouping by segment, on the host.
template <class Offset, class Program, class Nodes, class Source>
auto compute_groups(domain<groups_between_offsets<Offset>, Program, Nodes> const& d, Source const&, on::cpu_place where, contract) {
  detail::segments_on_host<domain<groups_between_offsets<Offset>, Program, Nodes>> segments(d, where.thread_count, false);
  cpu::take_turns(where.thread_count, segments.walk());
  return segments.take();
}

namespace detail {

/// What a kernel is told of a domain, and of the part of its program that its offsets less `base` lie in.
template <class Offset, class Program, class... Nodes>
segments_read<Program, pack<Nodes...>, Offset> read_of(domain<groups_between_offsets<Offset>, Program, pack<Nodes...>> const& d, i64 base, i64 extent) {
  return {d.program.part(base, extent), d.nodes, d.where, {}};
}
/// A read by segment of at least one, by a GPU. Offsets in host memory, which have been checked, are moved to the device; offsets in device memory are
/// read by the kernel alone, which reports what is wrong with them.
template <class Domain>
class segments_on_gpu;
template <class Offset, class Program, class... Nodes>
class segments_on_gpu<domain<groups_between_offsets<Offset>, Program, pack<Nodes...>>> {
public:
  using domain_type = domain<groups_between_offsets<Offset>, Program, pack<Nodes...>>;
  using read_type = segments_read<Program, pack<Nodes...>, Offset>;
  /// Of the part of the source that `read` is told of, whose offsets have `base` taken off; it must outlive this. The answers go to memory of its own, from which
  /// they are fetched, unless it is told where.
  segments_on_gpu(domain_type const& d, read_type& read, i64 base, on::gpu_place where, contract c, bool on_device, answer_arrays const* to = nullptr)
      : d_(d), read_(read), request_(segments_request_for(read, base, where, c)) {
    if (request_.ordinal < 0)
      request_.ordinal = gpu::home_of(request_.columns, decltype(read.program.columns)::size);
    if (request_.ordinal < 0)
      request_.ordinal = 0;
    if (!on_device) {
      moved_ = gpu::stage(d.where.offsets, sizeof(Offset) * static_cast<std::size_t>(d.where.entries), request_.ordinal, request_.stream);
      read.at.offsets = static_cast<Offset const*>(moved_.data());
    }
    if (to == nullptr)
      answers_.emplace(d.where.segments(), request_.ordinal, request_.stream);
    read.memory.to = to == nullptr ? answers_->places() : *to;
    request_.told = on_device || any_checked(leaves_of<Program>);
  }
  segments_on_gpu(segments_on_gpu const&) = delete;
  gpu::segments_request& request() { return request_; }
  /// Where the kernel reads the offsets.
  Offset const* offsets() const { return read_.at.offsets; }
  /// Waits for a request that was queued, where it tells of faults. Throws bad_offsets and overflow.
  void check() {
    if (request_.told) {
      auto const faults = gpu::faults_of(request_);
      if (faults.wrong_offset >= 0)
        throw_wrong(d_.where, faults.wrong_offset, read_.program.extent, request_.ordinal, request_.stream);
      if (faults.overflow)
        throw_overflow();
    }
  }
  /// Waits for it and takes its answers. Throws what check throws.
  auto fetch() {
    check();
    i64 const extents[1] = {d_.where.segments()};
    return answers_->template fetch<1>(extents);
  }

private:
  domain_type d_;
  read_type& read_;
  gpu::segments_request request_;
  gpu::device_memory moved_;
  std::optional<answers_on_device<Program, Nodes...>> answers_;
};

} // namespace detail

/// The answers of a grouping by segment, from a GPU.
template <class Offset, class Program, class... Nodes, class Source>
auto compute_groups(domain<groups_between_offsets<Offset>, Program, pack<Nodes...>> d, Source const& s, on::gpu_place where, contract c) {
  if (gpu::device_count() == 0)
    throw no_gpu(gpu::why_no_device());
  d.where = detail::counted(d.where, false, where.queue);
  int owner = 0;
  bool const on_device = gpu::residence_of(d.where.offsets, &owner) == gpu::residence::device;
  if (!on_device)
    detail::check_offsets(d.where, d.program.extent, 0);
  if constexpr (Program::leaf_count > 0)
    if (d.where.segments() > 0) {
      i64 const base = on_device ? 0 : d.where.begin(0), end = on_device ? d.program.extent : d.where.begin(d.where.segments());
      auto read = detail::read_of(d, base, end - base); // of the source what has segments
      detail::segments_on_gpu<decltype(d)> segments(d, read, base, where, c, on_device);
      gpu::staged_columns staged;
      gpu::enqueue(segments.request(), staged);
      return segments.fetch();
    }
  if (!on_device)
    return compute_groups(d, s, on::cpu, c);
  std::vector<Offset> here(static_cast<std::size_t>(d.where.entries)); // nothing is folded: the offsets themselves are the answer
  gpu::copy(here.data(), d.where.offsets, here.size() * sizeof(Offset), owner, where.queue);
  gpu::wait(owner, where.queue);
  auto same = d;
  same.where.offsets = here.data();
  return compute_groups(same, s, on::cpu, c);
}

} // namespace tally::v0
