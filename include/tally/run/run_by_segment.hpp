// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A grouping by segment, computed: its offsets are checked, then every segment is folded and its answers stored. Layer 5.
#pragma once

#include <atomic>
#include <tuple>

#include <tally/pipeline/by_segment.hpp>
#include <tally/run/cpu_segments.hpp>
#include <tally/run/run.hpp>
#include <tally/run/run_over.hpp>

namespace tally::inline v0 {

namespace detail {

/// Throws bad_offsets with the first offset, counted from 0, that lies below the one before it.
template <class Offset>
[[gnu::cold, noreturn]] void throw_falling(groups_between_offsets<Offset> const& at) {
  i64 i = 1;
  while (i < at.entries - 1 && at.offsets[i] >= at.offsets[i - 1])
    ++i;
  throw bad_offsets("offset " + std::to_string(i) + " is " + std::to_string(at.offsets[i]) + ", the one before it is " +
                    std::to_string(at.offsets[i - 1]) + ".");
}
/// Whether an offset below `end` and above `begin` lies below the one before it.
template <class Offset>
bool falls(Offset const* offsets, i64 begin, i64 end) {
  bool found = false;
  for (i64 i = begin; i < end; ++i)
    found |= offsets[i + 1] < offsets[i];
  return found;
}
/// Throws null_column, wrong_residence or bad_offsets unless the host can read the offsets and they are those of an extent.
template <class Offset>
void check_offsets(groups_between_offsets<Offset> const& at, i64 extent, int threads) {
  if (at.entries < 1)
    throw bad_offsets("by_segment has " + std::to_string(at.entries) + " offsets, and n segments take n + 1.");
  if (at.offsets == nullptr)
    throw null_column("the offsets are a null pointer with " + std::to_string(at.entries) + " entries.");
  if (gpu::residence_of(at.offsets) == gpu::residence::device)
    throw wrong_residence("the offsets are in device memory and the run is on the CPU.");
  if (at.offsets[0] < Offset(0))
    throw bad_offsets("offset 0 is " + std::to_string(at.offsets[0]) + ", below 0.");
  i64 const steps = at.entries - 1, chunk = 1 << 18, chunks = steps == 0 ? 0 : (steps - 1) / chunk + 1;
  std::atomic<bool> wrong{false};
  if (chunks > 0)
    cpu::detail::spread_over_cores(chunks, threads, [&](i64 c) {
      if (falls(at.offsets, c * chunk, steps < (c + 1) * chunk ? steps : (c + 1) * chunk))
        wrong = true;
    });
  if (wrong)
    throw_falling(at);
  if (static_cast<u64>(at.offsets[steps]) > static_cast<u64>(extent))
    throw bad_offsets("offset " + std::to_string(steps) + " is " + std::to_string(at.offsets[steps]) + ", the source has " +
                      std::to_string(extent) + " elements.");
}

} // namespace detail

/// The answers of a grouping by segment, on the host.
template <class Offset, class Program, class Nodes, class Source>
auto compute_groups(domain<groups_between_offsets<Offset>, Program, Nodes> const& d, Source const&, on::cpu_place where, contract) {
  detail::check_offsets(d.where, d.program.extent, where.thread_count);
  if constexpr (Program::leaf_count > 0) {
    auto program = d.program;
    if (program.extent > 0)
      detail::check_host_can_read(program);
  }
  i64 const extents[1] = {d.where.segments()};
  auto arrays = unpack(
      [&](auto const&... node) {
        return std::tuple(mdarray<detail::group_answer_of<std::remove_cvref_t<decltype(node)>, Program>, 1>(extents)...);
      },
      d.nodes);
  cpu::fold_segments(d.program, d.where, where.thread_count, [&](i64 s, auto const& states, i64 n) __attribute__((always_inline)) {
    detail::check_overflow(d.program.leaves, states);
    for_each_index<Nodes::size>([&](auto i) __attribute__((always_inline)) {
      std::get<i>(arrays)[static_cast<std::size_t>(s)] = detail::group_answer(get<i>(d.nodes), d.program.leaves, states, n);
    });
  });
  if constexpr (Nodes::size == 1)
    return std::move(std::get<0>(arrays));
  else
    return arrays;
}

} // namespace tally::inline v0
