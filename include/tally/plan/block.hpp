// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the threads of a block combine their states, per fold. Layer 3. Along the canonical tree there is one answer, but for
// integers, which redux.sync combines to the same bits. Where the grouping or the order may be given up, the fold's laws, the
// cost of combining and the width of its state choose among CUB's three algorithms by concept: the most constrained rule that
// applies wins. It stands after the tile, whose threads and blocks say whether the choice pays.
//
// H200, CUDA 13.0, 2026-11-20 (tests/bench/block_algorithms), ns a reduction and multiprocessor of a full chip, 256 threads: tree,
// warp_reductions, raking, raking_commutative_only. Words added: 16 bytes 141, 117, 55, 62; 24 bytes 194, 173, 105, 80;
// 48 bytes 403, 357, 188, 179; 64 bytes 548, 483, 645, 588. A division per word: 16 bytes 568, 656, 270, 415; 24 bytes 811, 971,
// 385, 699; 64 bytes 2211, 3051, 2001, 7496. All of it: docs/measured/block_algorithms_h200.md.
#pragma once

#include <tally/fold/monoid.hpp>
#include <tally/plan/combinable.hpp>
#include <tally/plan/facts.hpp>
#include <tally/plan/order.hpp>
#include <tally/plan/why_not.hpp>

namespace tally::v0::planning {

template <class M>
concept commutative = monoid<M> && M::law.commutative;

/// A fold of which it is known that combining takes an instruction or two a word: one that PTX has an operation for, or one
/// that rounds nothing, which are sums, choices and bits of integers. Of any other it is not known, and taking a costly one for
/// cheap loses more (up to 3.9 times) than the reverse (1.6).
template <class M>
concept cheap_to_combine = commutative<M> && (M::law.order_free || combined_by<M> != primitive::operation::none);

/// From here on raking over few warps is no better than raking over all: 24 bytes 80 to 105, 16 bytes 62 to 55.
template <class M>
concept wide_state = monoid<M> && (sizeof(typename M::state) > 16);

/// From here on states take longer through shared memory than through shuffles: 48 bytes 179 to 357, 64 bytes 588 to 483.
template <class M>
concept vast_state = wide_state<M> && (sizeof(typename M::state) > 48);

/// Fewest combinations, and the order of threads is kept: for folds that do not commute, that cost, and that are narrow.
template <monoid M>
constexpr block_algorithm block_of() {
  return block_algorithm::raking;
}
/// A wide state that is cheap: fewest words moved.
template <cheap_to_combine M>
  requires wide_state<M>
constexpr block_algorithm block_of() {
  return block_algorithm::raking_commutative_only;
}
/// A vast state that is cheap: nothing but what the warps yield goes through shared memory.
template <cheap_to_combine M>
  requires vast_state<M>
constexpr block_algorithm block_of() {
  return block_algorithm::warp_reductions;
}

/// Bytes of states up to which raking over them pays where combining costs: 256 threads of 64 bytes 2001 to the tree's 2211 ns, 512
/// of 32 2105 to 2113, 512 of 48 4443 to 3264. Where it is cheap, up to the static shared memory that other rooms leave: 48 KiB on
/// every chip is all there is.
inline constexpr i64 most_bytes_raked = 16 * 1024;
inline constexpr i64 most_bytes_raked_cheaply = 32 * 1024;
/// A costly state that is wider than this is never raked: 64 threads of 128 bytes 1554 to the tree's 1206 ns.
inline constexpr int most_bytes_of_costly_state = 64;

/// Bytes of all states from which CUB is worth the 1.3 s it costs NVRTC.
inline constexpr int state_bytes_for_cub = 32;

/// Whether a warp has states in all its lanes, so that redux.sync has something to combine: 24 to the tree's 45 ns, 124 to 214
/// where a block is alone.
constexpr bool redux_pays(facts const& f, plan const& p) {
  return f.target.compute_major >= 8 && (p.order == combine_order::free || p.leaves_per_warp == 1);
}

constexpr void choose_block(facts const& f, plan const& p, int i, fold_choice& choice, why_not_list& why) {
  fold_facts const& fold = f.folds[i];
  choice.block = block_algorithm::neighbour_tree;
  i64 const room = i64(p.threads_per_block) * fold.state_bytes;
  i64 const most = fold.cheap ? most_bytes_raked_cheaply : most_bytes_raked;
  if (fold.redux && redux_pays(f, p))
    choice.block = block_algorithm::redux;
  else if (p.order == combine_order::canonical_tree)
    why.add("cub::BlockReduce", "its order is not documented, the canonical tree's is", i);
  else if (f.promise != contract::fast || f.state_bytes() < state_bytes_for_cub)
    why.add("cub::BlockReduce", "it is free of order either way, and CUB costs NVRTC 1.3 s where the tree costs nothing", i);
  else if (fold.block_when_free != block_algorithm::warp_reductions && room > most)
    why.add("cub::BlockReduce", "its states take {0} bytes of shared memory, raking pays up to {1}", i, room, most);
  else if (!fold.cheap && fold.state_bytes > most_bytes_of_costly_state)
    why.add("cub::BlockReduce", "its state takes {0} bytes, raking pays up to {1}", i, fold.state_bytes, most_bytes_of_costly_state);
  else if (!fold.cheap && !f.fills_the_chip())
    why.add("cub::BlockReduce", "{0} leaves leave multiprocessors idle, and the tree's turn-around is shorter", i, f.leaves());
  else
    choice.block = fold.block_when_free;
}

constexpr void choose_blocks(facts const& f, plan& p, why_not_list& why) {
  for (int i = 0; i < f.fold_count; ++i)
    choose_block(f, p, i, p.folds[i], why);
}

} // namespace tally::v0::planning
