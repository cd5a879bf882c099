// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups along axes on a GPU: stage what is in host memory, plan, find or compile the kernel, launch once.
#include "base/formatted.hpp"

#include <tally/plan/spell.hpp>
#include <tally/run/gpu_groups.hpp>

#include <tally/base/error.hpp>

#include <utility>

namespace tally::v0::gpu {

void stage_columns(column_place const* columns, int column_count, source_facts* sources, int ordinal, stream_ref stream,
                   staged_columns& staged) {
  for (int i = 0; i < column_count; ++i) {
    column_place const& c = columns[i];
    if (c.pointer == nullptr) continue;
    int owner = -1;
    residence const where = residence_of(*c.pointer, &owner);
    if (where == residence::host || where == residence::pinned) {
      auto const* low = static_cast<char const*>(*c.pointer) + c.low_bytes;
      staged.memory[i] = stage(low, static_cast<std::size_t>(c.bytes), ordinal, stream);
      *c.pointer = static_cast<char const*>(staged.memory[i].data()) - c.low_bytes;
    } else if (where == residence::device && owner != ordinal) {
      throw wrong_residence(formatted("column _{} is in the memory of GPU {}, the run is on GPU {}.", i + 1, owner, ordinal));
    }
    auto const address = reinterpret_cast<std::uintptr_t>(*c.pointer);
    auto const lowest = address & (~address + 1);
    sources[i].address_alignment = static_cast<int>(lowest < 16 ? lowest : 16);
  }
}

namespace {

/// Lines that make sure that host and device lay the types of a grouping out alike.
std::string layout_assertions(group_type const& t) {
  return formatted("using program = {};\n"
                   "using nodes = {};\n"
                   "static_assert(sizeof(program) == {} && alignof(program) == {}, \"host and device lay a program out alike\");\n"
                   "static_assert(sizeof(program::states) == {}, \"host and device lay its states out alike\");\n"
                   "static_assert(sizeof(nodes) == {}, \"host and device lay its nodes out alike\");\n",
                   t.program(), t.nodes(), t.program_bytes, t.program_alignment, t.states_bytes, t.nodes_bytes);
}

} // namespace

unit unit_of_group(group_type const& t, std::string header) {
  unit u;
  u.header = std::move(header);
  u.definitions = t.definitions();
  u.assertions = layout_assertions(t);
  return u;
}

unit unit_of_group(group_type const& t, std::string const& kernel, std::string const& plan) {
  unit u = unit_of_group(t, formatted("tally/kernel/{}.cuh", kernel));
  u.name_expression = formatted("tally::v0::kernel::{}<{}, {}, {}>", kernel, plan, t.program(), t.nodes());
  return u;
}

unit unit_of(group_type const& t, axes_plan const& p, int sources) {
  unit u = unit_of_group(t, p.route == axes_route::threads_along_group ? "along_group" : "across_groups", spell(p, sources));
  if (p.in_windows) u.extra_headers.push_back("tally/kernel/exact_across.cuh");
  return u;
}

axes_planned enqueue(axes_request& r, staged_columns& staged) {
  r.f.of.target = target_of(r.ordinal);
  stage_columns(r.columns, r.f.of.source_count, r.f.of.sources, r.ordinal, r.stream, staged);
  axes_planned chosen = make_axes_plan(r.f);
  if (chosen.blocks() > 0x7fffffff)
    throw too_large(formatted("{} groups need {} blocks, a launch has at most {}.", r.f.at.groups, chosen.blocks(), 0x7fffffff));
  kernel const& k = r.kernels->get(chosen.plan, r.ordinal, [&] { return unit_of(*r.type, chosen.plan, r.f.of.source_count); });
  struct { // what kernel/chunks.cuh calls chunk_meeting
    void* partials = nullptr;
    void* arrivals = nullptr;
  } meeting;
  if (chosen.cut.chunks > 1) {
    auto const states = static_cast<std::size_t>(partials_of_levels(chosen.cut.chunks) * r.f.at.groups);
    meeting.partials = workspace(r.ordinal, r.stream, states * r.type->states_bytes, workspace_kind::scratch);
    meeting.arrivals = workspace(r.ordinal, r.stream, static_cast<std::size_t>(chosen.cut.sets * bunches_of_levels(chosen.cut.chunks)) * 4,
                                 workspace_kind::zeros);
  }
  void* arguments[] = {r.program, &r.f.at, &chosen.cut, const_cast<void*>(r.nodes), &r.to, &meeting};
  launch_shape shape;
  shape.grid_blocks = static_cast<unsigned>(chosen.blocks());
  shape.block_threads = static_cast<unsigned>(chosen.plan.threads_per_block());
  if (r.launches) launch(k, shape, arguments, r.stream);
  return chosen;
}

} // namespace tally::v0::gpu
