// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds by key of sorted rows on a GPU: plan, find or compile both kernels, sort, and launch the folds for their phases.
#include "base/formatted.hpp"
#include "gpu/keyed_room.hpp"
#include "gpu/slot_sort.hpp"

#include <tally/plan/spell.hpp>
#include <tally/run/gpu_sorted_rows.hpp>

#include <tally/base/error.hpp>

namespace tally::v0::gpu {

unit unit_of_folds(keyed_type const& t, sorted_rows_plan const& p) { return unit_of_group(t.of, "fold_sorted_rows", spell(p)); }

namespace {

keyed_memory lay_out(keys_request const& r, sorted_rows_planned const& chosen, slot_sort_memory& sorts, keys_in_flight& flight) {
  keyed_memory memory{};
  void* locks = nullptr;
  tables of;
  sorts.add_to(of, chosen.sort);
  for (int i = 0; i < r.type->fold_count; ++i) {
    if (chosen.plan.in_place) memory.cells[i] = r.to.at[i];
    else of.add(memory.cells[i], chosen.cells * r.type->cell_bytes[i]);
  }
  if (r.type->locks) of.add(locks, chosen.cells * i64(sizeof(u32)));
  flight.memory = room_for(of, r);
  flight.stray = memory.stray = static_cast<u64*>(sorts.stray);
  memory.locks = static_cast<u32*>(locks);
  return memory;
}

void fold(keys_request const& r, kernel const& k, sorted_rows_planned const& chosen, slot_sort const& s, keyed_memory memory) {
  auto at = r.f.at;
  auto sorted = s;
  auto cut = chosen.cut;
  auto to = r.to;
  auto phase = keyed_phase::open;
  void* arguments[] = {r.program, &at, &sorted, &cut, const_cast<void*>(r.nodes), &memory, &to, &phase};
  launch_shape shape;
  shape.block_threads = static_cast<unsigned>(chosen.plan.threads_per_block);
  i64 const teams = chosen.plan.threads_per_block / chosen.plan.threads_per_row, most = i64(r.f.of.target.multiprocessors) * 16;
  auto const launch_phase = [&](keyed_phase which, i64 blocks) {
    phase = which;
    shape.grid_blocks = static_cast<unsigned>(blocks);
    launch(r, k, shape, arguments);
  };
  i64 const warps_of_block = chosen.plan.threads_per_block / 32;
  launch_phase(keyed_phase::open, planning::least_of((chosen.sort.slots - 1) / warps_of_block + 1, most));
  launch_phase(keyed_phase::fold, chosen.blocks);
  if (chosen.plan.in_place) return;
  i64 const pieces = (r.f.at.groups - 1) / chosen.plan.threads_per_row + 1;
  launch_phase(keyed_phase::close, planning::least_of((chosen.cut.chunks * pieces - 1) / teams + 1, most));
}

} // namespace

void enqueue_staged(keys_request& r, sorted_kernels<sorted_rows_plan>& kernels, keys_in_flight& flight) {
  sorted_rows_planned const chosen = make_sorted_rows_plan(r.f);
  if (chosen.blocks > 0x7fffffff)
    throw too_large(formatted("{} rows need {} blocks, a launch has at most {}.", r.f.at.extent, chosen.blocks, 0x7fffffff));
  kernel const& sorts = kernels.sort.get(chosen.sort.plan, r.ordinal, [&] { return unit_of_sort(*r.type, chosen.sort.plan); });
  kernel const& folds = kernels.folds.get(chosen.plan, r.ordinal, [&] { return unit_of_folds(*r.type, chosen.plan); });
  auto const alone = nobody_between(r);
  slot_sort_memory memory{};
  keyed_memory const cells = lay_out(r, chosen, memory, flight);
  slot_sort s = memory.of(chosen.sort, 1);
  enqueue_sort(r, planning::rows_of(r.f.at), sorts, chosen.sort, s);
  fold(r, folds, chosen, s, cells);
}

} // namespace tally::v0::gpu
