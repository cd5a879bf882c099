// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles from global memory into shared memory, a few ahead of the threads that read them: the order of
// protocol::load_ring_of_block (protocols.hpp), written here and nowhere else. Layer 2. The first warp only asks (one of its
// lanes does, or a few do, each for its own copies), the other warps read and make room.
#pragma once

#include <tally/primitive/copy.cuh>

namespace tally::v0::primitive {

/// The barriers of a ring; declare it __shared__.
template <int Stages>
struct ring_barriers {
  barrier full[Stages], empty[Stages];
};

/// A ring of stages, each a multiple of 16 bytes long and aligned to 128. Blocks of at least two warps. Askers: threads of the
/// first warp that ask. A tile of many copies is asked for by as many, because one takes longer to reckon than copies take.
template <int Stages, int Askers = 1>
class load_ring {
  static_assert(Askers >= 1 && Askers <= 32);

public:
  /// The whole block makes it.
  __device__ __forceinline__ load_ring(ring_barriers<Stages>& b, unsigned char* room, bulk_bytes per_stage)
      : barriers_(b), room_(room), per_stage_(per_stage) {
    demand(u64(room) % 128 == 0 && per_stage.count() % 128 == 0,
           "[tally-D7] stages of a load ring are aligned to 128 bytes");
    if (threadIdx.x == 0) {
      for (int s = 0; s < Stages; ++s) {
        b.full[s].init(Askers);
        b.empty[s].init(blockDim.x - 32);
      }
      publish_barriers();
    }
    __syncthreads();
  }
  /// For tile k of `tiles`: ask(k, stage, told) starts copies of bytes(k) bytes, in each thread that asks; read(k, stage) takes
  /// what came. The whole block calls it, once.
  template <class Bytes, class Ask, class Read>
  __device__ __forceinline__ void run(i64 tiles, Bytes bytes, Ask ask, Read read) {
    if (threadIdx.x < 32) {
      if (threadIdx.x < Askers) ask_for_all(tiles, bytes, ask);
    } else {
      read_all(tiles, read);
    }
  }

private:
  __device__ __forceinline__ unsigned char* stage(int s) const { return room_ + s * per_stage_.count(); }

  template <class Bytes, class Ask>
  __device__ __forceinline__ void ask_for_all(i64 tiles, Bytes bytes, Ask ask) {
    int s = 0;
    u32 round = 0;
    for (i64 k = 0; k < tiles; ++k) {
      if (round > 0) barriers_.empty[s].wait((round - 1) & 1);
      {
        expected told = barriers_.full[s].expect(bytes(k));
        ask(k, stage(s), told);
      }
      if (++s == Stages) s = 0, ++round;
    }
  }
  template <class Read>
  __device__ __forceinline__ void read_all(i64 tiles, Read read) {
    int s = 0;
    u32 round = 0;
    for (i64 k = 0; k < tiles; ++k) {
      barriers_.full[s].wait(round & 1);
      read(k, stage(s));
      barriers_.empty[s].arrive();
      if (++s == Stages) s = 0, ++round;
    }
  }

  ring_barriers<Stages>& barriers_;
  unsigned char* room_;
  bulk_bytes per_stage_;
};

} // namespace tally::v0::primitive
