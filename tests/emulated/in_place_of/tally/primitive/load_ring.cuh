// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// primitive/load_ring.cuh and copy.cuh as host code: a tile is there when it is asked for, its copies must be pieces of 16 bytes, and as many bytes as are expected come.
#pragma once

#include <tally/primitive/place.cuh>

#include <cstring>

namespace tally::v0::primitive {

struct expected {
  i64 bytes;
};
template <class T>
void copy(in_shared<T> to, in_global<T const> from, bulk_bytes n, expected& told) {
  if ((reinterpret_cast<u64>(to.at) | reinterpret_cast<u64>(from.at) | u64(n.n)) % 16 != 0) FAIL("a copy that is not in pieces of 16 bytes");
  std::memcpy(to.at, from.at, static_cast<std::size_t>(n.n));
  told.bytes -= n.n;
}

template <int Stages>
struct ring_barriers {};
template <int Stages, int Askers = 1>
class load_ring {
public:
  load_ring(ring_barriers<Stages>&, unsigned char* room, bulk_bytes per_stage) : room_(room), per_stage_(per_stage.n) {}
  template <class Bytes, class Ask, class Read>
  void run(i64 tiles, Bytes bytes, Ask ask, Read read) {
    for (i64 k = 0; k < tiles; ++k) {
      unsigned char* const stage = room_ + k % Stages * per_stage_;
      __syncthreads();
      if (threadIdx.x == 0) std::memset(stage, 0x7f, static_cast<std::size_t>(per_stage_));
      __syncthreads();
      if (threadIdx.x < Askers) {
        expected told{bytes(k).n};
        ask(k, stage, told);
        if (told.bytes != 0) FAIL("other bytes come than were expected");
      }
      __syncthreads();
      if (threadIdx.x >= 32) read(k, stage);
    }
    __syncthreads();
  }

private:
  unsigned char* room_;
  i64 per_stage_;
};

} // namespace tally::v0::primitive
