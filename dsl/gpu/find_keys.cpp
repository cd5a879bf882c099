// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The keys of a read on a GPU: a table that grows until it holds them, and the launches that fill it, and sort and number the keys.
#include "base/formatted.hpp"

#include <tally/plan/spell.hpp>
#include <tally/run/gpu_find_keys.hpp>

#include <tally/base/error.hpp>

#include <algorithm>
#include <bit>

namespace tally::v0::gpu {

unit unit_of(find_keys_type const& t, find_keys_plan const& p) {
  unit u;
  u.header = "tally/kernel/find_keys.cuh";
  u.definitions = t.definitions();
  u.assertions = formatted("using program = {};\nusing where = {};\n"
                           "static_assert(sizeof(program) == {} && sizeof(where) == {}, \"host and device lay a search for keys out alike\");\n",
                           t.program(), t.where(), t.program_bytes, t.where_bytes);
  u.name_expression = formatted("tally::v0::kernel::find_keys<{}, {}, {}>", spell(p), t.where(), t.program());
  return u;
}

namespace {

void launch_phase(find_keys_request const& r, found_keys& found, search_phase phase, i64 blocks) {
  auto at = r.f.at;
  void* arguments[] = {const_cast<void*>(r.where), r.program, &at, &found.at, &phase};
  launch_shape shape;
  shape.block_threads = static_cast<unsigned>(found.chosen.plan.threads_per_block);
  shape.grid_blocks = static_cast<unsigned>(blocks);
  launch(*found.found_by, shape, arguments, r.stream);
}
/// A thread for each of some things, as long as they are few for the chip.
i64 blocks_over(find_keys_request const& r, found_keys const& found, u64 things) {
  return planning::least_of(static_cast<i64>(things - 1) / found.chosen.plan.threads_per_block + 1, i64(r.f.of.target.multiprocessors) * 16);
}
void make_table(find_keys_request const& r, found_keys& found, i64 slots) {
  auto const entry_bytes = static_cast<std::size_t>(2 * r.type->word_bytes);
  found.table = {}; // the smaller one goes first
  found.table = allocate((static_cast<std::size_t>(slots) + 1) * entry_bytes, r.ordinal, r.stream);
  found.at = {};
  found.at.entries = found.table.data();
  found.at.mask = static_cast<u64>(slots) - 1;
  found.at.counts = static_cast<u64*>(found.counts.data());
}
/// The list, sorted: steps of a bitonic network, those within a chunk together.
void sort_list(find_keys_request const& r, found_keys& found) {
  auto& at = found.at;
  i64 const chunks = static_cast<i64>(at.places / at.chunk);
  launch_phase(r, found, search_phase::sort_chunks, chunks);
  for (at.run = 2 * at.chunk; at.run <= at.places; at.run *= 2) {
    for (at.stride = at.run / 2; at.stride >= at.chunk; at.stride /= 2)
      launch_phase(r, found, search_phase::merge_far, blocks_over(r, found, at.places / 2));
    launch_phase(r, found, search_phase::merge_near, chunks);
  }
}

} // namespace

found_keys find_keys(find_keys_request& r, staged_columns& staged) {
  found_keys found{};
  r.f.of.target = target_of(r.ordinal);
  stage_columns(r.columns, r.f.of.source_count, r.f.of.sources, r.ordinal, r.stream, staged);
  found.chosen = make_find_keys_plan(r.f);
  found.found_by = &r.kernels->get(found.chosen.plan, r.ordinal, [&] { return unit_of(*r.type, found.chosen.plan); });
  found.counts = allocate(2 * sizeof(u64), r.ordinal, r.stream);
  for (i64 slots = found.chosen.slots; slots > 0; slots = planning::next_key_slots(r.f, slots)) {
    make_table(r, found, slots);
    launch_phase(r, found, search_phase::clear, blocks_over(r, found, static_cast<u64>(slots) + 1));
    launch_phase(r, found, search_phase::put, found.chosen.blocks);
    u64 met = 0;
    copy(&met, found.at.counts, sizeof met, r.ordinal, r.stream);
    wait(r.ordinal, r.stream);
    if (met <= static_cast<u64>(slots) / 2) {
      found.at.keys = met;
      return found;
    }
  }
  throw too_large("group_by met more than 2^31 keys.");
}

void number_keys(find_keys_request const& r, found_keys& found) {
  auto& at = found.at;
  if (at.keys == 0) return;
  at.places = std::bit_ceil(at.keys);
  at.chunk = std::min(at.places, static_cast<u64>(found.chosen.plan.keys_of_block));
  found.list = allocate(static_cast<std::size_t>(at.places) * static_cast<std::size_t>(r.type->word_bytes), r.ordinal, r.stream);
  at.list = found.list.data();
  launch_phase(r, found, search_phase::list, blocks_over(r, found, at.mask + 2));
  sort_list(r, found);
  launch_phase(r, found, search_phase::number, blocks_over(r, found, at.keys));
}

void fetch_keys(find_keys_request const& r, found_keys const& found, void* words) {
  copy(words, found.at.list, static_cast<std::size_t>(found.at.keys) * static_cast<std::size_t>(r.type->word_bytes), r.ordinal, r.stream);
  wait(r.ordinal, r.stream);
}

} // namespace tally::v0::gpu
