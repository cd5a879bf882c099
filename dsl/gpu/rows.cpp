// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows with lets on a GPU: plan, stage what is in host memory, find or compile the kernel, launch once.
#include "base/formatted.hpp"

#include <tally/plan/spell.hpp>
#include <tally/run/gpu_rows.hpp>

#include <tally/base/error.hpp>

namespace tally::v0::gpu {

unit unit_of(rows_type const& t, elements_plan const& p, int sources, int count) {
  unit u;
  u.header = "tally/kernel/rows_with_let.cuh";
  if (p.blocks_per_row > 1) u.extra_headers.emplace_back("tally/kernel/rows_in_cluster.cuh");
  if (p.asks_ahead) u.extra_headers.emplace_back("tally/kernel/row_ahead.cuh");
  u.definitions = t.definitions();
  u.assertions = formatted("static_assert(sizeof({}) == {} && sizeof({}) == {} && sizeof({}) == {} && sizeof({}) == {} && sizeof({}) == {}, \"host and device lay rows out alike\");\n",
                           t.base(), t.base_bytes, t.steps(), t.steps_bytes, t.nodes(), t.nodes_bytes, t.kept(), t.kept_bytes, t.values(), t.values_bytes);
  std::string stores;
  for (int i = 0; i < count; ++i) stores += formatted(", {}", p.bytes_per_store[i]);
  u.name_expression = formatted("tally::v0::kernel::rows_with_let<{}, {}, {}, {}, {}, {}, {}, {}, {}{}>", spell(p.strip, sources), p.blocks_per_row, p.asks_ahead, t.base(), t.steps(), t.nodes(),
                                t.lets(), t.kept(), t.values(), stores);
  return u;
}

namespace {
/// The same on the chip that the request names.
bool enqueue_on(rows_request& r, staged_columns& staged) {
  target& chip = r.f.of.target;
  if (!make_rows_plan(r.f, r.written, r.count).possible) return false;
  stage_columns(r.columns, r.f.of.source_count, r.f.of.sources, r.ordinal, r.stream, staged);
  rows_planned const chosen = make_rows_plan(r.f, r.written, r.count);
  if (chosen.blocks > 0x7fffffff)
    throw too_large(formatted("{} rows need {} blocks, a launch has at most {}.", r.f.at.groups, chosen.blocks, 0x7fffffff));
  kernel const& k = r.kernels->get(chosen.plan, r.ordinal, [&] { return unit_of(*r.type, chosen.plan, r.f.of.source_count, r.count); });
  i64 rows_ahead = chosen.rows_ahead;
  void* arguments[] = {r.base, &r.f.at, const_cast<void*>(r.steps), const_cast<void*>(r.nodes),
                       const_cast<void*>(r.kept), const_cast<void*>(r.values), &r.to, &rows_ahead};
  launch_shape shape;
  shape.grid_blocks = static_cast<unsigned>(chosen.blocks);
  shape.block_threads = static_cast<unsigned>(chosen.plan.strip.threads_per_block());
  shape.cluster_blocks = static_cast<unsigned>(chosen.plan.blocks_per_row);
  if (chosen.plan.blocks_per_row > chip.max_cluster_blocks && resident_clusters(k, shape) == 0) { // a part of a chip may have no place for it
    chip.most_cluster_blocks = chip.max_cluster_blocks;
    return enqueue_on(r, staged);
  }
  launch(k, shape, arguments, r.stream);
  return true;
}
} // namespace

bool enqueue(rows_request& r, staged_columns& staged) {
  r.f.of.target = target_of(r.ordinal);
  return enqueue_on(r, staged);
}

} // namespace tally::v0::gpu
