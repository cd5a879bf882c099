// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The planner of walks that take turns: folds of the whole, with keys beside them or not, and reads by segment are one launch, whose blocks
// go through the source side by side, so that what one walk has read from memory the others find in L2. Layer 3. Every walk has the
// plan that it has alone, in blocks that are as large as those of the others. docs/decisions/walks_take_turns.md
#pragma once

#include <tally/plan/keys_beside.hpp>
#include <tally/plan/planner.hpp>
#include <tally/plan/segments.hpp>
#include <tally/plan/turns_plan.hpp>

namespace tally::v0 {

/// A read by segment among others: what is known of its program, and how many segments there are, or at most.
struct segments_in_turn {
  facts of;
  i64 segments;
  bool counted; ///< the device knows how many there are
};
struct turns_facts {
  bool any_whole;
  facts whole; ///< of the folds of the whole, or of a count that keys are beside
  int count;   ///< of reads by segment, one at least
  segments_in_turn segments[max_segments_in_turns];
};

struct turns_plan {
  plan whole;
  segments_plan segments[max_segments_in_turns];
  friend constexpr bool operator==(turns_plan const&, turns_plan const&) = default;
};
struct turns_planned {
  bool joins;
  turns_plan plan;
  segments_launch segments[max_segments_in_turns];
  blocks_in_turns blocks;
  i64 all_blocks;
  i64 shared_bytes; ///< the tiles of a block
  why_not_list why_not;
};

namespace planning {
/// Whether so many reads by segment take turns with each other and with folds of the whole, where there are any.
constexpr bool take_turns(int segments, bool any_whole) { return segments > 0 && segments + int(any_whole) > 1; }

/// Bytes that a warp of segments reads at a turn: what all blocks that run at once have begun and the other walks have yet to read lies in L2, so turns are
/// short; but a part of a long segment is no longer than one, and parts have to be found and to meet. Where keys are beside, the folds of the whole are slower
/// than segments, and it is their turns that are short (plan/tile.hpp). 2^28 f32, us, H100, 2026-11-26 01:43 to 01:52: a sum (347 alone) and sums of
/// segments of 16384 (373) 477, 456, 559 and 479 with turns of 8, 16, 32 and 64 KiB of both; segments of 1 to 100000 (425) 500, 487, 569 and 656; a sum, a greatest
/// and a histogram (570) and the first of these 706 with 16 KiB of both, 608 with 32 and 4.
constexpr i64 bytes_at_a_turn(bool keys_beside) { return keys_beside ? 32 * 1024 : 16 * 1024; }
constexpr int leaves_at_a_turn(facts const& f, bool keys_beside) {
  i64 const of_leaf = f.elements_per_leaf() * (f.bytes_per_row() > 0 ? f.bytes_per_row() : 4);
  return int(bounded(2, power_of_two_up_to(bytes_at_a_turn(keys_beside) / of_leaf), 8));
}
/// The plan of a read by segment that takes turns. Half of the warps read what is in L2 already, so each has twice as much in flight.
constexpr segments_plan plan_in_turns(segments_in_turn const& s, bool keys_beside) {
  segments_plan p = make_segments_plan(s.of, s.counted ? 0 : s.segments);
  p.counted = s.counted;
  p.leaves_per_part = leaves_at_a_turn(s.of, keys_beside);
  if (2 * p.rows_in_flight <= s.of.rows_per_leaf)
    p.rows_in_flight *= 2;
  return p;
}
} // namespace planning

/// Plans walks over the same source, of at least one element.
constexpr turns_planned make_turns_plan(turns_facts const& f) {
  turns_planned out{};
  auto const no = [&](char const* sentence) {
    out.joins = false;
    out.why_not.add("the same launch", sentence);
    return out;
  };
  if (!planning::take_turns(f.count, f.any_whole))
    return no("nothing else is folded element by element");
  int warps = 32;
  for (int i = 0; i < f.count; ++i) {
    auto const& s = f.segments[i];
    auto const& p = out.plan.segments[i] = planning::plan_in_turns(s, f.any_whole && f.whole.keys_beside);
    warps = warps < p.warps_per_block ? warps : p.warps_per_block;
    if (i64 const bytes = planning::bytes_of_tile(s.of, p.tile_elements); bytes > out.shared_bytes)
      out.shared_bytes = bytes;
  }
  out.shared_bytes *= warps;
  for (int i = 0; i < f.count; ++i) {
    auto& p = out.plan.segments[i];
    p.warps_per_block = warps;
    out.segments[i] = cut_segments(f.segments[i].of, p, f.segments[i].of.extent, f.segments[i].segments, 0);
    out.all_blocks += out.segments[i].blocks;
    out.blocks.of[1 + i] = static_cast<u32>(out.segments[i].blocks);
  }
  if (f.any_whole) {
    facts whole = f.whole;
    whole.threads_in_turns = 32 * warps;
    planned const p = make_plan(whole);
    out.plan.whole = p.plan;
    out.all_blocks += p.blocks;
    out.blocks.of[0] = static_cast<u32>(p.blocks);
  }
  if (out.all_blocks > 0x7fffffff)
    return no("together they have more blocks than a launch");
  out.joins = true;
  return out;
}

} // namespace tally::v0
