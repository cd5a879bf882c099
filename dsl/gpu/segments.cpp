// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Segments on a GPU: stage what is in host memory, plan, find or compile the kernel, launch once; and what became of the offsets.
#include "base/formatted.hpp"
#include "gpu/segments_room.hpp"
#include "gpu/workspace.hpp"

#include <tally/plan/spell.hpp>
#include <tally/run/gpu_segments.hpp>

#include <tally/base/error.hpp>

#include <mutex>

namespace tally::v0::gpu {

namespace {

/// Where nobody asks what was wrong, memory of the stream; else of this request, whose faults no other may find.
char* room_for_zeros(segments_request& r, std::size_t bytes) {
  if (!r.told) return static_cast<char*>(workspace(r.ordinal, r.stream, bytes, workspace_kind::cleared));
  r.zeros = allocate(bytes, r.ordinal, r.stream);
  return static_cast<char*>(r.zeros.data());
}

} // namespace

unit unit_of(group_type const& t, char const* offset_type, segments_plan const& p) {
  unit u = unit_of_group(t, "tally/kernel/segments.cuh");
  if (p.in_windows) u.extra_headers.push_back("tally/kernel/exact_segments.cuh");
  u.name_expression = formatted("tally::v0::kernel::segments<{}, tally::v0::segments_read<{}, {}, {}>>", spell(p), t.program(), t.nodes(), offset_type);
  return u;
}

void enqueue(segments_request& r, staged_columns& staged) {
  r.f.target = target_of(r.ordinal);
  stage_columns(r.columns, r.f.source_count, r.f.sources, r.ordinal, r.stream, staged);
  segments_plan plan = r.given != nullptr ? *r.given : make_segments_plan(r.f, r.counted ? 0 : r.segments);
  plan.counted = r.counted;
  segments_launch const l = cut_segments(r.f, plan, r.f.extent, r.segments, r.base);
  if (l.blocks > 0x7fffffff)
    throw too_large(formatted("{} segments need {} blocks, a launch has at most {}.", r.segments, l.blocks, 0x7fffffff));
  kernel const& k = r.kernels->get(plan, r.ordinal, [&] { return unit_of(*r.type, r.offset_type, plan); });
  segments_room const room(l, r);
  void* const parts = l.places > 0 ? workspace(r.ordinal, r.stream, room.bytes_of_parts(), workspace_kind::scratch) : nullptr;
  char* const zeros = room_for_zeros(r, room.bytes_of_zeros());
  room.lay_out(parts, zeros);
  void* arguments[] = {r.argument};
  launch_shape shape;
  shape.grid_blocks = static_cast<unsigned>(l.blocks);
  shape.block_threads = static_cast<unsigned>(plan.threads_per_block());
  if (!r.launches) return;
  auto const alone = r.told ? std::unique_lock<std::mutex>() : queueing_alone(r.ordinal);
  clear(zeros, room.bytes_of_zeros(), r.ordinal, r.stream);
  launch(k, shape, arguments, r.stream);
}

segments_faults faults_of(segments_request const& r) {
  readback told(r.memory->fault, 2 * sizeof(u64), r.ordinal, r.stream);
  auto const* const fault = static_cast<u64 const*>(told.wait());
  return {fault[0] == 0 ? -1 : static_cast<i64>(~fault[0]), fault[1] != 0};
}

} // namespace tally::v0::gpu
