// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How neighbouring elements leave registers: in stores of up to 16 bytes, written once and not read again. Layer 4.
#pragma once

#include <tally/fold/answer_nodes.hpp>

namespace tally::inline v0::kernel {

/// One store of Bytes bytes.
template <int Bytes>
__device__ __forceinline__ void store_streaming(void* to, void const* from) {
  if constexpr (Bytes == 16) {
    uint4 v;
    memcpy(&v, from, 16);
    __stcs(static_cast<uint4*>(to), v);
  } else if constexpr (Bytes == 8) {
    uint2 v;
    memcpy(&v, from, 8);
    __stcs(static_cast<uint2*>(to), v);
  } else if constexpr (Bytes == 4) {
    unsigned v;
    memcpy(&v, from, 4);
    __stcs(static_cast<unsigned*>(to), v);
  } else if constexpr (Bytes == 2) {
    unsigned short v;
    memcpy(&v, from, 2);
    __stcs(static_cast<unsigned short*>(to), v);
  } else {
    memcpy(to, from, Bytes);
  }
}

/// Stores V neighbours, Bytes at a time.
template <int Bytes, class T, int V>
__device__ __forceinline__ void store_neighbours(T* to, T const (&v)[V]) {
  alignas(16) unsigned char bytes[V * sizeof(T)];
  memcpy(bytes, v, sizeof bytes);
#pragma unroll
  for (int b = 0; b < int(V * sizeof(T)); b += Bytes)
    store_streaming<Bytes>(reinterpret_cast<unsigned char*>(to) + b, bytes + b);
}

} // namespace tally::inline v0::kernel
