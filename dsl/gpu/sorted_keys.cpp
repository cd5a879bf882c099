// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds by key of sorted elements on a GPU: stage what is in host memory, plan, find or compile both kernels, sort, and launch the folds
// once.
#include "base/formatted.hpp"
#include "gpu/keyed_room.hpp"
#include "gpu/slot_sort.hpp"

#include <tally/plan/spell.hpp>
#include <tally/run/gpu_sorted_keys.hpp>

#include <tally/base/error.hpp>

namespace tally::v0::gpu {

unit unit_of_folds(keyed_type const& t, sorted_keys_plan const& p) { return unit_of_group(t.of, "fold_sorted", spell(p)); }

namespace {

void fold(keys_request const& r, kernel const& k, sorted_keys_planned const& chosen, slot_sort const& s) {
  auto cut = chosen.folds.cut;
  auto const places = static_cast<std::size_t>(chosen.folds.places);
  auto const bytes_of_place = static_cast<std::size_t>(r.type->words_per_place) * 4;
  void* parts = places == 0 ? nullptr : workspace(r.ordinal, r.stream, places * bytes_of_place, workspace_kind::scratch);
  void* arrivals = places == 0 ? nullptr : workspace(r.ordinal, r.stream, 4 * places, workspace_kind::zeros);
  auto at = r.f.at;
  auto to = r.to;
  void* begins = s.begins;
  void* sorted = s.now();
  void* stray = s.stray;
  i64 slots = s.slot_count;
  void* arguments[] = {r.program, &at, &begins, &sorted, &slots, &cut, const_cast<void*>(r.nodes), &to, &parts, &arrivals, &stray};
  launch_shape shape;
  shape.grid_blocks = static_cast<unsigned>(chosen.folds.blocks);
  shape.block_threads = static_cast<unsigned>(chosen.plan.folds.threads_per_block());
  launch(r, k, shape, arguments);
}

} // namespace

void enqueue_staged(keys_request& r, sorted_kernels<sorted_keys_plan>& kernels, keys_in_flight& flight) {
  sorted_keys_planned const chosen = make_sorted_keys_plan(r.f);
  if (chosen.folds.blocks > 0x7fffffff)
    throw too_large(formatted("{} slots need {} blocks, a launch has at most {}.", r.f.slots, chosen.folds.blocks, 0x7fffffff));
  kernel const& sorts = kernels.sort.get(chosen.sort.plan, r.ordinal, [&] { return unit_of_sort(*r.type, chosen.sort.plan); });
  kernel const& folds = kernels.folds.get(chosen.plan, r.ordinal, [&] { return unit_of_folds(*r.type, chosen.plan); });
  auto const alone = nobody_between(r);
  slot_sort_memory memory{};
  tables of;
  memory.add_to(of, chosen.sort);
  flight.memory = room_for(of, r);
  slot_sort s = memory.of(chosen.sort, r.f.at.groups);
  flight.stray = s.stray;
  enqueue_sort(r, r.f.at, sorts, chosen.sort, s);
  fold(r, folds, chosen, s);
}

void enqueue(keys_request& r, sorted_kernels<sorted_keys_plan>& kernels, keys_in_flight& flight) {
  stage(r, flight);
  enqueue_staged(r, kernels, flight);
}

} // namespace tally::v0::gpu
