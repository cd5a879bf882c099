// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every protocol of the library, as data. Layer 2. A kernel or verb that follows one names it in its head; its machine
// code is held against the data by tests/protocols, and the data is explored there in every interleaving.
#pragma once

#include <tally/primitive/protocol.hpp>

namespace tally::v0::protocol {

namespace detail {

/// How the lists below are written: who(what(...)), by blocks where there is a cluster.
TALLY_HD constexpr step just(action a) { return {a, threads::all, blocks::every, barrier::none, holder::own, amount::zero, 0}; }
TALLY_HD constexpr step at(action a, barrier b, amount n = amount::zero) {
  return {a, threads::all, blocks::every, b, holder::own, n, 0};
}
TALLY_HD constexpr step of(holder h, step s) { return {s.what, s.who, s.where, s.at, h, s.how_much, s.turns}; }
TALLY_HD constexpr step later(step s) { return {s.what, s.who, s.where, s.at, s.of, s.how_much, 1}; }
TALLY_HD constexpr step earlier(step s) { return {s.what, s.who, s.where, s.at, s.of, s.how_much, -1}; }
TALLY_HD constexpr step groups(action a, amount n) { return at(a, barrier::none, n); }
TALLY_HD constexpr step by(threads t, step s) { return {s.what, t, s.where, s.at, s.of, s.how_much, s.turns}; }
TALLY_HD constexpr step in(blocks b, step s) { return {s.what, s.who, b, s.at, s.of, s.how_much, s.turns}; }
TALLY_HD constexpr step all(step s) { return by(threads::all, s); }
TALLY_HD constexpr step one(step s) { return by(threads::one, s); }
TALLY_HD constexpr step rest(step s) { return by(threads::rest, s); }
TALLY_HD constexpr step leader(step s) { return in(blocks::leader, s); }
TALLY_HD constexpr step others(step s) { return in(blocks::others, s); }

} // namespace detail

/// Tiles into shared memory, one ring per warp: one lane asks, all lanes read (kernel/ring.cuh).
TALLY_HD constexpr description load_ring_of_warp() {
  using namespace detail;
  using enum action;
  constexpr auto full = barrier::full;
  return {.name = "load_ring_of_warp",
          .setup = {one(at(init, full, amount::one)), one(just(fence_init)), all(just(meet_warp))},
          .first = {one(at(expect, full, amount::tile)), one(at(load, full))},
          .turn = {all(at(wait, full)), all(just(read)), all(just(meet_warp)),
                   one(later(at(expect, full, amount::tile))), one(later(at(load, full)))},
          .finish = {}};
}

/// Tiles into shared memory, one ring per block: one thread only asks, the rest read and make room.
TALLY_HD constexpr description load_ring_of_block() {
  using namespace detail;
  using enum action;
  constexpr auto full = barrier::full, empty = barrier::empty;
  return {.name = "load_ring_of_block",
          .setup = {one(at(init, full, amount::one)), one(at(init, empty, amount::reader)), one(just(fence_init)),
                    all(just(meet_block))},
          .first = {},
          .turn = {one(earlier(at(wait, empty))), one(at(expect, full, amount::tile)), one(at(load, full)),
                   rest(at(wait, full)), rest(just(read)), rest(at(arrive, empty))},
          .finish = {}};
}

/// Tiles from shared memory to global memory, read by nobody before the launch is over; threads store the ends that the engine
/// does not take (primitive/store_ring.cuh).
TALLY_HD constexpr description store_ring() {
  using namespace detail;
  using enum action;
  return {.name = "store_ring",
          .setup = {},
          .first = {},
          .turn = {one(groups(wait_source, amount::all_stages_but_one)), all(just(meet_block)), all(just(write)),
                   all(just(fence_proxy)), all(just(meet_block)), one(just(store)), one(just(commit)), all(just(read))},
          .finish = {one(groups(wait_source, amount::zero))}};
}

/// Tiles from shared memory to global memory row by row, several in flight; every thread sends rows that any thread wrote
/// (primitive/store_rows.cuh).
TALLY_HD constexpr description store_rows() {
  using namespace detail;
  using enum action;
  return {.name = "store_rows",
          .setup = {},
          .first = {},
          .turn = {all(groups(wait_source, amount::all_stages_but_one)), all(just(meet_block)), all(just(write)),
                   all(just(fence_proxy)), all(just(meet_block)), all(just(store)), all(just(commit))},
          .finish = {all(groups(wait_source, amount::zero))}};
}

/// Tiles from shared memory added to global memory, several in flight; every thread sends a part that any thread wrote, and
/// before it exits knows that it is there (primitive/store_sum_ring.cuh, whose threads are a warp or a block).
TALLY_HD constexpr description store_sum_ring(action meet = action::meet_block) {
  using namespace detail;
  using enum action;
  return {.name = "store_sum_ring",
          .setup = {},
          .first = {},
          .turn = {all(groups(wait_source, amount::all_stages_but_one)), all(just(meet)), all(just(write)),
                   all(just(fence_proxy)), all(just(meet)), all(just(store_sum)), all(just(commit))},
          .finish = {all(groups(wait_result, amount::zero)), all(just(publish))}};
}

/// A tile that threads have written added to global memory, one at a time; meanwhile they read what of it the engine does
/// not take (primitive/accumulate.cuh).
TALLY_HD constexpr description store_sum_at_once() {
  using namespace detail;
  using enum action;
  return {.name = "store_sum_at_once",
          .setup = {},
          .first = {},
          .turn = {all(just(write)), all(just(fence_proxy)), all(just(meet_block)), one(just(store_sum)),
                   one(just(commit)), all(just(read)), one(groups(wait_result, amount::zero)), all(just(meet_block))},
          .finish = {one(just(publish))}};
}

/// Words of registers added to the leader's shared memory by red.async: every thread of the other blocks sends its own.
TALLY_HD constexpr description cluster_words() {
  using namespace detail;
  using enum action;
  constexpr auto full = barrier::full, empty = barrier::empty;
  return {.name = "cluster_words",
          .setup = {leader(one(at(init, full, amount::one))), leader(one(just(clear))),
                    others(one(at(init, empty, amount::one))), one(just(fence_init)), all(just(meet_cluster))},
          .first = {},
          .turn = {leader(one(at(expect, full, amount::tile_of_each_other))), leader(all(at(wait, full))),
                   leader(all(just(collect))), leader(all(just(meet_block))), leader(one(just(clear))),
                   leader(one(of(holder::each_other, at(arrive, empty)))), others(all(earlier(at(wait, empty)))),
                   others(all(of(holder::leader, at(send_words, full))))},
          .finish = {all(just(meet_cluster))}};
}

/// Tiles of shared memory added to the leader's by cp.reduce.async.bulk.
TALLY_HD constexpr description cluster_sum() {
  using namespace detail;
  using enum action;
  constexpr auto full = barrier::full, empty = barrier::empty;
  return {.name = "cluster_sum",
          .setup = {leader(one(at(init, full, amount::one))), leader(one(just(clear))), leader(one(just(fence_proxy))),
                    others(one(at(init, empty, amount::one))), one(just(fence_init)), all(just(meet_cluster))},
          .first = {},
          .turn = {leader(one(at(expect, full, amount::tile_of_each_other))), leader(all(at(wait, full))),
                   leader(all(just(collect))), leader(all(just(meet_block))), leader(one(just(clear))),
                   leader(one(just(fence_proxy))), leader(one(of(holder::each_other, at(arrive, empty)))),
                   others(all(earlier(at(wait, empty)))), others(all(just(write))), others(all(just(fence_proxy))),
                   others(all(just(meet_block))), others(one(of(holder::leader, at(send_sum, full))))},
          .finish = {all(just(meet_cluster))}};
}

/// Tiles of shared memory copied into slots of the leader's, one slot a block; the leader folds them in its own order.
TALLY_HD constexpr description cluster_copy() {
  using namespace detail;
  using enum action;
  constexpr auto full = barrier::full, empty = barrier::empty;
  return {.name = "cluster_copy",
          .setup = {leader(one(at(init, full, amount::one))), others(one(at(init, empty, amount::one))),
                    one(just(fence_init)), all(just(meet_cluster))},
          .first = {},
          .turn = {leader(one(at(expect, full, amount::tile_of_each_other))), leader(all(at(wait, full))),
                   leader(all(just(collect))), leader(all(just(meet_block))),
                   leader(one(of(holder::each_other, at(arrive, empty)))), others(all(earlier(at(wait, empty)))),
                   others(all(just(write))), others(all(just(fence_proxy))), others(all(just(meet_block))),
                   others(one(of(holder::leader, at(send, full))))},
          .finish = {all(just(meet_cluster))}};
}

/// One tile into the shared memory of every block of a cluster: the leader asks, every block expects the bytes, and the
/// readers of all blocks make room at the leader.
TALLY_HD constexpr description multicast_ring() {
  using namespace detail;
  using enum action;
  constexpr auto full = barrier::full, empty = barrier::empty;
  return {.name = "multicast_ring",
          .setup = {one(at(init, full, amount::one)), leader(one(at(init, empty, amount::reader_of_cluster))),
                    one(just(fence_init)), all(just(meet_cluster))},
          .first = {},
          .turn = {others(one(earlier(at(wait, full)))), leader(one(earlier(at(wait, empty)))),
                   one(at(expect, full, amount::tile)), leader(one(at(load_for_all, full))), rest(at(wait, full)),
                   rest(just(read)), rest(of(holder::leader, at(arrive, empty)))},
          .finish = {all(just(meet_cluster))}};
}

/// All of them, for tests and tables.
inline constexpr description every_protocol[] = {load_ring_of_warp(), load_ring_of_block(), store_ring(), store_rows(),
                                                 store_sum_ring(),    store_sum_at_once(),  cluster_words(),
                                                 cluster_sum(),       cluster_copy(),       multicast_ring()};

} // namespace tally::v0::protocol
