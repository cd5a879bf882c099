// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How neighbouring elements leave registers: in stores of up to 16 bytes. Layer 4.
#pragma once

#include <tally/fold/answer_nodes.hpp>
#include <tally/kernel/load.cuh>

namespace tally::v0::kernel {

/// The I-th of some numbers.
template <int I, int... Of>
constexpr int nth_number() {
  constexpr int all[] = {Of...};
  return all[I];
}

/// One store of Bytes bytes, if that many can be stored at once.
template <int Bytes>
__device__ __forceinline__ void store_at_once(void* to, void const* from) {
  if constexpr (Bytes <= 16 && (Bytes & (Bytes - 1)) == 0) {
    at_once_t<Bytes> v;
    memcpy(&v, from, Bytes);
    *static_cast<at_once_t<Bytes>*>(to) = v;
  } else {
    memcpy(to, from, Bytes);
  }
}

/// Stores V neighbours, Bytes at a time, where these are more than an element's, else as elements are assigned: one is no more aligned than its
/// type says.
template <int Bytes, class T, int V>
__device__ __forceinline__ void store_neighbours(T* to, T const (&v)[V]) {
  if constexpr (Bytes > int(sizeof(T))) {
    alignas(16) unsigned char bytes[V * sizeof(T)];
    memcpy(bytes, v, sizeof bytes);
#pragma unroll
    for (int b = 0; b < int(V * sizeof(T)); b += Bytes)
      store_at_once<Bytes>(reinterpret_cast<unsigned char*>(to) + b, bytes + b);
  } else {
#pragma unroll
    for (int k = 0; k < V; ++k)
      to[k] = v[k];
  }
}

/// Whether V neighbours of type T pass through shared memory on their way out, in room of 32 bytes a thread.
template <class T, int V>
inline constexpr bool passes_shared = V > 1 && V * sizeof(T) <= 32 && (sizeof(T) & (sizeof(T) - 1)) == 0;

/// Stores the first `left` of the elements that Threads neighbours hold, V each, to where no more than one can be stored at once: neighbouring
/// threads store neighbours, so that sectors are written whole. The whole warp calls it; room: of the warp.
template <int Threads, class T, int V>
__device__ __forceinline__ void store_one_by_one(T* to, T const (&v)[V], int left, unsigned char* room) {
  struct alignas(V * sizeof(T)) group {
    T of[V];
  };
  int const lane = int(threadIdx.x % 32), first = lane / Threads * Threads;
  group mine;
#pragma unroll
  for (int k = 0; k < V; ++k)
    mine.of[k] = v[k];
  reinterpret_cast<group*>(room)[lane] = mine;
  __syncwarp();
  T const* const held = reinterpret_cast<T const*>(room) + first * V;
#pragma unroll
  for (int k = 0; k < V; ++k)
    if (int const e = k * Threads + lane - first; e < left)
      to[e] = held[e];
  __syncwarp();
}

} // namespace tally::v0::kernel
