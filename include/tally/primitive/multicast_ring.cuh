// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One tile of global memory into the shared memory of every block of a cluster, a few tiles ahead: the order of
// protocol::multicast_ring (protocols.hpp), written here and nowhere else. Layer 2. The block of rank 0 asks for all; the
// first warp of every block only expects, the other warps read and make room.
#pragma once

#include <tally/primitive/load_ring.cuh>

namespace tally::v0::primitive {

/// A ring that the blocks of a cluster share, at the same place in each. Blocks of at least two warps.
template <int Stages>
class multicast_ring {
public:
  /// Every thread of the cluster makes it.
  __device__ __forceinline__ multicast_ring(ring_barriers<Stages>& b, unsigned char* room, bulk_bytes per_stage)
      : barriers_(b), room_(room), per_stage_(per_stage), leads_(own_rank() == 0) {
    demand(u64(room) % 128 == 0 && per_stage.count() % 128 == 0,
           "[tally-D7] stages of a load ring are aligned to 128 bytes");
    if (threadIdx.x == 0) {
      for (int s = 0; s < Stages; ++s) {
        b.full[s].init(1);
        if (leads_) b.empty[s].init((blockDim.x - 32) * cluster_blocks());
      }
      publish_barriers();
    }
    meet_cluster();
  }
  /// For tile k of `tiles`, the same in all blocks: ask(k, stage, blocks, barrier) starts copies of bytes(k) bytes to all
  /// of `blocks`; read(k, stage) takes what came. Every thread of the cluster calls it, once.
  template <class Bytes, class Ask, class Read>
  __device__ __forceinline__ void run(i64 tiles, Bytes bytes, Ask ask, Read read) {
    if (threadIdx.x == 0)
      ask_for_all(tiles, bytes, ask);
    else if (threadIdx.x >= 32)
      read_all(tiles, read);
    meet_cluster();
  }

private:
  __device__ __forceinline__ unsigned char* stage(int s) const { return room_ + s * per_stage_.count(); }

  template <class Bytes, class Ask>
  __device__ __forceinline__ void ask_for_all(i64 tiles, Bytes bytes, Ask ask) {
    u16 const everybody = u16((1u << cluster_blocks()) - 1);
    int s = 0;
    u32 round = 0;
    for (i64 k = 0; k < tiles; ++k) {
      if (round > 0) {
        if (leads_)
          barriers_.empty[s].wait_for_others((round - 1) & 1);
        else
          barriers_.full[s].wait_for_others((round - 1) & 1);
      }
      barriers_.full[s].expect_from_others(bytes(k).count());
      if (leads_) ask(k, stage(s), everybody, barriers_.full[s]);
      if (++s == Stages) s = 0, ++round;
    }
  }
  template <class Read>
  __device__ __forceinline__ void read_all(i64 tiles, Read read) {
    int s = 0;
    u32 round = 0;
    for (i64 k = 0; k < tiles; ++k) {
      barriers_.full[s].wait_for_others(round & 1);
      read(k, static_cast<unsigned char const*>(stage(s)));
      arrive_at(in_cluster(&barriers_.empty[s], 0));
      if (++s == Stages) s = 0, ++round;
    }
  }

  ring_barriers<Stages>& barriers_;
  unsigned char* room_;
  bulk_bytes per_stage_;
  bool leads_;
};

} // namespace tally::v0::primitive
