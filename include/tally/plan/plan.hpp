// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan: every decision about a kernel, as one structural value with named fields. Layer 3. It is the template argument
// of the kernel, the cache key, and the text in explain; spell.hpp writes it as the C++ that rebuilds it. What may change
// from run to run without recompiling (how many blocks) is the launch, not the plan.
#pragma once

#include <tally/base/numbers.hpp>

namespace tally::v0 {

/// How much of the order may be given up. reproducible: the same bits everywhere; fast: IEEE per operation, no more; exact:
/// the same bits in any order, because sums do not round before the end.
enum class contract { reproducible, fast, exact };

/// In which order states are combined: along the canonical tree; grouped as is quickest, with the elements in their order; or
/// free of it, in whatever order is quickest.
enum class combine_order { canonical_tree, ordered, free };

/// How a source reaches registers.
enum class load_primitive {
  vector_ldg,  ///< each thread loads its group of lanes at once, at most 16 bytes per instruction
  bulk_ring,   ///< cp.async.bulk into a ring of stages in shared memory, one ring per warp
  striped_ldg, ///< neighbouring threads load neighbouring elements; no demand on alignment or stride
  computed,    ///< nothing is loaded
  grid_vector_ldg, ///< of a column with axes: a group of lanes at once, as by vector_ldg, which lies on one row
  grid_same_ldg,   ///< the same where all elements of a row are one: one load for a group
  grid_two_ldg,    ///< that where a row may end within a group: a load for the row that begins it, and one for the row that ends it
  grid_words_ldg, ///< of a column with axes where a row may end within a group, of small elements: the words of 4 bytes around it
  grid_ldg         ///< the same of other elements: lane by lane
};
constexpr bool is_same_on_row(load_primitive l) { return l == load_primitive::grid_same_ldg || l == load_primitive::grid_two_ldg; }
constexpr bool finds_its_row(load_primitive l) {
  return l == load_primitive::grid_vector_ldg || l == load_primitive::grid_words_ldg || l == load_primitive::grid_ldg || is_same_on_row(l);
}

/// How the warps of a block combine their states.
enum class block_algorithm {
  neighbour_tree,          ///< the canonical tree: neighbours first; any fold
  warp_reductions,         ///< cub::BLOCK_REDUCE_WARP_REDUCTIONS
  raking,                  ///< cub::BLOCK_REDUCE_RAKING
  raking_commutative_only, ///< cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY
  redux                    ///< redux.sync in each warp, then over the warps: integers of at most 32 bits
};
constexpr bool is_cub(block_algorithm b) { return b != block_algorithm::neighbour_tree && b != block_algorithm::redux; }

/// How the blocks of one cluster combine their states.
enum class cluster_combine {
  no_cluster, ///< blocks meet in global memory
  red_async,  ///< word by word at the first block, in any order
  bulk_copy   ///< cp.async.bulk to a slot of the first block, which folds them in order
};

/// What was chosen for one column.
struct source_choice {
  load_primitive load;
  int bytes_per_load;
  friend constexpr bool operator==(source_choice const&, source_choice const&) = default;
};

/// What was chosen for one fold.
struct fold_choice {
  block_algorithm block;
  cluster_combine cluster;
  friend constexpr bool operator==(fold_choice const&, fold_choice const&) = default;
};

inline constexpr int max_sources = 8;
inline constexpr int max_folds = 16;

/// All decisions about the kernel of a full reduction.
struct plan {
  contract promise;
  combine_order order;
  int lanes_per_group;
  int rows_per_leaf;
  int threads_per_block;
  int leaves_per_warp;
  int rows_in_flight;
  int stages; ///< of the ring of each warp; 0 without a ring
  int blocks_per_multiprocessor;
  bool one_cluster;     ///< the grid is one cluster, whose blocks meet in the shared memory of the first
  bool overlaps_launch; ///< starts while the launch in front drains, and waits for it (programmatic dependent launch)
  bool reads_ahead;     ///< and folds before it waits, where the launch in front is a full reduction too
  bool takes_turns;     ///< with other walks, which find in L2 what this one has read
  source_choice sources[max_sources];
  fold_choice folds[max_folds];
  constexpr int warps_per_block() const { return threads_per_block / 32; }
  constexpr int leaves_per_block() const { return warps_per_block() * leaves_per_warp; }
  constexpr bool sources_are_striped() const {
    for (auto const& s : sources)
      if (s.load == load_primitive::striped_ldg && s.bytes_per_load > 0)
        return true;
    return false;
  }
  constexpr int elements_per_leaf() const { return 32 * lanes_per_group * rows_per_leaf; }
  friend constexpr bool operator==(plan const&, plan const&) = default;
};

} // namespace tally::v0
