// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether the grid is one cluster, and how its states meet then, per fold. Layer 3. It stands after the tile, which says how
// many blocks there are: up to as many as a cluster holds meet in shared memory instead of in global memory.
#pragma once

#include <tally/plan/facts.hpp>
#include <tally/plan/why_not.hpp>

namespace tally::v0::planning {

/// Bytes of state from which a cluster pays: a word or two prove themselves in global memory before a cluster has met twice.
/// H200, CUDA 13.0, 2026-11-20 (tests/bench/tune, with TUNE_NO_CLUSTER=1 and without), us in global memory and in a cluster:
/// f32 sum of 2^16 (4 bytes) 2.73, 3.71; i32 sum (8) 3.60, 4.28; sum, min, max, mean and variance (28) 6.96, 6.34.
inline constexpr int state_bytes_for_cluster = 16;

constexpr void choose_cluster(facts const& f, i64 blocks, plan& p, why_not_list& why) {
  bool const wide = f.state_bytes() >= state_bytes_for_cluster && !f.any_exact();
  p.one_cluster = blocks > 1 && blocks <= f.target.max_cluster_blocks && wide && !p.reads_ahead && !f.keys_beside && f.threads_in_turns == 0;
  bool const near = blocks > 1 && blocks <= 16; // where a cluster would be worth a thought
  if (near && f.any_exact())
    why.add("one cluster", "digits of exact sums meet in global memory, one thread a digit");
  else if (near && f.threads_in_turns > 0)
    why.add("one cluster", "other walks take turns with it in one launch");
  else if (near && f.keys_beside)
    why.add("one cluster", "its blocks have tables of folds by key, which meet in global memory");
  else if (near && !p.one_cluster && f.target.max_cluster_blocks > 1)
    why.add("one cluster",
            wide ? "{0} blocks are more than the {1} of a cluster"
                 : "{0} bytes of state meet sooner in global memory; from {1} on they do not",
            -1, wide ? blocks : f.state_bytes(), wide ? f.target.max_cluster_blocks : state_bytes_for_cluster);
  else if (near && !p.one_cluster)
    why.add("one cluster", "sm_{0}{1} has no clusters", -1, f.target.compute_major, f.target.compute_minor);
  for (int i = 0; i < f.fold_count; ++i) {
    p.folds[i].cluster = !p.one_cluster ? cluster_combine::no_cluster
                         : f.folds[i].red_async ? cluster_combine::red_async
                                                : cluster_combine::bulk_copy;
    if (p.one_cluster && !f.folds[i].red_async)
      why.add("red.async", "it takes a word of an integer, this state is no such word", i);
  }
}

} // namespace tally::v0::planning
