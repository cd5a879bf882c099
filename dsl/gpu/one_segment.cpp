// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One segment whose ends the device knows, on a GPU: plan, find or compile the kernel, launch once.
#include "base/formatted.hpp"
#include "gpu/launch_order.hpp"

#include <tally/plan/spell.hpp>
#include <tally/run/gpu_one_segment.hpp>

#include <cstddef>

namespace tally::v0::gpu {

unit unit_of(group_type const& t, char const* offset_type, one_segment_plan const& p) {
  unit u = unit_of_group(t, "tally/kernel/one_segment.cuh");
  u.name_expression = formatted("tally::v0::kernel::one_segment<{}, {}, {}, {}>", spell(p), t.program(), t.nodes(), offset_type);
  return u;
}

void enqueue(one_segment_request& r) {
  r.f.target = target_of(r.ordinal);
  one_segment_plan const plan = make_one_segment_plan(r.f);
  one_segment_launch const l = launch_one_segment(r.f, plan);
  kernel const& k = r.kernels->get(plan, r.ordinal, [&] { return unit_of(*r.type, r.offset_type, plan); });
  auto const words = static_cast<std::size_t>(l.places) * static_cast<std::size_t>(r.words_per_partial);
  auto* const room = static_cast<char*>(workspace(r.ordinal, r.stream, head_bytes + 8 * words));
  struct {
    void* epoch;
    void* words;
  } view{room, room + head_bytes};
  launch_order order;
  void* arguments[] = {r.program, &r.offsets, const_cast<void*>(r.nodes), &r.to, &view, &order};
  launch_shape shape;
  shape.grid_blocks = static_cast<unsigned>(l.blocks);
  shape.block_threads = static_cast<unsigned>(plan.threads_per_block());
  shape.overlaps = plan.overlaps_launch;
  if (!r.launches) return;
  if (!plan.reads_ahead) return launch(k, shape, arguments, r.stream);
  byte_ranges reads, writes;
  reads.add(r.columns, r.f.source_count);
  reads.add(r.offsets, 2 * r.offset_bytes);
  writes.add(r.to.at, r.answers, r.answer_bytes);
  launch(k, shape, arguments, r.stream, order, {room, plan.blocks_per_multiprocessor * r.f.target.multiprocessors, reads, writes});
}

} // namespace tally::v0::gpu
