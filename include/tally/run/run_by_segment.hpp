// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A grouping by segment, computed: its offsets are checked, then every segment is folded and its answers stored. Layer 5.
#pragma once

#include <atomic>
#include <tuple>

#include <tally/pipeline/by_segment.hpp>
#include <tally/run/cpu_segments.hpp>
#include <tally/run/gpu_segments.hpp>
#include <tally/run/run.hpp>
#include <tally/run/run_over.hpp>
#include <tally/run/traits_of_leaves.hpp>

namespace tally::inline v0 {

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
  std::atomic<bool> wrong{false};
  if (chunks > 0)
    cpu::detail::spread_over_cores(chunks, threads, [&](i64 c) {
      if (falls(at.offsets, c * chunk, steps < (c + 1) * chunk ? steps : (c + 1) * chunk))
        wrong = true;
    });
  if (wrong)
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

/// The answers of a grouping by segment, on the host.
template <class Offset, class Program, class Nodes, class Source>
auto compute_groups(domain<groups_between_offsets<Offset>, Program, Nodes> d, Source const&, on::cpu_place where, contract) {
  d.where = detail::counted(d.where, true, {});
  if (gpu::residence_of(d.where.offsets) == gpu::residence::device)
    throw wrong_residence("the offsets are in device memory and the run is on the CPU.");
  detail::check_offsets(d.where, d.program.extent, where.thread_count);
  if constexpr (Program::leaf_count > 0) {
    auto program = d.program;
    if (program.extent > 0 && d.where.segments() > 0)
      detail::check_host_can_read(program);
  }
  i64 const extents[1] = {d.where.segments()};
  auto arrays = unpack(
      [&](auto const&... node) {
        return std::tuple(mdarray<detail::group_answer_of<std::remove_cvref_t<decltype(node)>, Program>, 1>(extents)...);
      },
      d.nodes);
  cpu::fold_segments(d.program, d.where, where.thread_count, [&](i64 s, auto const& states, i64 n) TALLY_INLINE_LAMBDA {
    detail::check_overflow(d.program.leaves, states);
    for_each_index<Nodes::size>([&](auto i) TALLY_INLINE_LAMBDA {
      std::get<i>(arrays)[static_cast<std::size_t>(s)] = detail::group_answer(get<i>(d.nodes), d.program.leaves, states, n);
    });
  });
  if constexpr (Nodes::size == 1)
    return std::move(std::get<0>(arrays));
  else
    return arrays;
}

namespace detail {

template <class Offset>
constexpr char const* offset_text() {
  return sizeof(Offset) == 8 ? (Offset(-1) < Offset(0) ? "tally::i64" : "tally::u64") : (Offset(-1) < Offset(0) ? "tally::i32" : "tally::u32");
}

/// A request for a part of a domain's program, whose offsets a device reads less `base`.
template <class Offset, class Program, class... Nodes>
gpu::segments_request segments_request_for(domain<groups_between_offsets<Offset>, Program, pack<Nodes...>> const& d, Program& p, i64 base,
                                           on::gpu_place where, contract c) {
  static gpu::kernels_of<segments_plan> kernels;
  gpu::segments_request r{&group_type_of<Program, pack<Nodes...>>(), &kernels, offset_text<Offset>(),
                          words_of(static_cast<typename Program::states const*>(nullptr)), &p, &d.nodes, {}, facts_of(p, target{}, c),
                          d.where.offsets, d.where.entries, d.where.count, base, {}, where.ordinal, where.queue};
  if (p.extent > 0)
    places_of(p, r.columns);
  return r;
}

/// Offsets in host memory are checked and only what lies between the first and the last is moved to the device; offsets in device
/// memory are read by the kernel alone, which reports what is wrong with them.
template <class Offset, class Program, class... Nodes>
auto segments_on_gpu(domain<groups_between_offsets<Offset>, Program, pack<Nodes...>> const& d, on::gpu_place where, contract c, bool on_device) {
  i64 const segments = d.where.segments();
  i64 const base = on_device ? 0 : d.where.begin(0);
  auto p = d.program.part(base, (on_device ? d.program.extent : d.where.begin(segments)) - base);
  auto r = segments_request_for(d, p, base, where, c);
  if (r.ordinal < 0)
    r.ordinal = gpu::home_of(r.columns, decltype(p.columns)::size);
  if (r.ordinal < 0)
    r.ordinal = 0;
  gpu::device_memory moved;
  if (!on_device) {
    moved = gpu::stage(d.where.offsets, sizeof(Offset) * static_cast<std::size_t>(d.where.entries), r.ordinal, r.stream);
    r.offsets = moved.data();
  }
  answers_on_device<Program, Nodes...> answers(segments, r.ordinal, r.stream);
  r.to = answers.places();
  gpu::staged_columns staged;
  r.told = on_device || any_checked(leaves_of<Program>);
  gpu::enqueue(r, staged);
  if (r.told) {
    auto const faults = gpu::faults_of(r);
    if (faults.wrong_offset >= 0)
      throw_wrong(d.where, faults.wrong_offset, p.extent, r.ordinal, r.stream);
    if (faults.overflow)
      throw_overflow();
  }
  i64 const extents[1] = {segments};
  return answers.template fetch<1>(extents);
}

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
    if (d.where.segments() > 0)
      return detail::segments_on_gpu(d, where, c, on_device);
  if (!on_device)
    return compute_groups(d, s, on::cpu, c);
  std::vector<Offset> here(static_cast<std::size_t>(d.where.entries)); // nothing is folded: the offsets themselves are the answer
  gpu::copy(here.data(), d.where.offsets, here.size() * sizeof(Offset), owner, where.queue);
  gpu::wait(owner, where.queue);
  auto same = d;
  same.where.offsets = here.data();
  return compute_groups(same, s, on::cpu, c);
}

} // namespace tally::inline v0
