// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The words of segments on a GPU: which of them a lane reads where they lie, what a warp stages, and how shares are cut.
// Compiled side, plan.
#include "base/formatted.hpp"
#include "plan/domains.hpp"
#include "plan/words.hpp"

namespace tally::v0::words {

void word_segments_of_gpu(domain_description& d) {
  if (!d.takes_turns) d.of_segments = make_segments_plan(d.of.facts, d.groups);
  segments_plan const& p = d.of_segments;
  auto const launch = cut_segments(d.of.facts, p, d.of.facts.extent, d.groups, 0);
  d.blocks = launch.blocks;
  d.route = "segments";
  if (p.segments_per_lane > 0)
    d.shape = formatted("a lane reads {} of at most {} elements where they lie, as long as a warp meets no longer ones; else ",
                        several(p.segments_per_lane, "segment"), p.elements_per_lane);
  d.shape += formatted("a warp stages {} elements in shared memory and folds whole segments of them, {} a lane; long segments are cut in "
                       "parts of {} leaves",
                       p.tile_elements, p.elements_per_lane, p.leaves_per_part);
  d.cut = formatted("one launch: {} of {} threads, a share of a warp is {} elements and offsets, an offset counts as {}; parts meet {} by {}",
                    several(d.blocks, "block"), p.threads_per_block(), launch.cut.share, cost_of_offset, parts_that_meet, parts_that_meet);
  for (auto& s : d.of.sources) {
    s.load = s.bytes_per_element == 0 ? "computed" : p.segments_per_lane > 0 ? "by the lane of its segment" : "through shared memory";
    s.why = s.bytes_per_element == 0 ? "nothing is read" : p.segments_per_lane > 0 ? "segments are short on average" : "segments begin anywhere";
    if (s.staged) s.why += ", after a copy from host memory";
  }
}

} // namespace tally::v0::words
