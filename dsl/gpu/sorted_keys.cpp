// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds by key of sorted elements on a GPU: stage what is in host memory, plan, find or compile both kernels, and launch the one for
// every pass of the sort and the other once.
#include "base/formatted.hpp"
#include "gpu/tables.hpp"

#include <tally/plan/spell.hpp>
#include <tally/run/gpu_sorted_keys.hpp>

#include <tally/base/error.hpp>

namespace tally::inline v0::gpu {

unit unit_of_sort(keyed_type const& t, sorted_keys_plan const& p) {
  unit u = unit_without_name(t, "tally/kernel/sort_by_key.cuh");
  u.extra_headers.emplace_back("tally/kernel/answers.cuh"); // its assertions name the nodes
  u.name_expression = formatted("tally::kernel::sort_by_key<{}, {}, {}>", spell(p), t.where(), t.of.program());
  return u;
}
unit unit_of_folds(keyed_type const& t, sorted_keys_plan const& p) {
  unit u = unit_of_group(t.of, "tally/kernel/fold_sorted.cuh");
  u.name_expression = formatted("tally::kernel::fold_sorted<{}, {}, {}>", spell(p), t.of.program(), t.of.nodes());
  return u;
}

namespace {

slot_sort lay_out(keys_request const& r, sorted_keys_planned const& chosen, keys_in_flight& flight) {
  i64 const elements = r.f.at.extent * r.f.at.groups, number = chosen.plan.wide_numbers ? 8 : 4;
  slot_sort s{};
  void *slots[2], *stray;
  tables of;
  of.add(stray, 3 * i64(sizeof(u64)));
  for (int i = 0; i < 2; ++i) of.add(slots[i], i64(sizeof(u32)) * elements), of.add(s.numbers[i], number * elements);
  of.add(s.counts, number * values_of_slot_digit * (chosen.blocks + 1));
  of.add(s.begins, number * (r.f.slots + 1));
  flight.memory = of.made(r.ordinal, r.stream);
  for (int i = 0; i < 2; ++i) s.slots[i] = static_cast<u32*>(slots[i]);
  s.stray = flight.stray = static_cast<u64*>(stray);
  s.elements = elements;
  s.share = chosen.share;
  s.slot_count = r.f.slots;
  s.groups = r.f.at.groups;
  s.blocks = static_cast<int>(chosen.blocks);
  return s;
}

void sort(keys_request const& r, kernel const& k, sorted_keys_planned const& chosen, slot_sort& s) {
  auto at = r.f.at;
  sort_phase phase = sort_phase::open;
  void* arguments[] = {const_cast<void*>(r.where), r.program, &at, &s, &phase};
  launch_shape shape;
  shape.block_threads = static_cast<unsigned>(chosen.plan.threads_per_block);
  auto const launch_phase = [&](sort_phase which, i64 blocks) {
    phase = which;
    shape.grid_blocks = static_cast<unsigned>(blocks);
    launch(k, shape, arguments, r.stream);
  };
  launch_phase(sort_phase::open, 1);
  launch_phase(sort_phase::note, chosen.blocks);
  for (; s.pass < chosen.passes; ++s.pass) {
    if (s.pass > 0) launch_phase(sort_phase::count_digits, chosen.blocks);
    launch_phase(sort_phase::add_up, values_of_slot_digit * 32 / chosen.plan.threads_per_block);
    launch_phase(sort_phase::move, chosen.blocks);
  }
  i64 const blocks = r.f.slots / chosen.plan.threads_per_block + 1;
  launch_phase(sort_phase::begin, planning::least_of(blocks, i64(r.f.of.target.multiprocessors) * 16));
}

void fold(keys_request const& r, kernel const& k, sorted_keys_planned const& chosen, slot_sort const& s) {
  auto cut = chosen.folds.cut;
  auto const places = static_cast<std::size_t>(chosen.folds.places);
  auto const bytes_of_place = static_cast<std::size_t>(r.type->words_per_place) * 4;
  void* parts = places == 0 ? nullptr : workspace(r.ordinal, r.stream, places * bytes_of_place, workspace_kind::scratch);
  void* arrivals = places == 0 ? nullptr : workspace(r.ordinal, r.stream, 4 * places, workspace_kind::zeros);
  auto at = r.f.at;
  auto to = r.to;
  void* begins = s.begins;
  void* numbers = s.numbers_now();
  void* stray = s.stray;
  i64 slots = s.slot_count;
  void* arguments[] = {r.program, &at, &begins, &numbers, &slots, &cut, const_cast<void*>(r.nodes), &to, &parts, &arrivals, &stray};
  launch_shape shape;
  shape.grid_blocks = static_cast<unsigned>(chosen.folds.blocks);
  shape.block_threads = static_cast<unsigned>(chosen.plan.folds.threads_per_block());
  launch(k, shape, arguments, r.stream);
}

} // namespace

sorted_keys_planned enqueue(keys_request& r, sorted_kernels& kernels, keys_in_flight& flight) {
  r.f.of.target = target_of(r.ordinal);
  stage_columns(r.columns, r.f.of.source_count, r.f.of.sources, r.ordinal, r.stream, flight.staged);
  sorted_keys_planned const chosen = make_sorted_keys_plan(r.f);
  if (chosen.folds.blocks > 0x7fffffff)
    throw too_large(formatted("{} slots need {} blocks, a launch has at most {}.", r.f.slots, chosen.folds.blocks, 0x7fffffff));
  kernel const& sorts = kernels.sort.get(chosen.plan, r.ordinal, [&] { return unit_of_sort(*r.type, chosen.plan); });
  kernel const& folds = kernels.folds.get(chosen.plan, r.ordinal, [&] { return unit_of_folds(*r.type, chosen.plan); });
  slot_sort s = lay_out(r, chosen, flight);
  sort(r, sorts, chosen, s);
  fold(r, folds, chosen, s);
  return chosen;
}

} // namespace tally::inline v0::gpu
