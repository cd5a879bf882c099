// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles written by the threads of a block into shared memory and brought to global memory by the bulk engine, several in
// flight: the order of protocol::store_ring (protocols.hpp), written here and nowhere else. Layer 2. A tile may begin at any
// element and have any length: the engine takes what is aligned to 16 bytes; the ends it takes by a byte mask on sm_100, and
// threads store them elsewhere. Nobody reads what was stored before the kernel is over.
#pragma once

#include <tally/primitive/copy.cuh>
#include <tally/primitive/window.cuh>

namespace tally::v0::primitive {

/// A ring of stages in shared memory; each is a multiple of 16 bytes long and aligned to 16.
template <int Stages>
class store_ring {
public:
  __device__ __forceinline__ store_ring(unsigned char* room, bulk_bytes per_stage) : room_(room), per_stage_(per_stage) {
    demand_bulk(room, room);
  }
  /// The most elements that a stage holds, wherever they go.
  template <class T>
  __device__ __forceinline__ int most() const {
    return int(per_stage_.count() / sizeof(T)) - (16 / int(sizeof(T)) - 1);
  }
  /// write(tile): ordinary stores of this thread's part of the n elements that go to `to`. The whole block calls it.
  template <class T, class Write, class Hint = no_policy>
  __device__ __forceinline__ void turn(in_global<T> to, int n, Write write, Hint hint = {}) {
    demand(n <= most<T>(), "[tally-D7] a tile is longer than a stage of its ring");
    unsigned char* const at = room_ + stage_ * per_stage_.count();
    int const shift = shift_of<16 / int(sizeof(T))>(to.at);
    if (threadIdx.x == 0) wait_bulk_reads<Stages - 1>();
    __syncthreads();
    write(reinterpret_cast<T*>(at) + shift);
    show_stores_to_bulk_engine();
    __syncthreads();
    int const begin = shift * int(sizeof(T)), end = begin + n * int(sizeof(T)); // in bytes of the stage
    in_global<unsigned char> const base(reinterpret_cast<unsigned char*>(to.at) - begin);
    if (threadIdx.x == 0) {
      send(base, at, begin, end, hint);
      commit_bulk_group();
    }
    if constexpr (!masks<Hint>) store_ends(to, reinterpret_cast<T const*>(at) + shift, begin, end, n);
    stage_ = stage_ + 1 == Stages ? 0 : stage_ + 1;
  }
  /// Until the engine has read every stage; before the block ends.
  __device__ __forceinline__ void finish() {
    if (threadIdx.x == 0) wait_bulk_reads();
  }

private:
  template <class Hint>
  static constexpr bool masks = available<verbs::masked_form<Hint>>;

  /// The bytes [from, to) of 16.
  __device__ __forceinline__ static u16 bytes_between(int from, int to) { return u16((1u << to) - (1u << from)); }

  /// The 16 bytes in [begin, end) that are whole, and where there are masks the ends.
  template <class Hint>
  __device__ __forceinline__ static void send(in_global<unsigned char> base, unsigned char const* at, int begin, int end,
                                              Hint hint) {
    int const first = (begin + 15) / 16 * 16, last = end / 16 * 16;
    if (last > first) copy(base + first, in_shared(at + first), bulk_bytes::within(last - first), hint);
    if constexpr (masks<Hint>) {
      bulk_bytes const one = bulk_bytes::of<16>();
      if (first > last) // within one window
        copy_masked(base + last, in_shared(at + last), one, bytes_between(begin - last, end - last), hint);
      else {
        if (begin < first) copy_masked(base, in_shared(at), one, bytes_between(begin, 16), hint);
        if (end > last) copy_masked(base + last, in_shared(at + last), one, bytes_between(0, end - last), hint);
      }
    }
  }
  template <class T>
  __device__ __forceinline__ static void store_ends(in_global<T> to, T const* tile, int begin, int end, int n) {
    constexpr int size = int(sizeof(T));
    int const first = (begin + 15) / 16 * 16, last = end / 16 * 16;
    int const head = first > last ? n : (first - begin) / size, tail = first > last ? 0 : (end - last) / size;
    int const i = int(threadIdx.x);
    if (i < head) to.at[i] = tile[i];
    if (i < tail) to.at[n - tail + i] = tile[n - tail + i];
  }

  unsigned char* room_;
  bulk_bytes per_stage_;
  int stage_ = 0;
};

} // namespace tally::v0::primitive
