// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The words of elements that are written, and of the kernel that they share with their lets. Compiled side, plan.
#include "base/formatted.hpp"
#include "plan/domains.hpp"

#include "plan/words.hpp"

#include <tally/run/cpu_elements.hpp>

#include <utility>

namespace tally::v0::words {

void word_elements(domain_description& d) {
  if (!d.of.on_gpu) {
    d.route = "runs of elements";
    d.shape = formatted("up to {} neighbours along the innermost axis, in vector registers where columns lie together", cpu::elements_of_run);
    d.cut = "runs dealt to " + several(d.of.threads, "thread");
    if (planning::turned_axis_of({d.of.facts, d.at}) >= 0 && d.of.facts.bytes_per_row() <= cpu::most_bytes_of_tiles)
      d.shape = formatted("tiles of {} neighbours of {} rows, brought along the axis that memory follows", cpu::elements_of_tile_row, cpu::rows_of_tile);
    for (auto& s : d.of.sources) word_host_source(s);
    return;
  }
  d.of_elements = make_elements_plan({d.of.facts, d.at}, d.written, d.arrays);
  axes_plan const& p = d.of_elements.plan.strip;
  d.blocks = d.of_elements.blocks;
  bool const turned = d.of_elements.plan.turned_axis >= 0;
  d.route = turned ? "turned_elements" : "elements";
  d.shape = formatted("{} of a thread, {} of them in flight together", several(p.groups_per_thread, "neighbour"), several(p.batches, "strip"));
  if (turned)
    d.shape += formatted("; neighbouring threads load neighbours along kept axis {}, and tiles are turned in shared memory{}", d.of_elements.plan.turned_axis,
                         d.of_elements.plan.in_bulk && d.of_elements.plan.bytes_per_store[0] == 16 ? ", which they leave by the bulk engine" : "");
  d.cut = formatted("one launch: {} of {} threads, {} B a store", several(d.blocks, "block"), p.threads_per_block(), d.of_elements.plan.bytes_per_store[0]);
  word_grid_loads(d, p, turned ? "neighbours in neighbouring threads" : "neighbouring elements", planning::loaded_axis::kept);
  add_refusals(d, d.of_elements.why_not);
}

void join_rows(grouped_description& d) {
  if (!d.head.on_gpu || d.domains.size() < 2) return;
  auto& writes = d.domains.back();
  if (writes.kind != grouping_kind::elements || writes.groups == 0) return;
  if (!writes.no_rows.empty()) {
    writes.why_not.insert(writes.why_not.begin(), writes.no_rows.begin(), writes.no_rows.end());
    return;
  }
  writes.rows.of.target = d.head.facts.target;
  for (std::size_t c = 0; c < d.head.sources.size(); ++c) writes.rows.of.sources[c].address_alignment = d.head.sources[c].address_alignment;
  writes.of_rows = make_rows_plan(writes.rows, writes.written, writes.arrays);
  if (!writes.of_rows.possible) {
    auto apart = std::exchange(writes.why_not, {});
    add_refusals(writes, writes.of_rows.why_not);
    writes.why_not.insert(writes.why_not.end(), apart.begin(), apart.end());
    return;
  }
  axes_plan const& p = writes.of_rows.plan.strip;
  int const together = writes.of_rows.plan.blocks_per_row;
  writes.why_not.clear();
  writes.blocks = writes.of_rows.blocks;
  writes.route = "rows_with_let";
  writes.shape = "a row comes into registers once, is folded by every let in turn, and is written; " +
                 (p.one_leaf ? formatted("{} a warp", several(p.threads_across, "row"))
                  : together > 1 ? formatted("a cluster of {} a row, {} a block, a leaf each", several(together, "block"), several(p.warps_per_group, "warp"))
                                 : formatted("{} a row, a leaf each", several(p.warps_per_group, "warp"))) +
                 (writes.of_rows.plan.asks_ahead ? formatted("; {} behind is asked for", writes.of_rows.rows_ahead == 1 ? "the row" : formatted("the row {}", writes.of_rows.rows_ahead)) : "");
  if (p.late != 0) writes.shape += "; columns that no let looks at are loaded when elements are written";
  writes.cut = formatted("one launch: {} of {} threads, {} B a store", several(writes.blocks, "block"), p.threads_per_block(),
                         writes.of_rows.plan.bytes_per_store[0]);
  writes.of.sources.resize(d.head.sources.size()); // answers stay on the chip
  writes.origins.resize(d.head.sources.size());
  word_grid_loads(writes, p, "neighbours along a row", planning::loaded_axis::kept);
  for (auto& one : d.domains) {
    if (!one.is_let) continue;
    one.shares_read = true;
    one.route = "rows_with_let";
    one.shape = "folded on chip, in the kernel of " + writes.name;
    one.cut.clear();
    one.why_not.clear();
    one.bytes_of_answers = 0;
    for (std::size_t c = 0; c < one.of.sources.size(); ++c) {
      auto& s = one.of.sources[c];
      s.load = "registers";
      s.why = one.origins[c].home == column_home::answers ? "folded just before" : "every element is read once";
    }
  }
}

} // namespace tally::v0::words
