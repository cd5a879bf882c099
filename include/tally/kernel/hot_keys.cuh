// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keys that many rows or elements have, and whose slots blocks or lanes therefore have copies of: found by a sample before the read, looked
// up in it. Layer 4.
#pragma once

#include <tally/fold/hot_keys.hpp>

namespace tally::v0::kernel {

/// The hot keys as a block knows them, at most Keys.
template <int Keys>
struct hot_keys {
  u64* places; ///< in shared memory
  /// All threads of a block call it. Whether there are any.
  __device__ bool fill(u64 const* found) const {
    bool any = false;
    for (unsigned i = threadIdx.x; i < unsigned(hot_places(Keys)); i += blockDim.x) {
      places[i] = found[i];
      any |= found[i] != no_hot_key;
    }
    return __syncthreads_or(any);
  }
  /// The number of a bin among the hot ones, or -1. A quarter of the places is taken, so that a search ends.
  __device__ __forceinline__ int number_of(int bin) const {
    for (unsigned at = scattered(unsigned(bin));; ++at) {
      u64 const key = places[at % unsigned(hot_places(Keys))];
      if (key == no_hot_key)
        return -1;
      if (hot_bin(key) == bin)
        return hot_number(key);
    }
  }
};

/// One block looks at some of the rows or elements, at least sampled_elements, evenly apart but for a little chance, and leaves those bins
/// that hot_in_sample of them have. The room is sample_bytes of shared memory.
template <int Keys, class BinAt>
__device__ void find_hot_keys(u64* found, unsigned* room, i64 elements, BinAt const& bin_at) {
  unsigned *const bins = room, *const met = bins + sample_places, *const count = met + sample_places;
  for (unsigned i = threadIdx.x; i < unsigned(sample_places); i += blockDim.x)
    bins[i] = ~0u, met[i] = 0;
  for (unsigned i = threadIdx.x; i < unsigned(hot_places(Keys)); i += blockDim.x)
    found[i] = no_hot_key;
  if (threadIdx.x == 0)
    *count = 0;
  __syncthreads();
  i64 const apart = elements / sampled_elements;
#pragma unroll 4
  for (unsigned s = threadIdx.x; s < unsigned(sampled_elements); s += blockDim.x) {
    i64 const bin = bin_at(s * apart + scattered(s) % apart);
    if (bin < 0)
      continue;
    unsigned const b = static_cast<unsigned>(bin);
    unsigned at = scattered(b) % unsigned(sample_places);
    for (unsigned other; (other = atomicCAS(bins + at, ~0u, b)) != ~0u && other != b;)
      at = (at + 1) % unsigned(sample_places);
    if (atomicAdd(met + at, 1u) + 1 != unsigned(hot_in_sample))
      continue;
    if (unsigned const number = atomicAdd(count, 1u); number < unsigned(Keys)) {
      u64 const key = hot_key(b, number);
      for (unsigned place = scattered(b);; ++place)
        if (atomicCAS(reinterpret_cast<unsigned long long*>(found) + place % unsigned(hot_places(Keys)), no_hot_key, key) == no_hot_key)
          break;
    }
  }
}

} // namespace tally::v0::kernel
