// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A list of words sorted as the keys that they are, by a bitonic network. Layer 4. Runs of a chunk are sorted in shared memory of a
// block; longer ones are merged by a launch for each stride that does not fit there, and one for all that do. The list has as many
// words as a power of two; what is behind the keys is the highest key, which stays behind all others.
#pragma once

#include <tally/fold/key_table.hpp>

namespace tally::v0::kernel {

template <class Key>
struct key_sorter {
  using word = key_word<Key>;
  key_search const& to;
  __device__ __forceinline__ word* words() const { return static_cast<word*>(to.list); }

  /// Puts two words in order, whose places are (i, i + stride): up where the run that they are in goes up.
  template <class Words, class Place>
  __device__ __forceinline__ static void exchange(Words* list, Place i, Place stride, bool up) {
    word const a = list[i], b = list[i + stride];
    if (up ? static_cast<Key>(b) < static_cast<Key>(a) : static_cast<Key>(a) < static_cast<Key>(b)) {
      list[i] = b;
      list[i + stride] = a;
    }
  }
  /// The lower place of pair number t, at a stride that is a power of two.
  template <class Place>
  __device__ __forceinline__ static Place lower_of_pair(Place t, Place stride) {
    return 2 * t - (t & (stride - 1));
  }

  /// A block sorts one chunk (all runs up to its length), or merges what is left of a longer run when its far strides are done.
  __device__ void in_chunk(word volatile* chunk, u64 first_run, u64 last_run) const {
    unsigned const length = static_cast<unsigned>(to.chunk);
    u64 const begin = blockIdx.x * to.chunk;
    for (unsigned i = threadIdx.x; i < length; i += blockDim.x)
      chunk[i] = words()[begin + i];
    for (u64 run = first_run; run <= last_run; run *= 2)
      for (unsigned stride = (run < length ? static_cast<unsigned>(run) : length) / 2; stride > 0; stride /= 2) {
        __syncthreads();
        for (unsigned t = threadIdx.x; t < length / 2; t += blockDim.x) {
          unsigned const i = lower_of_pair(t, stride);
          exchange(chunk, i, stride, ((begin + i) & run) == 0);
        }
      }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < length; i += blockDim.x)
      words()[begin + i] = chunk[i];
  }
  __device__ void far(u64 thread, u64 threads) const {
    for (u64 t = thread; t < to.places / 2; t += threads) {
      u64 const i = lower_of_pair(t, to.stride);
      exchange(words(), i, to.stride, (i & to.run) == 0);
    }
  }
};

} // namespace tally::v0::kernel
