// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keys that many rows have, and whose slots blocks therefore have copies of: found by a sample before the read, looked up in it.
// Layer 4.
#pragma once

#include <tally/fold/hot_keys.hpp>

namespace tally::inline v0::kernel {

/// The hot keys as a block looks them up.
template <int Keys>
struct hot_keys {
  using list = hot_key_list<Keys>;
  u64* places; ///< in shared memory
  __device__ void fill(list const& found) const {
    for (unsigned i = threadIdx.x; i < unsigned(list::places); i += blockDim.x)
      places[i] = found.place[i];
    __syncthreads();
  }
  /// The number of a bin among the hot ones, or -1. Some places are free, so that a search ends.
  __device__ __forceinline__ int number_of(int bin) const {
    for (unsigned at = scattered(unsigned(bin));; ++at) {
      u64 const entry = places[at % unsigned(list::places)];
      if (entry == list::nothing)
        return -1;
      if (list::bin_of(entry) == bin)
        return list::number_of(entry);
    }
  }
};

/// Notes a bin that turned out hot.
template <int Keys>
__device__ void note_hot(hot_key_list<Keys>& found, unsigned bin) {
  using list = hot_key_list<Keys>;
  unsigned const number = atomicAdd(&found.number, 1u);
  if (number >= unsigned(Keys))
    return;
  found.bin[number] = static_cast<int>(bin);
  auto* const places = reinterpret_cast<unsigned long long*>(found.place);
  for (unsigned at = scattered(bin); atomicCAS(places + at % unsigned(list::places), list::nothing, list::entry(bin, number)) != list::nothing;)
    ++at;
}

/// One block looks at some of the elements, at least sampled_elements, evenly apart but for a little chance, and lists the bins that
/// `enough` of them have. The room is sample_bytes of shared memory. A call, so that it costs the folds no registers.
template <int Keys, class BinAt>
__device__ __noinline__ void find_hot_keys(hot_key_list<Keys>& found, unsigned* room, i64 elements, unsigned enough, BinAt const& bin_at) {
  using list = hot_key_list<Keys>;
  unsigned *const bins = room, *const met = bins + sample_places;
  for (unsigned i = threadIdx.x; i < unsigned(sample_places); i += blockDim.x)
    bins[i] = ~0u, met[i] = 0;
  for (unsigned i = threadIdx.x; i < unsigned(list::places); i += blockDim.x)
    found.place[i] = list::nothing;
  if (threadIdx.x == 0)
    found.number = 0;
  __syncthreads();
  constexpr unsigned at_once = 8;
  i64 const apart = elements / sampled_elements;
  for (unsigned first = threadIdx.x; first < unsigned(sampled_elements); first += at_once * blockDim.x) {
    i64 bin[at_once];
#pragma unroll
    for (unsigned u = 0; u < at_once; ++u) { // all are asked for before the first is counted
      i64 const s = first + u * blockDim.x;
      bin[u] = bin_at(s < sampled_elements ? s * apart + scattered(unsigned(s)) % apart : 0);
      if (s >= sampled_elements)
        bin[u] = -1;
    }
#pragma unroll 1
    for (unsigned u = 0; u < at_once; ++u) {
      if (bin[u] < 0)
        continue;
      unsigned const b = static_cast<unsigned>(bin[u]);
      unsigned at = scattered(b) % unsigned(sample_places);
      for (unsigned other; (other = atomicCAS(bins + at, ~0u, b)) != ~0u && other != b;)
        at = (at + 1) % unsigned(sample_places);
      if (atomicAdd(met + at, 1u) + 1 == enough)
        note_hot(found, b);
    }
  }
}

} // namespace tally::inline v0::kernel
