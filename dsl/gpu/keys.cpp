// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds by key on a GPU: stage what is in host memory, plan, find or compile the kernel, and launch it for its phases.
#include "base/formatted.hpp"
#include "gpu/tables.hpp"

#include <tally/plan/spell.hpp>
#include <tally/run/gpu_keys.hpp>

#include <tally/base/error.hpp>

namespace tally::inline v0::gpu {

unit unit_without_name(keyed_type const& t, char const* header) {
  unit u = unit_of_group(t.of, header);
  u.assertions += formatted("using where = {};\nstatic_assert(sizeof(where) == {}, \"host and device lay its key out alike\");\n",
                                                       t.where(), t.where_bytes);
  return u;
}

unit unit_of(keyed_type const& t, keys_plan const& p) {
  unit u = unit_without_name(t, "tally/kernel/by_key.cuh");
  u.name_expression = formatted("tally::kernel::by_key<{}, {}, {}, {}>", spell(p), t.where(), t.of.program(), t.of.nodes());
  return u;
}

namespace {

keyed_memory lay_out(keys_request const& r, keys_plan const& plan, keys_in_flight& flight) {
  keyed_memory memory{};
  void *stray = nullptr, *locks = nullptr, *hot = nullptr;
  tables of;
  of.add(stray, 3 * i64(sizeof(u64)));
  for (int i = 0; i < r.type->fold_count; ++i) {
    if (plan.in_place) memory.cells[i] = r.to.at[i];
    else of.add(memory.cells[i], slots_given_in_bulk(r.f.slots) * r.type->cell_bytes[i]);
    if (plan.copies > 1) of.add(memory.copies[i], copied_slots(plan, r.f.slots, r.f.at.groups) * r.type->cell_bytes[i]);
  }
  if (r.type->locks) of.add(locks, r.f.slots * i64(sizeof(u32)));
  if (plan.hot_keys > 0) of.add(hot, hot_places(plan.hot_keys) * i64(sizeof(u64)));
  flight.memory = of.made(r.ordinal, r.stream);
  flight.stray = memory.stray = static_cast<u64*>(stray);
  memory.locks = static_cast<u32*>(locks);
  memory.hot = static_cast<u64*>(hot);
  return memory;
}

} // namespace

void enqueue(keys_request& r, kernels_of<keys_plan>& kernels, keys_in_flight& flight) {
  r.f.of.target = target_of(r.ordinal);
  stage_columns(r.columns, r.f.of.source_count, r.f.of.sources, r.ordinal, r.stream, flight.staged);
  keys_planned const chosen = make_keys_plan(r.f);
  kernel const& k = kernels.get(chosen.plan, r.ordinal, [&] { return unit_of(*r.type, chosen.plan); });
  keyed_memory memory = lay_out(r, chosen.plan, flight);
  auto phase = keyed_phase::open;
  void* arguments[] = {const_cast<void*>(r.where), r.program, &r.f.at, const_cast<void*>(r.nodes), &memory, &r.to, &phase};
  launch_shape over_slots, over_elements;
  over_slots.block_threads = over_elements.block_threads = static_cast<unsigned>(chosen.plan.threads_per_block);
  i64 const blocks = (r.f.slots - 1) / chosen.plan.threads_per_block + 1;
  over_slots.grid_blocks = static_cast<unsigned>(planning::least_of(blocks, i64(r.f.of.target.multiprocessors) * 16));
  over_elements.grid_blocks = static_cast<unsigned>(chosen.blocks);
  over_elements.dynamic_shared_bytes = static_cast<std::size_t>(chosen.shared_bytes);
  launch_shape opening = over_slots;
  if (chosen.plan.hot_keys > 0) opening.dynamic_shared_bytes = sample_bytes;
  launch(k, opening, arguments, r.stream);
  phase = keyed_phase::fold;
  launch(k, over_elements, arguments, r.stream);
  phase = keyed_phase::meet;
  if (chosen.plan.copies > 1) launch(k, over_slots, arguments, r.stream);
  phase = keyed_phase::close;
  launch(k, over_slots, arguments, r.stream);
}

stray_key stray_of(keys_request const& r, keys_in_flight const& flight) {
  u64 found[3];
  copy(found, flight.stray, sizeof found, r.ordinal, r.stream);
  wait(r.ordinal, r.stream);
  if (found[0] == ~u64(0) && found[2] != 0) throw overflow("a checked sum by key left the range of its 64-bit accumulator.");
  return {static_cast<i64>(found[0]), found[1]};
}

} // namespace tally::inline v0::gpu
