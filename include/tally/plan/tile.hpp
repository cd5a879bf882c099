// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How much one block does: threads, leaves per warp, and from them the number of blocks. Layer 3. It stands after the
// loads, whose registers bound how many leaves may be in flight, and before the grid, which combines what it yields.
#pragma once

#include <tally/plan/facts.hpp>
#include <tally/plan/why_not.hpp>

namespace tally::inline v0::planning {

constexpr int power_of_two_at_most(i64 n, int most) {
  int p = 1;
  while (p * 2 <= n && p * 2 <= most)
    p *= 2;
  return p;
}

constexpr void choose_tile(facts const& f, plan& p, why_not_list& why) {
  i64 const leaves = f.leaves();
  i64 const per_wave = i64(f.target.multiprocessors) * 64; // warps the chip holds at once
  bool const heavy = f.state_bytes() > 16 || f.source_count > 2;
  p.threads_per_block = heavy ? 256 : 512;
  if (leaves <= 2 * f.target.multiprocessors * i64(p.warps_per_block()))
    p.threads_per_block = 256;
  p.leaves_per_warp = power_of_two_at_most(leaves / per_wave, 4);
  p.rows_in_flight = f.source_count <= 1 ? f.rows_per_leaf : (f.source_count == 2 ? f.rows_per_leaf / 2 : f.rows_per_leaf / 4);
  p.blocks_per_multiprocessor = heavy ? 2048 / p.threads_per_block / 4 : 2048 / p.threads_per_block / 2;
  if (heavy)
    why.add("512 threads", "{0} bytes of state and {1} sources would not fit the registers of a full block", -1,
            f.state_bytes(), f.source_count);
}

} // namespace tally::inline v0::planning
