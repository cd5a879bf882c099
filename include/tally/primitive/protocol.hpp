// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a protocol between threads, mbarriers and the bulk copy engine is made of: steps, who takes them, and in which
// order. Layer 2. The protocols themselves are values in protocols.hpp; tests/protocols explores every order in which
// their steps can interleave and holds compiled kernels against them. docs/explain/protocols.md tells how to add one.
#pragma once

#include <tally/base/config.hpp>

namespace tally::v0::protocol {

/// What a thread does in one step. Shared memory is a ring of stages; tile k lives in stage k modulo their number.
enum class action : unsigned char {
  nothing,      ///< the end of a list of steps
  init,         ///< mbarrier.init of every stage's barrier, with how_much arrivals a phase
  fence_init,   ///< fence.mbarrier_init.release.cluster: other blocks and the engine may know the barriers after it
  fence_proxy,  ///< fence.proxy.async: the engine may read what this thread stored before it
  meet_warp,    ///< bar.warp.sync
  meet_block,   ///< barrier.sync
  meet_cluster, ///< barrier.cluster.arrive.release and barrier.cluster.wait.acquire
  arrive,       ///< mbarrier.arrive
  expect,       ///< mbarrier.arrive.expect_tx of how_much bytes
  wait,         ///< mbarrier.try_wait.parity until the tile's phase is over
  load,         ///< cp.async.bulk global -> shared, one copy per column of the tile
  load_for_all, ///< cp.async.bulk.multicast::cluster, to the same stage and barrier of every block
  store,        ///< cp.async.bulk shared -> global: of the stage, or of a part each where all threads do it
  store_sum,    ///< cp.reduce.async.bulk shared -> global: of the stage, or of a part each
  send,         ///< cp.async.bulk shared::cta -> shared::cluster, to this block's own slot at the leader
  send_sum,     ///< cp.reduce.async.bulk shared::cta -> shared::cluster, into the leader's sum
  send_words,   ///< red.async of this thread's words into the leader's sum
  commit,       ///< cp.async.bulk.commit_group
  wait_source,  ///< cp.async.bulk.wait_group.read: at most how_much groups may still read shared memory
  wait_result,  ///< cp.async.bulk.wait_group: at most how_much groups may still be written
  read,         ///< ordinary loads of the whole stage
  write,        ///< ordinary stores of this thread's part of the stage
  collect,      ///< ordinary loads of what the other blocks sent
  clear,        ///< ordinary stores of the identity into the sum that others send to
  publish       ///< what this thread sent to global memory is used, or somebody is told that it is there
};

/// Which threads of a block take a step.
enum class threads : unsigned char {
  all,
  one, ///< one elected thread, always the same
  rest ///< all but that one
};

/// Which blocks of a cluster take a step; without a cluster there is one block, the leader.
enum class blocks : unsigned char { every, leader, others };

/// Which barrier of a stage: data has arrived, or room has been made.
enum class barrier : unsigned char { none, full, empty };

/// Whose barrier.
enum class holder : unsigned char { own, leader, each_other };

/// How many arrivals, bytes, or groups in flight.
enum class amount : unsigned char {
  zero,
  one,
  reader,             ///< one for each thread of a block that reads
  reader_of_cluster,  ///< one for each thread of the cluster that reads
  tile,               ///< the bytes of a tile
  tile_of_each_other, ///< the bytes of a tile from each block but the leader
  all_stages_but_one  ///< as many groups as there are stages, less one
};

/// One step. The tile is the turn's own, or the one that comes to the same stage `turns` turns of the ring later.
/// A step on a tile that does not exist is left out, a wait for a phase before the first is over at once.
struct step {
  action what;
  threads who;
  blocks where;
  barrier at;
  holder of;
  amount how_much;
  int turns;
};

/// A protocol: every thread runs, of each list, the steps that are its own.
struct description {
  char const* name;
  step setup[8];  ///< once
  step first[4];  ///< for each of the first tiles, as many as there are stages
  step turn[12];  ///< for each tile
  step finish[4]; ///< once, before the thread exits
};

/// The stage of a tile.
TALLY_HD constexpr int stage_of(int tile, int stages) { return tile % stages; }
/// The parity of the phase in which a tile's barrier is used.
TALLY_HD constexpr unsigned parity_of(int tile, int stages) { return unsigned(tile / stages) & 1u; }

} // namespace tally::v0::protocol
