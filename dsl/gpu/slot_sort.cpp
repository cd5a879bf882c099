// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sort of elements by slot on a GPU: one kernel, launched for every step of every pass.
#include "gpu/slot_sort.hpp"
#include "base/formatted.hpp"
#include "gpu/keyed_room.hpp"

#include <tally/plan/spell.hpp>

namespace tally::v0::gpu {

unit unit_of_sort(keyed_type const& t, slot_sort_plan const& p) {
  unit u = unit_without_name(t, "tally/kernel/sort_by_key.cuh");
  u.extra_headers.emplace_back("tally/kernel/answers.cuh"); // its assertions name the nodes
  u.name_expression = formatted("tally::v0::kernel::sort_by_key<{}, {}, {}>", spell(p), t.where(), t.of.program());
  return u;
}

void slot_sort_memory::add_to(tables& of, slot_sort_planned const& p) {
  of.add(stray, 3 * i64(sizeof(u64)));
  for (void*& half : moved) of.add(half, p.moved_bytes());
  of.add(counts, p.count_bytes());
  of.add(begins, p.begin_bytes());
}

slot_sort slot_sort_memory::of(slot_sort_planned const& p, i64 groups) const {
  slot_sort s{};
  for (int i = 0; i < 2; ++i) s.moved[i] = moved[i];
  s.counts = counts;
  s.begins = begins;
  s.stray = static_cast<u64*>(stray);
  s.elements = p.elements;
  s.share = p.share;
  s.slot_count = p.slots;
  s.groups = groups;
  s.blocks = static_cast<int>(p.blocks);
  return s;
}

void enqueue_sort(keys_request const& r, axes_layout at, kernel const& k, slot_sort_planned const& chosen, slot_sort& s) {
  sort_phase phase = sort_phase::open;
  void* arguments[] = {const_cast<void*>(r.where), r.program, &at, &s, &phase};
  launch_shape shape;
  shape.block_threads = static_cast<unsigned>(chosen.plan.threads_per_block);
  auto const launch_phase = [&](sort_phase which, i64 blocks) {
    phase = which;
    shape.grid_blocks = static_cast<unsigned>(blocks);
    launch(r, k, shape, arguments);
  };
  launch_phase(sort_phase::open, 1);
  launch_phase(sort_phase::note, chosen.blocks);
  for (; s.pass < chosen.passes; ++s.pass) {
    if (s.pass > 0) launch_phase(sort_phase::count_digits, chosen.blocks);
    launch_phase(sort_phase::add_up, (1 << chosen.plan.bits_of_digit) * 32 / chosen.plan.threads_per_block);
    launch_phase(sort_phase::move, chosen.blocks);
  }
  i64 const blocks = (chosen.elements + chosen.slots / 32) / chosen.plan.threads_per_block + 1; // a warp for every 1024 slots
  launch_phase(sort_phase::begin, planning::least_of(blocks, i64(r.f.of.target.multiprocessors) * 16));
}

} // namespace tally::v0::gpu
