// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How much one block does: threads, leaves per warp, and from them the number of blocks. Layer 3. It stands after the
// loads, whose registers bound how many leaves may be in flight, and before the grid, which combines what it yields.
#pragma once

#include <tally/plan/facts.hpp>
#include <tally/plan/load.hpp>
#include <tally/plan/why_not.hpp>

namespace tally::inline v0::planning {

/// One leaf per warp: the loads of a whole leaf are in flight at once, and small blocks leave no ragged last wave. H200, CUDA
/// 13.0, 2026-11-20, f32 sum of 2^28 (tests/bench/tune): 1 leaf 236.9 us, 4 leaves 243 us.
constexpr void choose_tile(facts const& f, plan& p, why_not_list& why) {
  bool const heavy = f.state_bytes() > 16 || f.source_count > 2;
  p.threads_per_block = p.stages > 0 ? threads_per_ring_block(f) : heavy ? 256 : 512;
  while (p.threads_per_block > 32 && f.leaves() <= p.warps_per_block() / 2) // one block, with no warp in vain
    p.threads_per_block /= 2;
  p.leaves_per_warp = p.stages > 0 ? leaves_per_ring : 1;
  while ((f.leaves() - 1) / p.leaves_per_block() + 1 > 0x7fffffff)
    p.leaves_per_warp *= 2;
  p.rows_in_flight = p.stages > 0          ? 2
                     : f.source_count <= 1 ? f.rows_per_leaf
                                           : f.rows_per_leaf / (f.source_count == 2 ? 2 : 4);
  p.blocks_per_multiprocessor = heavy ? 1 : 2;
  if (heavy && p.stages == 0)
    why.add("512 threads", "{0} bytes of state and {1} sources would not fit the registers of a full block", -1,
            f.state_bytes(), f.source_count);
}

/// Dynamic shared memory of a block: its warps' rings.
constexpr i64 ring_bytes_per_block(facts const& f, plan const& p) {
  return p.stages == 0 ? 0 : f.bytes_per_row() * p.elements_per_leaf() * p.stages * p.warps_per_block();
}

} // namespace tally::inline v0::planning
