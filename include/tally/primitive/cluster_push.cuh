// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The blocks of a cluster bring their states to the block of rank 0, three ways: word by word with red.async, whole tiles
// with the bulk engine's reduction, whole tiles copied to a slot each and folded there. The orders of
// protocol::cluster_words, cluster_sum and cluster_copy (protocols.hpp), written here and nowhere else. Layer 2.
//
// The first two take what their instruction takes, integers in any order; the third takes anything and keeps the order of
// the blocks. `collect` runs in every thread of rank 0 and gets what the others sent; its own state it knows.
#pragma once

#include <tally/primitive/bulk_reduce.cuh>
#include <tally/primitive/copy.cuh>
#include <tally/primitive/red_async.cuh>

namespace tally::v0::primitive {

namespace verbs {
/// What the three have in common: full at the leader, empty at each other block, turns of one stage.
class push_turns {
public:
  /// clear() runs in one thread of the leader before anybody sends. Every thread of the cluster makes it.
  template <class Clear>
  __device__ __forceinline__ push_turns(barrier& full, barrier& empty, Clear clear)
      : full_(full), empty_(empty), leads_(own_rank() == 0) {
    if (threadIdx.x == 0) {
      if (leads_) {
        full.init(1);
        clear();
      } else {
        empty.init(1);
      }
      publish_barriers();
    }
    meet_cluster();
  }
  /// The leader's side of a turn: `bytes` come from each other block.
  template <class Collect, class Clear>
  __device__ __forceinline__ void receive(u32 bytes, Collect collect, Clear clear) {
    if (threadIdx.x == 0) full_.expect_from_others(bytes * (cluster_blocks() - 1));
    full_.wait_for_others(turn_ & 1);
    collect();
    __syncthreads();
    if (threadIdx.x == 0) {
      clear();
      for (u32 r = 1; r < cluster_blocks(); ++r)
        arrive_at(in_cluster(&empty_, r));
    }
    ++turn_;
  }
  /// The others' side of a turn, before they send: until the leader has taken what they sent last.
  __device__ __forceinline__ void wait_for_room() {
    if (turn_ > 0) empty_.wait_for_others((turn_ - 1) & 1);
    ++turn_;
  }
  __device__ __forceinline__ bool leads() const { return leads_; }
  __device__ __forceinline__ in_cluster<barrier> announced() const { return in_cluster(&full_, 0); }

private:
  barrier& full_;
  barrier& empty_;
  bool leads_;
  u32 turn_ = 0;
};
} // namespace verbs

/// Shared memory of a push of N words of T; declare it __shared__, at the same place in every block.
template <class T, int N>
struct push_room {
  stage<T, N> sum;  ///< at the leader, what the others send; at the others, the tile they send
  barrier full, empty;
};

/// N words of each block, reduced at the leader by red.async.
template <operation Op, class T, int N>
class cluster_words {
  static_assert(given<remote_reduction<Op, T>()>);

public:
  __device__ __forceinline__ cluster_words(push_room<T, N>& room, T identity)
      : room_(room), identity_(identity), turns_(room.full, room.empty, [&] { clear(); }) {}
  /// word(i): this block's word i; collect(sum): the leader takes what the others sent. Every thread calls it.
  template <class Word, class Collect>
  __device__ __forceinline__ void turn(Word word, Collect collect) {
    if (turns_.leads()) {
      turns_.receive(sizeof room_.sum.elements, [&] { collect(room_.sum.elements); }, [&] { clear(); });
    } else {
      turns_.wait_for_room();
      for (int i = int(threadIdx.x); i < N; i += int(blockDim.x))
        red_async<Op>(in_cluster(&room_.sum.elements[i], 0), word(i), turns_.announced());
    }
  }
  /// Before any block of the cluster ends.
  __device__ __forceinline__ void finish() { meet_cluster(); }

private:
  __device__ __forceinline__ void clear() {
    for (int i = 0; i < N; ++i)
      room_.sum.elements[i] = identity_;
  }
  push_room<T, N>& room_;
  T identity_;
  verbs::push_turns turns_;
};

/// A tile of N elements of each block, reduced at the leader by cp.reduce.async.bulk.
template <operation Op, class T, int N>
class cluster_sum {
  static_assert(given<bulk_reduction<Op, T>(space::shared_cluster)>);

public:
  __device__ __forceinline__ cluster_sum(push_room<T, N>& room, T identity)
      : room_(room), identity_(identity), turns_(room.full, room.empty, [&] { clear(); }) {}
  /// write(tile): the others write theirs; collect(sum): the leader takes what they sent. Every thread calls it.
  template <class Write, class Collect>
  __device__ __forceinline__ void turn(Write write, Collect collect) {
    if (turns_.leads()) {
      turns_.receive(room_.sum.bytes().count(), [&] { collect(room_.sum.elements); }, [&] { clear(); });
    } else {
      turns_.wait_for_room();
      write(room_.sum.elements);
      show_stores_to_bulk_engine();
      __syncthreads();
      if (threadIdx.x == 0)
        reduce<Op>(in_cluster(room_.sum.elements, 0), in_shared(room_.sum.elements), room_.sum.bytes(), turns_.announced());
    }
  }
  __device__ __forceinline__ void finish() { meet_cluster(); }

private:
  __device__ __forceinline__ void clear() {
    for (int i = 0; i < N; ++i)
      room_.sum.elements[i] = identity_;
    show_stores_to_bulk_engine();
  }
  push_room<T, N>& room_;
  T identity_;
  verbs::push_turns turns_;
};

/// Shared memory of a copy to the leader from up to `Blocks` blocks of a cluster, N elements each.
template <class T, int N, int Blocks>
struct copy_room {
  stage<T, N> slots[Blocks]; ///< at the leader, slot r is rank r's; at the others, their own is what they send
  barrier full, empty;
};

/// A tile of N elements of each block, copied to a slot of its own at the leader.
template <class T, int N, int Blocks>
class cluster_copy {
public:
  __device__ __forceinline__ explicit cluster_copy(copy_room<T, N, Blocks>& room)
      : room_(room), turns_(room.full, room.empty, [] {}) {
    demand(cluster_blocks() <= Blocks, "[tally-D5] more blocks than there are slots");
  }
  /// write(tile): the others write theirs; collect(slots): the leader takes them, slots[1].elements to the last. Every
  /// thread calls it.
  template <class Write, class Collect>
  __device__ __forceinline__ void turn(Write write, Collect collect) {
    if (turns_.leads()) {
      turns_.receive(stage<T, N>::bytes().count(), [&] { collect(room_.slots); }, [] {});
    } else {
      auto& mine = room_.slots[own_rank()];
      turns_.wait_for_room();
      write(mine.elements);
      show_stores_to_bulk_engine();
      __syncthreads();
      if (threadIdx.x == 0)
        copy(in_cluster(mine.elements, 0), in_shared(mine.elements), mine.bytes(), turns_.announced());
    }
  }
  __device__ __forceinline__ void finish() { meet_cluster(); }

private:
  copy_room<T, N, Blocks>& room_;
  verbs::push_turns turns_;
};

} // namespace tally::v0::primitive
