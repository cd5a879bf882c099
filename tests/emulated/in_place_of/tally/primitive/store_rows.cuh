// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// primitive/store_rows.cuh and copy.cuh as host code: rows go where they are sent at once, and both ends must be aligned to 16 bytes.
#pragma once

#include <tally/primitive/place.cuh>

#include <cstring>

namespace tally::v0::primitive {

inline i64 rows_stored = 0; ///< in bulk
inline void copy(in_global<unsigned char> to, in_shared<unsigned char const> from, bulk_bytes n) {
  CHECK((reinterpret_cast<u64>(to.at) | reinterpret_cast<u64>(from.at)) % 16 == 0);
  std::memcpy(to.at, from.at, static_cast<std::size_t>(n.n));
  ++rows_stored;
}
template <int Stages>
class store_rows {
public:
  store_rows(unsigned char* room, bulk_bytes) : room_(room) {}
  template <class Write, class Send>
  void turn(Write write, Send send) {
    __syncthreads();
    write(room_);
    __syncthreads();
    send(room_);
  }
  void finish() {}

private:
  unsigned char* room_;
};

} // namespace tally::v0::primitive
