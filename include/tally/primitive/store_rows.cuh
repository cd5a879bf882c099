// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles written by the threads of a block into shared memory, whose rows the bulk engine brings to places of their own, several tiles in flight:
// the order of protocol::store_rows (protocols.hpp), written here and nowhere else. Layer 2. Every thread may send rows that any thread wrote.
// Nobody reads what was stored before the kernel is over.
#pragma once

#include <tally/primitive/copy.cuh>

namespace tally::inline v0::primitive {

/// A ring of stages in shared memory; each is a multiple of 16 bytes long and aligned to 16.
template <int Stages>
class store_rows {
public:
  __device__ __forceinline__ store_rows(unsigned char* room, bulk_bytes per_stage) : room_(room), per_stage_(per_stage) {
    demand_bulk(room, room);
  }
  /// write(stage): ordinary stores of this thread's part; send(stage): bulk copies of what any thread wrote. The whole block calls it.
  template <class Write, class Send>
  __device__ __forceinline__ void turn(Write write, Send send) {
    unsigned char* const at = room_ + stage_ * per_stage_.count();
    wait_bulk_reads<Stages - 1>();
    __syncthreads();
    write(at);
    show_stores_to_bulk_engine();
    __syncthreads();
    send(at);
    commit_bulk_group();
    stage_ = stage_ + 1 == Stages ? 0 : stage_ + 1;
  }
  /// Until the engine has read what this thread sent; before the block ends.
  __device__ __forceinline__ void finish() { wait_bulk_reads(); }

private:
  unsigned char* room_;
  bulk_bytes per_stage_;
  int stage_ = 0;
};

} // namespace tally::inline v0::primitive
