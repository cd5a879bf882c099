// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What every finished plan must satisfy, whoever made it. Layer 3. Every plan is asked before its kernel is looked for; one given by hand that
// does not is refused.
#pragma once

#include <tally/plan/facts.hpp>
#include <tally/plan/tile.hpp>

namespace tally::v0 {

/// Nothing is wrong, or the sentence that says what is.
constexpr char const* why_illegal(plan const& p, facts const& f) {
  if (p.threads_per_block < 32 || p.threads_per_block > 1024 || p.threads_per_block % 32 != 0)
    return "threads_per_block must be a multiple of 32 from 32 to 1024";
  if ((p.warps_per_block() & (p.warps_per_block() - 1)) != 0)
    return "the warps of a block must be a power of two: a block is a subtree";
  if (p.leaves_per_warp < 1 || (p.leaves_per_warp & (p.leaves_per_warp - 1)) != 0)
    return "leaves_per_warp must be a power of two: a warp is a subtree";
  if (p.leaves_per_warp > 32)
    return "a warp has 32 lanes for the trees of its leaves";
  if (p.lanes_per_group != f.lanes_per_group || p.rows_per_leaf != f.rows_per_leaf)
    return "the shape of a leaf belongs to the tree, not to the plan";
  if (p.rows_in_flight < 1 || p.rows_per_leaf % p.rows_in_flight != 0)
    return "rows_in_flight must divide the rows of a leaf";
  if (p.order == combine_order::free && !f.order_free() && f.promise != contract::fast)
    return "only the fast contract gives up the order of a fold that rounds";
  if (p.order == combine_order::free && !f.commutative())
    return "a fold that does not commute keeps its order";
  if (p.order == combine_order::ordered && f.promise != contract::fast)
    return "only the fast contract groups elements otherwise than the tree";
  if (planning::blocks_of(f, p) > 0x7fffffff)
    return "a grid has at most 2^31 - 1 blocks";
  if (p.one_cluster && planning::blocks_of(f, p) > f.target.max_cluster_blocks)
    return "a cluster of the chip has fewer blocks than the grid";
  if (p.overlaps_launch && f.target.compute_major < 9)
    return "programmatic dependent launch needs sm_90";
  if (p.reads_ahead && (!p.overlaps_launch || p.one_cluster))
    return "only a launch that overlaps, of blocks that meet in memory, reads ahead";
  if (p.takes_turns && (p.overlaps_launch || p.one_cluster || p.stages > 0))
    return "walks that take turns have a launch like any, blocks that meet in memory, and no rings";
  if (planning::ring_bytes_per_block(f, p) > f.target.shared_bytes_per_block)
    return "the rings of a block do not fit its shared memory";
  for (int i = 0; i < f.fold_count; ++i) {
    if (is_cub(p.folds[i].block) && p.order == combine_order::canonical_tree)
      return "along the canonical tree a block combines neighbours";
    if (p.folds[i].block == block_algorithm::raking_commutative_only && !f.folds[i].commutative)
      return "this raking is for folds that commute";
    if (p.folds[i].block == block_algorithm::redux && (!f.folds[i].redux || f.target.compute_major < 8))
      return "redux.sync needs sm_80 and an integer of at most 32 bits";
    if ((p.folds[i].cluster != cluster_combine::no_cluster) != p.one_cluster)
      return "states meet in a cluster where the grid is one, and only there";
    if (p.folds[i].cluster == cluster_combine::red_async && !f.folds[i].red_async)
      return "red.async combines words of integers";
  }
  for (int i = 0; i < f.source_count; ++i) {
    if (p.sources[i].load == load_primitive::vector_ldg &&
        (f.sources[i].stride != 1 || f.sources[i].address_alignment < p.sources[i].bytes_per_load))
      return "a vector load needs neighbours and an address aligned to its size";
    if (p.sources[i].load == load_primitive::bulk_ring && f.sources[i].stride != 1)
      return "a bulk copy needs neighbours";
    if (p.sources[i].load == load_primitive::bulk_ring &&
        (f.target.compute_major < 9 || p.stages < 1 || p.leaves_per_warp <= p.stages || f.sources[i].address_alignment < 16))
      return "a bulk ring needs sm_90, 16-byte addresses, a stage and more leaves than stages";
    bool const on_one_row = p.sources[i].load == load_primitive::grid_vector_ldg || p.sources[i].load == load_primitive::grid_same_ldg;
    if (finds_its_row(p.sources[i].load) && (f.sources[i].row < 1 || (on_one_row && f.sources[i].row % p.lanes_per_group != 0)))
      return "a load that finds its row needs axes, and loads a group at once where rows are whole groups";
    if (p.sources[i].load == load_primitive::grid_two_ldg && f.sources[i].row < p.lanes_per_group)
      return "two loads for a group are for rows that are no shorter";
    if (p.sources[i].load == load_primitive::grid_vector_ldg && (f.sources[i].stride != 1 || f.sources[i].alignment() < p.sources[i].bytes_per_load))
      return "a vector load needs neighbours and an address aligned to its size";
    if (p.sources[i].load == load_primitive::grid_words_ldg && !planning::in_words(f, f.sources[i]))
      return "words around a group are for neighbours of less than a word, and rows that hold two groups";
    if (is_same_on_row(p.sources[i].load) && f.sources[i].stride != 0)
      return "one load for a group is for elements that are the same";
    if (p.sources[i].load == load_primitive::striped_ldg)
      for (int k = 0; k < f.source_count; ++k)
        if (p.sources[k].load != load_primitive::striped_ldg && p.sources[k].load != load_primitive::computed)
          return "lanes live in one layout for all sources";
  }
  return nullptr;
}

constexpr bool legal(plan const& p, facts const& f) { return why_illegal(p, f) == nullptr; }

} // namespace tally::v0
