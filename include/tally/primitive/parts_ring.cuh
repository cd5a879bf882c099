// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles written by ordinary stores into shared memory, parts of which every thread sends on by the bulk engine, several tiles in flight: the turn of
// protocol::store_rows and store_sum_ring (protocols.hpp), written here and nowhere else. Layer 2. The threads that meet are a warp or a block;
// each of them counts the groups of what it sent.
#pragma once

#include <tally/primitive/bulk_bytes.cuh>
#include <tally/primitive/bulk_group.cuh>

namespace tally::v0::primitive {

/// Which threads share a ring.
enum class circle : unsigned char { warp, block };

template <circle Who>
__device__ __forceinline__ void meet() {
  if constexpr (Who == circle::warp)
    __syncwarp();
  else
    __syncthreads();
}

/// A ring of stages in shared memory; each is a multiple of 16 bytes long and aligned to 16.
template <int Stages, circle Who>
class parts_ring {
public:
  __device__ __forceinline__ parts_ring(unsigned char* room, bulk_bytes per_stage)
      : room_(room), per_stage_(per_stage) {
    demand_bulk(room, room);
  }
  /// write(stage): ordinary stores of this thread's part; send(stage): bulk operations on what any thread wrote.
  template <class Write, class Send>
  __device__ __forceinline__ void turn(Write write, Send send) {
    unsigned char* const at = room_ + stage_ * per_stage_.count();
    wait_bulk_reads<Stages - 1>();
    meet<Who>();
    write(at);
    show_stores_to_bulk_engine();
    meet<Who>();
    send(at);
    commit_bulk_group();
    stage_ = stage_ + 1 == Stages ? 0 : stage_ + 1;
  }

private:
  unsigned char* room_;
  bulk_bytes per_stage_;
  int stage_ = 0;
};

} // namespace tally::v0::primitive
