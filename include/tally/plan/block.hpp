// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the warps of a block combine their states, per fold. Layer 3. Along the canonical tree there is one answer. Where the
// order may be given up, the fold's laws and the width of its state choose among CUB's three algorithms by concept: the
// most constrained rule that applies wins. It stands after the order, which says whether there is a choice at all.
#pragma once

#include <tally/fold/monoid.hpp>
#include <tally/plan/facts.hpp>
#include <tally/plan/order.hpp>
#include <tally/plan/why_not.hpp>

namespace tally::inline v0::planning {

template <class M>
concept commutative = monoid<M> && M::law.commutative;

/// A state so wide that moving it costs more than combining it: two shuffles per word beat a raking pass up to here.
template <class M>
concept wide_state = monoid<M> && (sizeof(typename M::state) > 16);

/// Raking keeps the order of threads, so it serves folds that do not commute.
template <monoid M>
constexpr block_algorithm block_of() {
  return block_algorithm::raking;
}
/// Few warps and a cheap state: the lowest turn-around.
template <commutative M>
constexpr block_algorithm block_of() {
  return block_algorithm::warp_reductions;
}
/// A wide state that commutes: fewest combinations and fewest words moved.
template <commutative M>
  requires wide_state<M>
constexpr block_algorithm block_of() {
  return block_algorithm::raking_commutative_only;
}

/// Bytes of static shared memory that a block may have beside other rooms: 48 KiB on every chip is all there is.
inline constexpr i64 most_bytes_for_cub = 32 * 1024;

constexpr void choose_blocks(facts const& f, plan& p, why_not_list& why) {
  for (int i = 0; i < f.fold_count; ++i) {
    bool const free = p.order == combine_order::free && f.promise == contract::fast && f.state_bytes() >= state_bytes_for_any_order;
    i64 const room = i64(p.threads_per_block) * f.folds[i].state_bytes; // raking keeps a state per thread
    bool const fits = f.folds[i].block_when_free == block_algorithm::warp_reductions || room <= most_bytes_for_cub;
    p.folds[i].block = free && fits ? f.folds[i].block_when_free : block_algorithm::neighbour_tree;
    if (free && !fits)
      why.add("cub::BlockReduce", "its states take {0} bytes of shared memory, {1} are free", i, room, most_bytes_for_cub);
    else if (!free && p.order == combine_order::free)
      why.add("cub::BlockReduce", "it is free of order either way, and CUB costs NVRTC 1.3 s where the tree costs nothing", i);
    else if (!free)
      why.add("cub::BlockReduce", "its order is not documented, the canonical tree's is", i);
  }
}

} // namespace tally::inline v0::planning
