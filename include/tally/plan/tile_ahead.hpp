// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How much one block does where launches read ahead of each other. Layer 3. What counts is not when one launch is done but how
// often one is, so a block folds long subtrees, few blocks meet, and a multiprocessor has room for the next launch's beside them.
//
// H200, CUDA 13.0, 2026-11-22 (TUNE_QUEUED=1 tests/bench/tune), f32 back to back, us, for threads and leaves a warp: sum of 2^22
// 128 x 16 4.08, 512 x 16 4.10, 512 x 1 5.68; of 2^24 512 x 16 15.1, 256 x 16 15.2, 512 x 1 18.5; of 2^28 512 x 16 235.5, 512 x 1
// 237.7. Sum, min, max, mean and variance of 2^24 512 x 16 15.9, 256 x 16 16.0, 512 x 8 17.1. Exact sum of 2^24 256 threads 14.9,
// 512 15.3, 1024 16.3.
#pragma once

#include <tally/plan/facts.hpp>
#include <tally/plan/load.hpp>
#include <tally/plan/tile_in_grid.hpp>

namespace tally::v0::planning {

/// Blocks under which a block does less: a third of the multiprocessors.
constexpr int fewest_blocks_ahead(facts const& f) { return f.target.multiprocessors / 3; }

constexpr void choose_tile_ahead(facts const& f, plan& p) {
  bool const light = f.sources_named() <= 1 && f.state_bytes() <= 8;
  bool const wide = f.sources_named() > 2 || f.running_bytes() > 64;
  bool const heavy = f.running_bytes() > 16 && !wide && !f.any_exact();
  bool const in_grid = reckons_places(f, p);
  p.threads_per_block = p.stages > 0 ? threads_of_ring(f, p) : in_grid ? threads_beside_places : light || heavy ? 512 : 256;
  p.leaves_per_warp = in_grid                            ? leaves_ahead_beside_places
                      : f.any_exact()                      ? 1 // taken by turns
                      : p.stages > 0                     ? leaves_of_ring(f, p)
                      : light && f.state_bytes() > 4 ? leaves_ahead / 2
                                                         : leaves_ahead;
  while (p.threads_per_block > 128 && f.leaves() < i64(p.leaves_per_block()) * fewest_blocks_ahead(f))
    p.threads_per_block /= 2;
  while (p.leaves_per_warp > 1 && f.leaves() < i64(p.leaves_per_block()) * fewest_blocks_ahead(f))
    p.leaves_per_warp /= 2;
  p.blocks_per_multiprocessor = in_grid ? 512 / threads_beside_places : light ? 2 : heavy ? 512 / p.threads_per_block : wide || f.any_exact() ? 1 : 3; // so that none of them spills
}

} // namespace tally::v0::planning
