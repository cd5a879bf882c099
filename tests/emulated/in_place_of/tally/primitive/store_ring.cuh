// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// primitive/store_ring.cuh as host code: a tile goes where it is sent at once, and must be pieces of 16 bytes.
#pragma once

#include <tally/primitive/place.cuh>

#include <cstring>

namespace tally::v0::primitive {

template <int Stages>
class store_ring {
public:
  store_ring(unsigned char* room, bulk_bytes) : room_(room) {}
  template <class T, class Write>
  void turn(in_global<T> to, int n, Write write) {
    __syncthreads();
    write(reinterpret_cast<T*>(room_));
    __syncthreads();
    if (threadIdx.x == 0) {
      CHECK((reinterpret_cast<u64>(to.at) | reinterpret_cast<u64>(room_) | u64(n) * sizeof(T)) % 16 == 0);
      std::memcpy(to.at, room_, static_cast<std::size_t>(n) * sizeof(T));
    }
  }
  void finish() {}

private:
  unsigned char* room_;
};

} // namespace tally::v0::primitive
