// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Facts: everything the planner may know, as plain values. Layer 3. Types have been turned into facts by then
// (plan/facts_of.hpp), so the planner itself is ordinary constexpr arithmetic that can be tested with numbers.
#pragma once

#include <tally/plan/plan.hpp>

namespace tally::v0 {

/// A chip, or a kind of chip; rates are bytes per second and seconds, measured where a comment in targets.hpp says so.
struct target {
  int compute_major;
  int compute_minor;
  int multiprocessors;
  int max_cluster_blocks;
  i64 shared_bytes_per_block;
  i64 l2_bytes;
  double read_bytes_per_second;
  double launch_seconds;
  int most_cluster_blocks = 1; ///< for a kernel that asks for more than every chip takes
  friend constexpr bool operator==(target const&, target const&) = default;
};

/// One column: where it lies and how.
struct source_facts {
  i64 bytes_per_element; ///< 0 where nothing is read
  i64 stride;            ///< in elements; 1 is contiguous
  int address_alignment; ///< the largest power of two, at most 16, that divides the address
  load_primitive best_load = load_primitive::vector_ldg; ///< what plan/load.hpp picks by the column's type
  i64 row = 0;               ///< elements along the innermost axis of a column with axes; 0: it has none
  int steps_alignment = 16;  ///< the largest power of two, at most 16, that divides the steps along its other axes, in bytes
  i64 elements = 0;          ///< that it has, where it is seen alike along an axis; 0: as many as the source
  bool unnamed = false;      ///< no fold looks at it
  constexpr int alignment() const { return address_alignment < steps_alignment ? address_alignment : steps_alignment; }
  friend constexpr bool operator==(source_facts const&, source_facts const&) = default;
};

/// One fold, bound to types.
struct fold_facts {
  int state_bytes;
  bool commutative;
  bool order_free;
  block_algorithm block_when_free; ///< what plan/block.hpp picks where the order may be given up
  bool red_async = false;          ///< one instruction combines a state with that of another block of a cluster (sm_90)
  bool exact = false;              ///< an exact sum: a thread keeps a window of it, not a state
  bool redux = false;              ///< one instruction combines the states of a warp (sm_80)
  bool cheap = false;              ///< combining is known to take an instruction or two a word
  friend constexpr bool operator==(fold_facts const&, fold_facts const&) = default;
};

/// Everything about one full reduction.
struct facts {
  i64 extent;
  contract promise;
  int lanes_per_group;
  int rows_per_leaf;
  int source_count;
  int fold_count;
  source_facts sources[max_sources];
  fold_facts folds[max_folds];
  tally::v0::target target;
  bool queued = false; ///< launches of its kind follow each other: the caller does not wait for each
  bool keys_beside = false; ///< folds by key are folded in the same read, each in a table of every block
  int threads_in_turns = 0; ///< of the blocks of all walks that take turns in one launch; 0: it has one of its own
  bool calls_functions = false; ///< what is folded, or whether, is more than operators make of what is loaded

  constexpr i64 elements_per_leaf() const { return i64(32) * lanes_per_group * rows_per_leaf; }
  constexpr i64 leaves() const { return extent == 0 ? 0 : (extent - 1) / elements_per_leaf() + 1; }
  /// Whether there are leaves for all warps of all multiprocessors, more than once.
  constexpr bool fills_the_chip() const { return leaves() >= i64(96) * target.multiprocessors; }
  constexpr i64 bytes_per_row() const {
    i64 b = 0;
    for (int i = 0; i < source_count; ++i)
      b += sources[i].bytes_per_element;
    return b;
  }
  constexpr i64 bytes_read() const {
    i64 b = 0;
    for (int i = 0; i < source_count; ++i)
      b += (sources[i].elements > 0 ? sources[i].elements : extent) * sources[i].bytes_per_element;
    return b;
  }
  constexpr int state_bytes() const {
    int b = 0;
    for (int i = 0; i < fold_count; ++i)
      b += folds[i].state_bytes;
    return b;
  }
  /// What a thread keeps while it folds.
  constexpr int running_bytes() const {
    int b = 0;
    for (int i = 0; i < fold_count; ++i)
      b += folds[i].exact ? 16 : folds[i].state_bytes;
    return b;
  }
  /// Columns that a fold looks at.
  constexpr int sources_named() const {
    int n = 0;
    for (int i = 0; i < source_count; ++i)
      n += sources[i].unnamed ? 0 : 1;
    return n;
  }
  constexpr bool any_exact() const {
    for (int i = 0; i < fold_count; ++i)
      if (folds[i].exact)
        return true;
    return false;
  }
  constexpr bool order_free() const {
    for (int i = 0; i < fold_count; ++i)
      if (!folds[i].order_free)
        return false;
    return true;
  }
  /// Whether there are exact sums, which windows take, and nothing whose order counts.
  constexpr bool only_exact_and_free() const { return any_exact() && order_free(); }
  constexpr bool commutative() const {
    for (int i = 0; i < fold_count; ++i)
      if (!folds[i].commutative)
        return false;
    return true;
  }
  /// Of the columns and folds that there are.
  friend constexpr bool operator==(facts const& a, facts const& b) {
    bool same = a.extent == b.extent && a.promise == b.promise && a.lanes_per_group == b.lanes_per_group && a.rows_per_leaf == b.rows_per_leaf &&
                a.source_count == b.source_count && a.fold_count == b.fold_count && a.queued == b.queued && a.keys_beside == b.keys_beside &&
                a.threads_in_turns == b.threads_in_turns && a.calls_functions == b.calls_functions && a.target == b.target;
    for (int i = 0; same && i < a.source_count; ++i)
      same = a.sources[i] == b.sources[i];
    for (int i = 0; same && i < a.fold_count; ++i)
      same = a.folds[i] == b.folds[i];
    return same;
  }
};

} // namespace tally::v0
