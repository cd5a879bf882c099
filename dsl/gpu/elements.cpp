// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements written on a GPU: stage what is in host memory, plan, find or compile the kernel, launch once.
#include "base/formatted.hpp"

#include <tally/plan/spell.hpp>
#include <tally/run/gpu_elements.hpp>

#include <tally/base/error.hpp>

namespace tally::v0::gpu {

unit unit_of(group_type const& t, elements_plan const& p, int sources, int count) {
  bool const turned = p.turned_axis >= 0;
  unit u = unit_of_group(t, turned ? "tally/kernel/turned_elements.cuh" : "tally/kernel/elements.cuh");
  std::string stores;
  for (int i = 0; i < count; ++i) stores += formatted(", {}", p.bytes_per_store[i]);
  u.name_expression = turned ? formatted("tally::v0::kernel::turned_elements<{}, {}, {}, {}{}>", spell(p.strip, sources), p.in_bulk, t.program(), t.nodes(), stores)
                             : formatted("tally::v0::kernel::elements<{}, {}, {}{}>", spell(p.strip, sources), t.program(), t.nodes(), stores);
  return u;
}

elements_planned enqueue(elements_request& r, staged_columns& staged) {
  r.f.of.target = target_of(r.ordinal);
  stage_columns(r.columns, r.f.of.source_count, r.f.of.sources, r.ordinal, r.stream, staged);
  elements_planned chosen = make_elements_plan(r.f, r.written, r.count);
  if (chosen.blocks > 0x7fffffff)
    throw too_large(formatted("{} elements need {} blocks, a launch has at most {}.", r.f.at.groups, chosen.blocks, 0x7fffffff));
  kernel const& k = r.kernels->get(chosen.plan, r.ordinal, [&] { return unit_of(*r.type, chosen.plan, r.f.of.source_count, r.count); });
  int axis = chosen.plan.turned_axis;
  void* arguments[] = {r.program, &r.f.at, const_cast<void*>(r.values), &r.to, &axis}; // the last where tiles are turned
  launch_shape shape;
  shape.grid_blocks = static_cast<unsigned>(chosen.blocks);
  shape.block_threads = static_cast<unsigned>(chosen.plan.strip.threads_per_block());
  launch(k, shape, arguments, r.stream);
  return chosen;
}

} // namespace tally::v0::gpu
