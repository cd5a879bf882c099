// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds by key in tables on a GPU: plan, find or compile the kernel, and launch it for its phases.
#include "base/formatted.hpp"
#include "gpu/keyed_phases.hpp"
#include "gpu/keyed_room.hpp"

#include <tally/plan/spell.hpp>
#include <tally/run/gpu_keys.hpp>

#include <tally/base/error.hpp>

#include <algorithm>

namespace tally::v0::gpu {

unit unit_without_name(keyed_type const& t, char const* header) {
  unit u = unit_of_group(t.of, header);
  u.assertions += formatted("using where = {};\nstatic_assert(sizeof(where) == {}, \"host and device lay its key out alike\");\n",
                                                       t.where(), t.where_bytes);
  return u;
}

unit unit_of(keyed_type const& t, keys_plan const& p) {
  unit u = unit_without_name(t, "tally/kernel/by_key.cuh");
  u.name_expression = formatted("tally::v0::kernel::by_key<{}, {}, {}, {}>", spell(p), t.where(), t.of.program(), t.of.nodes());
  return u;
}

keyed_memory lay_out(keys_request const& r, keys_plan const& plan, keys_in_flight& flight) {
  keyed_memory memory{};
  void *stray = nullptr, *hot = nullptr, *windows = nullptr, *beyond = nullptr;
  tables of;
  of.add(stray, 3 * i64(sizeof(u64)));
  for (int i = 0; i < r.type->fold_count; ++i) {
    if (plan.route == keys_route::in_one_cluster) continue;
    if (plan.in_place) memory.cells[i] = r.to.at[i];
    else of.add(memory.cells[i], slots_given_in_bulk(r.f.slots) * r.type->cell_bytes[i]);
    if (plan.copies > 1) of.add(memory.copies[i], copied_slots(plan, r.f.slots, r.f.at.groups) * r.type->cell_bytes[i]);
  }
  if (plan.hot_keys > 0) of.add(hot, hot_places(plan.hot_keys) * i64(sizeof(u64)));
  if (plan.sums_in_windows) {
    of.add(windows, max_keyed_folds * i64(sizeof(u32)));
    of.add(beyond, r.type->fold_count * words_of_bits(r.f.slots) * i64(sizeof(u32)));
  }
  flight.memory = room_for(of, r);
  memory.windows = static_cast<u32*>(windows);
  memory.beyond = static_cast<u32*>(beyond);
  flight.stray = memory.stray = static_cast<u64*>(stray);
  memory.hot = static_cast<u64*>(hot);
  return memory;
}

void keyed_phases::launch_phase(keyed_phase phase, unsigned blocks, i64 shared_bytes) {
  void* arguments[] = {const_cast<void*>(r_.where), r_.program, &r_.f.at, const_cast<void*>(r_.nodes), &memory_, &r_.to, &phase};
  launch_shape shape;
  shape.block_threads = static_cast<unsigned>(plan_.threads_per_block);
  shape.grid_blocks = blocks;
  shape.dynamic_shared_bytes = static_cast<std::size_t>(shared_bytes);
  if (phase == keyed_phase::fold && plan_.cluster_blocks > 1) {
    shape.cluster_blocks = static_cast<unsigned>(plan_.cluster_blocks);
    if (auto const most = plan_.slots_in_cluster > 0 ? static_cast<unsigned>(resident_clusters(k_, shape)) : 0u; most > 0) shape.grid_blocks = std::min(blocks, most * shape.cluster_blocks);
  }
  launch(r_, k_, shape, arguments);
}
unsigned keyed_phases::blocks_over_slots() const {
  i64 const blocks = (r_.f.slots - 1) / plan_.threads_per_block + 1;
  return static_cast<unsigned>(planning::least_of(blocks, i64(r_.f.of.target.multiprocessors) * 16));
}
void keyed_phases::open() { launch_phase(keyed_phase::open, blocks_over_slots(), plan_.hot_keys > 0 ? sample_bytes : plan_.sums_in_windows ? bytes_to_aim_windows : 0); }
void keyed_phases::fold(i64 blocks, i64 shared_bytes) { launch_phase(keyed_phase::fold, static_cast<unsigned>(blocks), shared_bytes); }
void keyed_phases::close() {
  if (plan_.copies > 1) launch_phase(keyed_phase::meet, blocks_over_slots(), 0);
  launch_phase(keyed_phase::close, blocks_over_slots(), 0);
}

void enqueue_staged(keys_request& r, kernels_of<keys_plan>& kernels, keys_in_flight& flight) {
  keys_planned const chosen = make_keys_plan(r.f);
  kernel const& k = kernels.get(chosen.plan, r.ordinal, [&] { return unit_of(*r.type, chosen.plan); });
  auto const alone = nobody_between(r);
  keyed_phases phases(r, chosen.plan, k, lay_out(r, chosen.plan, flight));
  bool const in_one_launch = chosen.plan.route == keys_route::in_one_cluster;
  if (!in_one_launch) phases.open();
  phases.fold(chosen.blocks, chosen.shared_bytes);
  if (!in_one_launch) phases.close();
}

void send_stray(keys_request const& r, keys_in_flight& flight) {
  if (r.type->tells) flight.told = readback(flight.stray, 3 * sizeof(u64), r.ordinal, r.stream);
}

stray_key stray_of(keys_in_flight& flight) {
  auto const* const found = static_cast<u64 const*>(flight.told.wait());
  if (found == nullptr) return {-1, 0};
  if (found[0] == ~u64(0) && found[2] != 0) throw overflow("a checked sum by key left the range of its 64-bit accumulator.");
  return {static_cast<i64>(found[0]), found[1]};
}

} // namespace tally::v0::gpu
