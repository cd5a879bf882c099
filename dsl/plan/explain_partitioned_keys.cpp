// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The words of folds by key on a GPU that partitions elements by slot first. Compiled side, plan.
#include "base/formatted.hpp"
#include "plan/domains.hpp"
#include "plan/words.hpp"

#include <algorithm>

namespace tally::v0::words {

void word_partitioned_keys(domain_description& d, keys_facts const& f, i64 partitions) {
  d.of_partitions = make_partitioned_keys_plan(f, partitions);
  partitioned_keys_planned const& planned = d.of_partitions;
  partitioned_keys_plan const& p = planned.plan;
  bool const found = d.kind == grouping_kind::found_keys;
  d.blocks = planned.fold_blocks;
  d.route = found ? "found keys, partitioned" : "partitioned";
  if (found) d.shape = search_of(d);
  d.shape += formatted("elements are brought into the order of {} of {} in tiles of {}, {} of each with its slot, in {} of global memory{}; a block folds what some tiles have "
                       "of a partition in shared memory, {}, and adds it to the slots of all; where a sample says that keys come in runs, elements are folded as they come instead, "
                       "and a block keeps the first {} that it meets in {} neighbours to itself",
                       several(planned.partitions, "partition"), several(p.slots_of_partition, "slot"), p.elements_of_tile(),
                       bytes(double(planning::travelling_bytes(f))), bytes(double(planned.tile_bytes)),
                       (planned.parts > 1 ? formatted(", {} of the source one after the other", several(planned.parts, "part")) : std::string()) +
                           (planned.passes > 1 ? formatted(", in {} that take {} each", several(planned.passes, "turn"), several(planned.of_pass, "partition")) : std::string()),
                       bytes(double(planned.fold_shared_bytes)), several(p.in_runs.hot_slots, "slot"), p.in_runs.turns_of_table * p.in_runs.elements_of_turn());
  d.shape += windows_of(p.table, f);
  d.cut = formatted("{} of {} threads, {} a thread; folds: {} of {} threads, {} for a tile, {} at once", several(planned.blocks, "block"),
                    p.threads_per_block, several(p.elements_per_thread, "element"), several(d.blocks, "block"), p.table.threads_per_block,
                    several(p.threads_per_run, "thread"), several(p.tiles_in_flight, "tile"));
  if (found) d.cut = formatted("{}; {}", cut_of_search(d), d.cut);
  for (std::size_t c = 0; c < d.of.sources.size(); ++c) {
    auto& s = d.of.sources[c];
    s.load = s.bytes_per_element == 0 ? "computed" : formatted("ldg, {} B per load", std::min<i64>(16, s.bytes_per_element * p.elements_per_load));
    s.why = s.bytes_per_element == 0 ? "nothing is read" : (f.travelling >> c & 1) != 0 ? "in the order of the source, and again in that of the partitions" : "in the order of the source";
    if (s.staged) s.why += ", after a copy from host memory";
  }
  add_refusals(d, planned.why_not);
}

} // namespace tally::v0::words
