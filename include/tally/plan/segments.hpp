// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The planner of segments, as a contents page: from the facts of a program to the plan of its kernel, and from extents to the cut of
// its work. Layer 3. Nothing here looks at an offset, which may be known to the device alone.
#pragma once

#include <tally/plan/facts.hpp>
#include <tally/plan/segments_plan.hpp>

namespace tally::v0 {

namespace planning {

/// Shared memory of a warp: a tile of f32 is one leaf.
inline constexpr i64 tile_bytes = 4096;
/// Bytes of elements that a lane has in flight.
inline constexpr i64 bytes_in_flight = 64;

constexpr i64 bounded(i64 low, i64 x, i64 high) { return x < low ? low : x > high ? high : x; }
constexpr i64 power_of_two_up_to(i64 n) {
  i64 p = 1;
  while (2 * p <= n)
    p *= 2;
  return p;
}

/// Elements of a tile: whole groups of eight, so that lanes that read side by side meet different banks, and a leaf at the most.
constexpr int choose_tile(facts const& f) {
  i64 const row = f.bytes_per_row();
  return int(bounded(64, power_of_two_up_to(tile_bytes / (row > 0 ? row : 4)), f.elements_per_leaf()));
}
/// Bytes of shared memory that a warp's tile takes, gaps between groups of eight elements included.
constexpr i64 bytes_of_tile(facts const& f, int elements) {
  i64 bytes = 64;
  for (int c = 0; c < f.source_count; ++c)
    if (i64 const size = f.sources[c].bytes_per_element; size > 0)
      bytes += (elements + 8 + (elements + 8) / 8 * (size >= 4 ? 1 : 4 / size)) * size + 16;
  return bytes;
}
/// Warps of a block, which share nothing: as many as keep their tiles in the shared memory that every chip has.
constexpr int choose_warps(facts const& f, int tile_elements) {
  int warps = 8;
  while (warps > 1 && warps * bytes_of_tile(f, tile_elements) > 48 * 1024)
    warps /= 2;
  return warps;
}
/// Eight elements of a lane are a straight tree in registers, unless states are wide.
constexpr int choose_elements_per_lane(facts const& f) { return f.state_bytes() <= 16 ? 8 : f.state_bytes() <= 64 ? 4 : 2; }
constexpr int choose_rows_in_flight(facts const& f) {
  i64 const row = f.bytes_per_row() > 0 ? f.bytes_per_row() : 4;
  return int(bounded(1, power_of_two_up_to(bytes_in_flight / (row * f.lanes_per_group)), f.rows_per_leaf));
}

/// Blocks that a multiprocessor holds at once: many where a thread keeps little. Four is quicker than three, five and six for ten
/// distributions of segments of f32: docs/measured/segments_h200.md, 2026-11-22.
constexpr int choose_blocks(facts const& f) {
  return f.state_bytes() <= 8 && f.bytes_per_row() <= 8 ? 4 : f.state_bytes() <= 16 && f.bytes_per_row() <= 16 ? 3 : 1;
}

/// Leaves of a part: few, so that there are many warps; twice as many where segments are longer and warps enough, so that fewer are cut.
/// Segments of 16384 f32 271 us with 8 and 251 with 16; of 128 to 2048 381 with 8, and 411 with 16 and lines asked for ahead, which else makes no
/// difference: H200, 2026-11-24 20:55 to 22:08, build/bench/segments with `tune`.
constexpr int choose_leaves_per_part(facts const& f, i64 segments) {
  constexpr int usual = 8, warps_of_multiprocessor = 32;
  i64 const part = usual * f.elements_per_leaf();
  bool const long_ones = segments > 0 && f.extent / segments > part;
  return long_ones && f.extent / (2 * part) >= i64(f.target.multiprocessors) * warps_of_multiprocessor ? 2 * usual : usual;
}

/// Segments that a lane reads where they lie, where they have as few elements as a lane folds, on average: two, unless their elements take
/// many registers. 2^28 f32, us, one, two and none: uniform 1 to 8 663, 597 and 864, geometric of mean 4 834, 843 and 1450, of mean 8 835, 907 and
/// 1009; where segments are longer both lose 2 to 17 %. H100, 2026-11-25 12:57, build/bench/segments with `tune`.
constexpr int choose_segments_per_lane(facts const& f, i64 segments) {
  i64 const bytes = f.bytes_per_row();
  bool const short_ones = segments > 0 && f.extent / segments < choose_elements_per_lane(f) && bytes <= 16;
  return !short_ones ? 0 : bytes <= 4 && f.state_bytes() <= 8 ? 2 : 1;
}

/// Warps of a block where there are exact sums and nothing whose order counts: as many as have, beside their tiles, room for their digits in the shared
/// memory that every chip has; 0: one has none, or there is nothing to fold in windows.
constexpr int choose_warps_in_windows(facts const& f, segments_plan const& p) {
  i64 of_warp = bytes_of_tile(f, p.tile_elements), of_block = 0;
  for (int i = 0; i < f.fold_count; ++i)
    if (f.folds[i].exact)
      of_warp += 2 * f.folds[i].state_bytes, of_block += 32 + f.folds[i].state_bytes;
  int warps = f.only_exact_and_free() ? p.warps_per_block : 0;
  while (warps > 0 && of_block + warps * of_warp > 48 * 1024)
    warps /= 2;
  return warps;
}

/// Blocks that a multiprocessor holds at once where exact sums are folded in windows. 2^28 f32 by rows of 64 and of 1024, 2^27 f64 by rows of 64, us, with
/// two, three and four: 1020, 933, 998; 607, 538, 565; 4740, 8430, 13660. H100, 2026-11-26.
constexpr int choose_blocks_in_windows(facts const& f, int warps) {
  return int(bounded(1, (f.state_bytes() <= 160 ? 3 : 2) * (8 / warps), 16)); // which every chip holds
}

} // namespace planning

/// Plans the kernel of so many segments, or of a batch; 0: nobody knows how many.
constexpr segments_plan make_segments_plan(facts const& f, i64 segments = 0) {
  segments_plan p{};
  p.tile_elements = planning::choose_tile(f);
  p.warps_per_block = planning::choose_warps(f, p.tile_elements);
  p.blocks_per_multiprocessor = planning::choose_blocks(f);
  p.elements_per_lane = planning::choose_elements_per_lane(f);
  p.rows_in_flight = planning::choose_rows_in_flight(f);
  p.leaves_per_part = planning::choose_leaves_per_part(f, segments);
  p.segments_per_lane = planning::choose_segments_per_lane(f, segments);
  if (int const warps = planning::choose_warps_in_windows(f, p); warps > 0) {
    p.in_windows = true;
    p.segments_per_lane = 0;
    p.warps_per_block = warps;
    p.blocks_per_multiprocessor = planning::choose_blocks_in_windows(f, warps);
  }
  return p;
}

/// The elements of a part.
constexpr i64 elements_per_part(facts const& f, segments_plan const& p) { return f.elements_per_leaf() * p.leaves_per_part; }

/// The cut of one launch over `extent` elements, and how many places its meetings need.
struct segments_launch {
  segments_cut cut;
  i64 blocks;
  i64 places;
};
constexpr segments_launch cut_segments(facts const& f, segments_plan const& p, i64 extent, i64 segments, i64 base) {
  segments_launch out{};
  out.cut.extent = extent;
  out.cut.base = base;
  out.cut.share = elements_per_part(f, p);
  i64 const warps = (extent + segments * cost_of_offset) / out.cut.share + 1;
  out.blocks = (warps - 1) / p.warps_per_block + 1;
  i64 size = out.cut.share;
  for (int l = 0; l < max_meeting_levels; ++l) {
    out.cut.levels.begin[l] = out.places;
    if (size < extent) {
      out.places += 2 * (extent / size + 1);
      size *= parts_that_meet;
    }
  }
  return out;
}

} // namespace tally::v0
