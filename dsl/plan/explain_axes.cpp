// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The words of groups along axes on a GPU: how they lie on threads, how leaves are cut, and how the columns of a grid are loaded.
// Compiled side, plan.
#include "base/formatted.hpp"
#include "plan/domains.hpp"
#include "plan/words.hpp"

#include <tally/plan/spell.hpp>

#include <algorithm>

namespace tally::v0::words {

void word_grid_loads(domain_description& d, axes_plan const& p, char const* neighbours, planning::loaded_axis loaded) {
  axes_facts const facts{d.of.facts, d.at};
  for (std::size_t c = 0; c < d.of.sources.size(); ++c) {
    auto& s = d.of.sources[c];
    s.load = s.bytes_per_element == 0                         ? "computed"
             : (p.realigned >> c & 1) != 0               ? "ldg, aligned pieces of 16 B, whose lanes are turned once they are folded"
             : p.bytes_per_load[c] > s.bytes_per_element ? formatted("vector_ldg, {} B per load{}", p.bytes_per_load[c], (p.narrow_at_ends >> c & 1) != 0 ? ", element by element where a group ends" : "")
                                                         : formatted("{}ldg, {} B per load", p.striped ? "striped_" : "", s.bytes_per_element);
    i64 const step = loaded == planning::loaded_axis::reduced ? facts.element_step(int(c)) : facts.group_step(int(c));
    s.why = s.bytes_per_element == 0 ? "nothing is read" : step == 0 ? formatted("the same for {}", neighbours) : neighbours;
    if ((p.lasting >> c & 1) != 0) s.why += ", and all along each: once a leaf";
    if (s.bytes_per_element > 0) s.why += formatted(", rows aligned to {} B", planning::alignment_in_grid(facts, int(c), loaded));
    if (s.staged) s.why += ", after a copy from host memory";
  }
}

namespace {
/// Rows of exact sums.
void word_exact_rows(domain_description& d) {
  i64 const extent = d.of.facts.extent;
  d.of.facts.extent = extent * d.groups;
  word_segments_of_gpu(d);
  d.of.facts.extent = extent;
  d.shape = formatted("rows are segments of one size, folded by lanes that share a row where it is staged, else by a warp, long rows in parts of {} leaves; exact sums are "
                      "expansions of numbers near each other, or in windows", d.of_segments.leaves_per_part);
  for (auto& s : d.of.sources)
    if (s.bytes_per_element > 0) s.load = "by a warp for a row", s.why = s.staged ? "rows follow each other, after a copy from host memory" : "rows follow each other";
}
} // namespace

void word_axes_of_gpu(domain_description& d) {
  if (d.exact_rows) return word_exact_rows(d);
  d.planned = make_axes_plan({d.of.facts, d.at});
  axes_plan const& p = d.planned.plan;
  axes_cut const& cut = d.planned.cut;
  bool const along = p.route == axes_route::threads_along_group;
  d.route = spell(p.route);
  d.route = d.route.substr(d.route.rfind(':') + 1);
  if (!along)
    d.shape = formatted("neighbouring threads hold neighbouring groups: {} of a warp across, {} along each, {} a thread{}; {} a block{}{}",
                        several(p.threads_across, "thread"), p.threads_along(), several(p.groups_per_thread, "group"),
                        p.in_stripes() ? formatted(", in {} of a row, so that fewer sectors are loaded twice", several(p.groups_per_thread / p.groups_beside, "stripe")) : "",
                        several(p.warps_per_block, "warp"),
                        p.warps_on_lanes > 1 ? formatted(", {} of them share the lanes of a leaf", p.warps_on_lanes) : "",
                        p.in_windows ? "; exact sums in windows of a thread" : "");
  else if (p.one_leaf)
    d.shape = formatted("neighbouring threads hold neighbouring elements of a group: {} in a warp, the loads of {} in flight together",
                        several(p.threads_across, "group"), several(p.batches, "group"));
  else {
    i64 const of_warp = (std::min(cut.leaves, cut.leaves_of_chunk) - 1) / p.warps_per_group + 1;
    d.shape = formatted("neighbouring threads hold neighbouring elements of a group: {} of a block share it, {}{} each",
                        several(p.warps_per_group, "warp"), of_warp > 1 ? "up to " : "", several(of_warp, of_warp == 1 ? "leaf" : "leave"));
  }
  d.cut = formatted("one launch: {} x {} = {} of {} threads", formatted("{} of {}", several(cut.sets, "set"), along ? "groups" : "strips"),
                    several(cut.chunks, "chunk"), several(d.planned.blocks(), "block"), p.threads_per_block());
  if (cut.chunks > 1) d.cut += formatted(", a chunk is {} of {} leaves; chunks meet in ordered partials", cut.leaves_of_chunk, cut.leaves);
  d.blocks = d.planned.blocks();
  word_grid_loads(d, p, along ? "neighbours along a group" : "neighbouring groups",
                  along ? planning::loaded_axis::reduced : planning::loaded_axis::kept);
  add_refusals(d, d.planned.why_not);
}

} // namespace tally::v0::words
