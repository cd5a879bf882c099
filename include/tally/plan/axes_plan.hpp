// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan of a read that folds along axes: every decision about its kernel as one structural value. Layer 3; kernels
// include it.
#pragma once

#include <tally/plan/plan.hpp>

namespace tally::v0 {

/// Who shares the elements of a group.
enum class axes_route {
  threads_across_groups, ///< neighbouring threads hold neighbouring groups, or lanes of them, wherever elements lie
  threads_along_group    ///< neighbouring threads hold neighbouring elements of one group, loaded together
};

/// All decisions about the kernel of one set of groups.
struct axes_plan {
  axes_route route;
  int threads_across;    ///< neighbouring threads of a warp that hold different groups; the others hold lanes of the same
  int groups_per_thread; ///< along the innermost kept axis
  int groups_beside;     ///< of them, neighbours that are loaded together; the others are further on by as many as a warp loads at once
  int warps_per_block;
  int warps_on_lanes;    ///< across: that share the lanes of a leaf; the others have strips of their own
  int lanes_in_leaf;     ///< that have an element, rounded up to a power of two
  int rows_in_leaf;      ///< that have an element
  int lanes_at_once;     ///< across: lanes of a thread whose loads are in flight together
  int batches;           ///< along: groups of a thread, or leaves of a long group, whose loads are in flight together
  int warps_per_group;   ///< along: that share the leaves of a group
  int leaves_in_room;    ///< along: of one chunk, whose states are in shared memory until they meet
  int standing;          ///< bit c is set where column c is the same for the neighbours that a thread loads together
  int lasting;           ///< across: bit c is set where column c is the same all along a group, so that it is loaded once a leaf
  int late;              ///< of rows with lets: bit c is set where column c is loaded when elements are written
  int realigned;         ///< along: bit c is set where column c is loaded in aligned pieces, and lanes are turned once they are folded
  int narrow_at_ends;    ///< along: bit c is set where column c is loaded element by element where a group ends, which is at no multiple of its loads
  int blocks_per_multiprocessor; ///< for which registers must suffice; 0: as they come
  bool one_leaf;         ///< a group is not longer than a leaf
  bool extent_fits;      ///< a group fills its lanes and rows
  bool rows_apart;       ///< along: rows of a leaf may lie on different runs of the innermost axis
  bool threads_apart;    ///< along: of two reduced axes, and the elements of a thread on one run of the inner one or on two
  bool striped;          ///< threads apart: neighbouring threads load neighbouring elements one by one, those of a thread are 32 apart
  bool blocks_share;     ///< groups are cut into chunks
  bool one_leaf_a_warp;  ///< along: a warp folds one leaf at most
  bool in_windows;       ///< across: exact sums are folded in windows of a thread, and nothing along a tree
  bool one_reduced_axis; ///< an element's place is its index times a step
  bool one_kept_axis;    ///< a group's place is its index times a step
  bool evicts_first;     ///< what is loaded leaves the caches first; beside stores it is slower so: docs/measured/let_h200.md, 2026-11-23
  int bytes_per_load[max_sources]; ///< of one column at once; 0: element by element
  constexpr int threads_per_block() const { return 32 * warps_per_block; }
  constexpr int threads_along() const { return 32 / threads_across; }
  constexpr int groups_per_strip() const { return threads_across * groups_per_thread; }
  /// Whether the groups of a thread are apart: docs/decisions/columns_in_stripes.md.
  constexpr bool in_stripes() const { return groups_beside < groups_per_thread; }
  /// Where group v of the x-th thread across is in its strip.
  constexpr int group_in_strip(int x, int v) const {
    return x * groups_beside + v % groups_beside + v / groups_beside * (threads_across * groups_beside);
  }
  friend constexpr bool operator==(axes_plan const&, axes_plan const&) = default;
};

/// A tile of elements that is turned in shared memory (kernel/turned_elements.cuh): every thread has strips of neighbours across it, the threads of a
/// warp stand along it, or where its axis is shorter beside each other, too.
inline constexpr int strips_across_whole_warps = 16;
constexpr int warps_along_tile(axes_plan const& p) { return p.threads_across > 1 ? 1 : p.batches * p.warps_per_block / strips_across_whole_warps; }
constexpr int elements_along_tile(axes_plan const& p) { return p.threads_along() * warps_along_tile(p); }
constexpr int strips_across_tile(axes_plan const& p) { return p.batches * p.warps_per_block / warps_along_tile(p) * p.threads_across; }

/// How the work of an axes_plan is cut for one launch; nothing of it needs another kernel.
struct axes_cut {
  i64 row_groups;     ///< groups along the innermost kept axis
  i64 strips_per_row; ///< strips of groups along it
  i64 strips;
  i64 sets;            ///< of strips or groups that one block takes
  i64 leaves;          ///< of one group
  i64 leaves_of_chunk; ///< a power of two, unless there is one chunk
  int chunks;          ///< blocks that share a set
};

/// Chunks whose states one block folds: kernel/chunks.cuh.
inline constexpr int chunks_of_bunch = 32;
constexpr int bunches_of(int chunks) { return (chunks - 1) / chunks_of_bunch + 1; }
/// Counters of a set, and partials of a group, over all levels.
constexpr int bunches_of_levels(int chunks) {
  int n = 0;
  for (int level = chunks; level > 1; level = bunches_of(level))
    n += bunches_of(level);
  return n;
}
constexpr i64 partials_of_levels(int chunks) {
  i64 n = 0;
  for (int level = chunks; level > 1; level = bunches_of(level))
    n += level;
  return n;
}

} // namespace tally::v0
