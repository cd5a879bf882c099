// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How much one block does: threads, leaves per warp, and from them the number of blocks. Layer 3. It stands after the
// loads, whose registers bound how many leaves may be in flight, and before the grid, which combines what it yields.
#pragma once

#include <tally/plan/facts.hpp>
#include <tally/plan/load.hpp>
#include <tally/plan/tile_ahead.hpp>
#include <tally/plan/tile_in_grid.hpp>
#include <tally/plan/why_not.hpp>

namespace tally::v0::planning {

/// Blocks of a grid. An exact sum is carried into its words once a block, so of those there are no more than run at once: their
/// warps go on by turns until no leaf is left, and there are no more of them than that number of turns needs; where walks take turns blocks do not stay. H200, CUDA 13.0,
/// 2026-11-20 (tests/bench/tune exact), f32, us with 132, 128 and 124 blocks: 2^23 13.70, 13.45, 15.18; 2^24 21.49, 21.26, 23.40.
constexpr i64 blocks_of(facts const& f, plan const& p) {
  i64 const blocks = (f.leaves() - 1) / p.leaves_per_block() + 1, at_once = i64(f.target.multiprocessors) * p.blocks_per_multiprocessor;
  if (!f.any_exact() || p.takes_turns || blocks <= at_once)
    return blocks;
  i64 const turns = (f.leaves() - 1) / (at_once * p.warps_per_block()) + 1;
  return (f.leaves() - 1) / (turns * p.warps_per_block()) + 1;
}

/// Threads of a block of exact sums: its warps meet in it, its blocks in the last, so four times as many blocks as warps take least
/// of both. H200, CUDA 13.0, 2026-11-20 (tests/bench/tune exact), us with 128, 256, 512 and 1024 threads: 2^16 3.89, 3.97, 4.67, 6.13;
/// 2^18 4.82, 4.14, 4.69, 6.18; 2^20 9.19, 6.37, 5.64, 6.85; 2^22 14.33, 11.20, 10.06, 9.46.
constexpr int threads_of_exact(facts const& f) {
  int const most = f.sources_named() == 1 && f.state_bytes() <= 64 && !f.keys_beside ? 32 : 16; // 1024 threads have 64 registers each
  int warps = 4;
  while (warps < most && i64(16) * warps * warps <= f.leaves())
    warps *= 2;
  return 32 * warps;
}

/// Leaves of a warp without a ring. One, where a state is a word or two: the loads of a whole leaf are in flight at once, and
/// small blocks leave no ragged last wave. Eight, where combining costs: the trees of eight leaves side by side take little
/// more than one, as soon as there are leaves for every multiprocessor. H200, CUDA 13.0, 2026-11-20 (tests/bench/tune), f32 of
/// 2^28, us for 1, 4 and 8 leaves: sum 236.9, 243, -; variance 274.9, 246.4, 245.0; argmax 261.2, 243.8, 244.4. Of 2^24:
/// variance 25.3, 22.9, 22.0.
constexpr int leaves_without_ring(facts const& f) {
  bool const enough = f.leaves() >= i64(8) * 512 / 32 * 3 / 4 * f.target.multiprocessors;
  return !f.any_exact() && f.state_bytes() > 8 && enough ? 8 : 1;
}

/// The same where every block has tables of folds by key to fill and to give away: as many as leave the chip blocks for a turn and a half.
constexpr int leaves_beside_keys(facts const& f, plan const& p) {
  i64 const warps = i64(p.warps_per_block()) * p.blocks_per_multiprocessor * f.target.multiprocessors;
  int leaves = 1;
  while (leaves < 32 && f.leaves() >= 3 * warps * leaves)
    leaves *= 2;
  return leaves;
}

/// Shared memory that a kernel has without asking for more: the rooms of its exact sums, a word or two of every digit a warp, and where there are
/// other folds beside them, of all states of its warps.
inline constexpr i64 bytes_for_rooms = 47 * 1024;
constexpr i64 room_bytes(facts const& f, i64 warps) {
  i64 bytes = 0;
  bool others = false;
  for (int i = 0; i < f.fold_count; ++i) {
    others = others || !f.folds[i].exact;
    if (f.folds[i].exact)
      bytes += (2 * warps + 1) * f.folds[i].state_bytes;
  }
  return bytes == 0 ? 0 : bytes + (others ? warps * f.state_bytes() : 0);
}

constexpr void choose_tile_alone(facts const& f, plan& p, why_not_list& why) {
  bool const heavy = f.running_bytes() > 16 || f.sources_named() > 2;
  bool const wide = f.sources_named() > 2 || f.running_bytes() > 64;
  bool const few = !f.any_exact() && f.state_bytes() > 8 && f.leaves() < i64(512 / 32) * f.target.multiprocessors;
  p.leaves_per_warp = p.stages > 0 ? leaves_of_ring(f, p) : leaves_without_ring(f);
  p.threads_per_block = p.stages > 0                             ? threads_of_ring(f, p)
                        : wide || few || p.leaves_per_warp > 1 ? 256
                        : f.any_exact()                        ? threads_of_exact(f)
                                                               : 512;
  p.blocks_per_multiprocessor = heavy || f.any_exact() ? 1 : 2;
  if (reckons_places(f, p)) {
    p.threads_per_block = threads_beside_places;
    p.blocks_per_multiprocessor = 512 / threads_beside_places;
  }
  if (f.keys_beside && !f.any_exact())
    p.leaves_per_warp = leaves_beside_keys(f, p);
  if (wide && p.stages == 0)
    why.add("512 threads", "a leaf of {0} sources and {1} bytes of state would not fit the registers of a full block", -1,
            f.sources_named(), f.running_bytes());
  else if (few)
    why.add("512 threads", "{0} leaves would leave some of {1} multiprocessors without any", -1, f.leaves(), f.target.multiprocessors);
}

/// The same of a walk that takes turns: all walks have blocks of one size, which are soon done (plan/turns.hpp).
constexpr void choose_tile_in_turns(facts const& f, plan& p) {
  bool const heavy = f.running_bytes() > 16 || f.sources_named() > 2, wide = f.sources_named() > 2 || f.running_bytes() > 64;
  i64 const of_leaf = f.elements_per_leaf() * (f.bytes_per_row() > 0 ? f.bytes_per_row() : 4);
  p.threads_per_block = f.threads_in_turns;
  p.blocks_per_multiprocessor = wide ? 1 : (heavy || f.any_exact() ? 512 : 1024) / p.threads_per_block;
  p.leaves_per_warp = 1;
  while (!f.keys_beside && p.leaves_per_warp < 8 && 2 * p.leaves_per_warp * of_leaf <= 16 * 1024)
    p.leaves_per_warp *= 2;
}

constexpr void choose_tile(facts const& f, plan& p, why_not_list& why) {
  if (f.threads_in_turns > 0)
    choose_tile_in_turns(f, p);
  else if (p.reads_ahead)
    choose_tile_ahead(f, p);
  else
    choose_tile_alone(f, p, why);
  while (f.threads_in_turns == 0 && p.threads_per_block > 32 && f.leaves() <= p.warps_per_block() / 2) // one block, with no warp in vain
    p.threads_per_block /= 2;
  while (p.threads_per_block > 32 && room_bytes(f, p.warps_per_block()) > bytes_for_rooms)
    p.threads_per_block /= 2;
  // 1024 threads of an exact sum, with 8 and 4 rows, us: 2^22 9.48, 9.00; 2^24 21.67, 20.57; 2^26 66.54, 65.66 (tune exact)
  p.rows_in_flight = p.stages > 0          ? (f.any_exact() && f.sources_named() == 1 && f.running_bytes() <= 32 ? f.rows_per_leaf : 2)
                     : reckons_places(f, p) && f.threads_in_turns == 0 ? rows_beside_places(f, p)
                     : f.sources_named() <= 1 ? f.rows_per_leaf / (p.threads_per_block == 1024 ? 2 : 1)
                                           : f.rows_per_leaf / (f.sources_named() == 2 ? 2 : 4);
}

/// Dynamic shared memory of a block: its warps' rings.
constexpr i64 ring_bytes_per_block(facts const& f, plan const& p) {
  return p.stages == 0 ? 0 : f.bytes_per_row() * p.elements_per_leaf() * p.stages * p.warps_per_block();
}

} // namespace tally::v0::planning
