// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds by key on a GPU: stage what is in host memory, plan, find or compile the kernel, and launch it for its three phases.
#include <tally/plan/spell.hpp>
#include <tally/run/gpu_keys.hpp>

#include <tally/base/error.hpp>

#include <fmt/format.h>

namespace tally::inline v0::gpu {

unit unit_of(keyed_type const& t, keys_plan const& p) {
  unit u;
  u.header = "tally/kernel/by_key.cuh";
  u.extra_headers = headers_for(t.of);
  u.definitions = t.of.definitions();
  u.assertions = layout_assertions(t.of) + fmt::format("using where = {};\nstatic_assert(sizeof(where) == {}, \"host and device lay its key out alike\");\n",
                                                       t.where(), t.where_bytes);
  u.name_expression = fmt::format("tally::kernel::by_key<{}, {}, {}, {}>", spell(p), t.where(), t.of.program(), t.of.nodes());
  return u;
}

namespace {

/// Cells of all folds one after the other, then locks, each at 256 bytes.
keyed_memory lay_out(keys_request const& r, keys_plan const& plan, keys_in_flight& flight) {
  auto const aligned = [](std::size_t bytes) { return (bytes + 255) / 256 * 256; };
  keyed_memory memory{};
  flight.stray = allocate(3 * sizeof(u64), r.ordinal, r.stream);
  memory.stray = static_cast<u64*>(flight.stray.data());
  if (plan.in_place) {
    for (int i = 0; i < r.type->fold_count; ++i) memory.cells[i] = r.to.at[i];
    return memory;
  }
  std::size_t begin[max_keyed_folds + 1]{};
  auto const slots = static_cast<std::size_t>(r.f.slots);
  std::size_t at = 0;
  for (int i = 0; i < r.type->fold_count; ++i) {
    begin[i] = at;
    at += aligned(slots * static_cast<std::size_t>(r.type->cell_bytes[i]));
  }
  std::size_t const locks = at;
  if (r.type->locks) at += aligned(slots * 4);
  flight.cells = allocate(at, r.ordinal, r.stream);
  auto* const base = static_cast<char*>(flight.cells.data());
  for (int i = 0; i < r.type->fold_count; ++i) memory.cells[i] = base + begin[i];
  memory.locks = r.type->locks ? reinterpret_cast<u32*>(base + locks) : nullptr;
  return memory;
}

} // namespace

keys_planned enqueue(keys_request& r, keys_in_flight& flight) {
  r.f.of.target = target_of(r.ordinal);
  stage_columns(r.columns, r.f.of.source_count, r.f.of.sources, r.ordinal, r.stream, flight.staged);
  keys_planned const chosen = make_keys_plan(r.f);
  kernel const& k = r.kernels->get(chosen.plan, r.ordinal, [&] { return unit_of(*r.type, chosen.plan); });
  keyed_memory memory = lay_out(r, chosen.plan, flight);
  int phase = 0;
  void* arguments[] = {const_cast<void*>(r.where), r.program, &r.f.at, const_cast<void*>(r.nodes), &memory, &r.to, &phase};
  launch_shape over_slots, over_elements;
  over_slots.block_threads = over_elements.block_threads = static_cast<unsigned>(chosen.plan.threads_per_block);
  i64 const blocks = (r.f.slots - 1) / chosen.plan.threads_per_block + 1;
  over_slots.grid_blocks = static_cast<unsigned>(planning::least_of(blocks, i64(r.f.of.target.multiprocessors) * 16));
  over_elements.grid_blocks = static_cast<unsigned>(chosen.blocks);
  over_elements.dynamic_shared_bytes = static_cast<std::size_t>(chosen.shared_bytes);
  for (; phase < 3; ++phase) launch(k, phase == 1 ? over_elements : over_slots, arguments, r.stream);
  return chosen;
}

stray_key stray_of(keys_request const& r, keys_in_flight const& flight) {
  u64 found[3];
  copy(found, flight.stray.data(), sizeof found, r.ordinal, r.stream);
  wait(r.ordinal, r.stream);
  if (found[0] == ~u64(0) && found[2] != 0) throw overflow("a checked sum by key left the range of its 64-bit accumulator.");
  return {static_cast<i64>(found[0]), found[1]};
}

} // namespace tally::inline v0::gpu
