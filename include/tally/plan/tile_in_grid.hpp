// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How much one block does where a column with axes has to find its rows. Layer 3.
#pragma once

#include <tally/plan/facts.hpp>

namespace tally::v0::planning {

/// Whether a column finds its rows, whose places are reckoned while loads are on their way: then all rows of a leaf are in flight, in blocks of 256 threads
/// with room for 512. H100, 2026-11-26 09:28 and 10:00, 16384 x 16384 beside an operand of its columns, and one of its rows too, us: f32 339 and 343 (512
/// threads and 4 rows 382, 256 and 2 rows 369), bf16 174 and 179 (175, 206). Where launches read ahead, of 4 leaves a warp: f32 341 and 341 (16 leaves 346
/// and 347; 2 rows in flight 396), bf16 172 and 173 (175, 177; 215). A program of its own, by the door of tests/bench/tune.cpp.
constexpr bool reckons_places(facts const& f, plan const& p) {
  for (int i = 0; i < f.source_count; ++i)
    if (finds_its_row(p.sources[i].load))
      return !f.any_exact() && f.state_bytes() <= 8;
  return false;
}

/// Elements that are loaded for a group of lanes.
constexpr int elements_loaded(load_primitive l, int lanes) {
  return l == load_primitive::grid_same_ldg ? 1 : l == load_primitive::grid_two_ldg ? 2 : lanes;
}

/// Rows of a leaf that are in flight then: as long as they leave room among 128 registers.
constexpr int rows_beside_places(facts const& f, plan const& p) {
  i64 words_of_row = 0;
  for (int i = 0; i < f.source_count; ++i)
    words_of_row += (f.sources[i].bytes_per_element * elements_loaded(p.sources[i].load, f.lanes_per_group) + 3) / 4;
  int rows = f.rows_per_leaf;
  while (rows > 1 && rows * words_of_row > 80)
    rows /= 2;
  return rows;
}
inline constexpr int threads_beside_places = 256, leaves_ahead_beside_places = 4;

} // namespace tally::v0::planning
