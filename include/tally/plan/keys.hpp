// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The planner of folds by key, as a contents page: where elements meet, how they are loaded, how many blocks there are. Layer 3.
#pragma once

#include <tally/plan/axes.hpp>
#include <tally/plan/keys_plan.hpp>

namespace tally::inline v0 {

/// Everything about one keyed read; `of` has the sources, folds and target, `at` where elements are.
struct keys_facts {
  facts of;
  axes_layout at;
  i64 slots;          ///< bins by the groups of `at`
  int own_cell_bytes; ///< of all folds of one slot, in a block's own table; 0: some fold cannot be kept there
  bool rows_have_one_key;
  bool adds_floats; ///< and nothing else, without masks: `red` takes neighbours at once
};

struct keys_planned {
  keys_plan plan;
  i64 blocks;
  i64 shared_bytes; ///< of a block
  why_not_list why_not;
};

namespace planning {

/// Room for a block's own table, leaving some for the system: of the 227 KiB of an H200.
constexpr i64 shared_bytes_for_table(facts const& f) { return f.target.shared_bytes_per_block - 2048; }
/// Replicas spread hot bins over banks, as long as four blocks of a multiprocessor have room.
inline constexpr i64 bytes_for_replicas = 32 * 1024;

/// Cells up to here take few instructions, so that many elements are worth being in flight: one exact sum of floats has 112 bytes.
inline constexpr int light_cell_bytes = 256;

constexpr bool elements_in_order(keys_facts const& f) {
  if (f.at.groups != 1 || f.at.reduced_axes != 1 || f.at.reduced[0].position_step != 1)
    return false;
  for (int c = 0; c < f.of.source_count; ++c)
    if (f.of.sources[c].bytes_per_element > 0 && f.at.reduced[0].steps[c] != 1)
      return false;
  return true;
}
constexpr bool aligned_for(facts const& f, int elements) {
  for (int c = 0; c < f.source_count; ++c) {
    i64 const bytes = least_of(16, i64(f.sources[c].bytes_per_element) * elements);
    if (f.sources[c].bytes_per_element > 0 && ((bytes & (bytes - 1)) != 0 || f.sources[c].address_alignment % bytes != 0))
      return false;
  }
  return true;
}
constexpr keys_route choose_keys_route(keys_facts const& f, why_not_list& why) {
  if (f.own_cell_bytes > 0 && f.slots * f.own_cell_bytes <= shared_bytes_for_table(f.of))
    return keys_route::in_shared_memory;
  if (f.own_cell_bytes == 0)
    why.add("table of a block", "a fold keeps its state behind a lock");
  else
    why.add("table of a block", "{0} slots of {1} bytes do not fit", -1, f.slots, f.own_cell_bytes);
  if (f.rows_have_one_key)
    return keys_route::rows_to_global;
  return keys_route::in_global_memory;
}
constexpr int choose_row_load(keys_facts const& f) {
  for (int v = 4; v > 1; v /= 2) {
    bool fits = f.at.groups % v == 0;
    for (int c = 0; c < f.of.source_count && fits; ++c) {
      i64 const bytes = f.of.sources[c].bytes_per_element * v;
      if (f.at.kept[0].steps[c] == 1)
        fits = bytes == 0 || ((bytes & (bytes - 1)) == 0 && alignment_in_grid({f.of, f.at}, c) >= least_of(16, bytes));
    }
    if (fits)
      return v;
  }
  return 1;
}

} // namespace planning

/// Plans one keyed read of at least one element and one slot.
constexpr keys_planned make_keys_plan(keys_facts const& f) {
  keys_planned out{};
  keys_plan& p = out.plan;
  p.route = planning::choose_keys_route(f, out.why_not);
  p.in_order = planning::elements_in_order(f);
  bool const light = f.own_cell_bytes > 0 && f.own_cell_bytes <= planning::light_cell_bytes;
  p.elements_per_load = p.in_order && light && planning::aligned_for(f.of, 4) ? 4 : 1;
  p.loads_in_flight = !p.in_order || !light ? 1 : f.own_cell_bytes <= 16 ? 4 : 2;
  p.replicas = 1;
  p.threads_per_row = 1;
  p.threads_per_block = 512;
  i64 const multiprocessors = f.of.target.multiprocessors;
  i64 elements = f.at.extent * f.at.groups;
  if (p.route == keys_route::in_shared_memory) {
    p.replicas = 8 * f.slots * f.own_cell_bytes <= planning::bytes_for_replicas ? 8 : 1;
    out.shared_bytes = p.replicas * f.slots * f.own_cell_bytes;
    i64 const resident = 4 * (out.shared_bytes + 2048) <= f.of.target.shared_bytes_per_block ? 4 : 2 * (out.shared_bytes + 2048) <= f.of.target.shared_bytes_per_block ? 2 : 1;
    p.threads_per_block = resident == 4 ? 512 : 1024;
    out.blocks = multiprocessors * resident;
  } else {
    out.blocks = multiprocessors * 8;
    p.threads_per_block = 256;
  }
  if (p.route == keys_route::rows_to_global) {
    p.elements_per_load = f.adds_floats ? planning::choose_row_load(f) : 1; // atomics of neighbouring threads meet in one line
    while (p.threads_per_row < 32 && i64(p.threads_per_row) * p.elements_per_load < f.at.groups)
      p.threads_per_row *= 2;
    elements = f.at.extent * p.threads_per_row;
    p.loads_in_flight = light ? 4 : 1;
  }
  i64 const of_block = i64(p.threads_per_block) * (p.route == keys_route::rows_to_global ? 1 : p.elements_per_load);
  out.blocks = planning::least_of(out.blocks, (elements - 1) / of_block + 1);
  return out;
}

} // namespace tally::inline v0
