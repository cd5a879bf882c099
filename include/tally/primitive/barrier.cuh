// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A barrier in shared memory that counts arrivals and bytes: how the end of a copy is known. Layer 2. Bytes are expected
// before they are asked for, and a copy takes what was expected as an operand, so neither can be forgotten; a checked
// build also traps when they differ, which would hang otherwise.
#pragma once

#include <tally/primitive/bulk_bytes.cuh>
#include <tally/primitive/place.cuh>

#include <cuda/ptx>

namespace tally::v0::primitive {

class barrier;

/// Bytes that a phase of a barrier waits for and this thread has still to ask for.
class expected {
public:
  __device__ __forceinline__ expected(barrier& b, bulk_bytes n) : at_(&b), left_(n.count()) {}
  expected(expected const&) = delete;
  __device__ __forceinline__ ~expected() {
    demand(left_ == 0, "[tally-D6] fewer bytes were copied than a barrier was told to expect: it would wait for ever");
  }
  /// The barrier, for a copy of n bytes.
  __device__ __forceinline__ u64* take(bulk_bytes n);

private:
  barrier* at_;
  u32 left_;
};

/// One mbarrier; declare it __shared__. One thread initialises it, then `publish_barriers`, then a barrier of the block (or
/// of the cluster, where other blocks use it).
class barrier {
public:
  barrier() = default;
  /// A phase ends when `arrivals` threads have arrived and the bytes they expect have come.
  __device__ __forceinline__ void init(u32 arrivals) { cuda::ptx::mbarrier_init(&word_, arrivals); }
  __device__ __forceinline__ void arrive() { (void)cuda::ptx::mbarrier_arrive(&word_); }
  /// Arrives, and makes the phase wait for bytes that this thread asks for next.
  __device__ __forceinline__ expected expect(bulk_bytes n) {
    announce(n.count());
    return expected(*this, n);
  }
  /// Arrives, and makes the phase wait for bytes that other blocks of the cluster send.
  __device__ __forceinline__ void expect_from_others(u32 bytes) { announce(bytes); }
  /// Until the phase of this parity is over: what was copied to this block is then seen.
  __device__ __forceinline__ void wait(u32 parity) {
    while (!cuda::ptx::mbarrier_try_wait_parity(&word_, parity)) {}
  }
  /// The same for what other blocks of the cluster sent.
  __device__ __forceinline__ void wait_for_others(u32 parity) {
    while (!cuda::ptx::mbarrier_try_wait_parity(cuda::ptx::sem_acquire, cuda::ptx::scope_cluster, &word_, parity)) {}
  }
  __device__ __forceinline__ u64* word() { return &word_; }

private:
  __device__ __forceinline__ void announce(u32 bytes) {
    (void)cuda::ptx::mbarrier_arrive_expect_tx(cuda::ptx::sem_release, cuda::ptx::scope_cta, cuda::ptx::space_shared,
                                               &word_, bytes);
  }
  u64 word_;
};

__device__ __forceinline__ u64* expected::take(bulk_bytes n) {
  demand(n.count() <= left_, "[tally-D6] more bytes are copied than a barrier was told to expect");
  if constexpr (checked) left_ -= n.count();
  return at_->word();
}

/// Arrives at the barrier that another block of the cluster has at the same place.
__device__ __forceinline__ void arrive_at(in_cluster<barrier> b) {
  cuda::ptx::mbarrier_arrive(cuda::ptx::sem_release, cuda::ptx::scope_cluster, cuda::ptx::space_cluster, b.at->word());
}

/// One half of meet_cluster: every thread arrives, does something else, and waits for those of the other blocks.
__device__ __forceinline__ void arrive_in_cluster() { cuda::ptx::barrier_cluster_arrive(cuda::ptx::sem_release); }
__device__ __forceinline__ void wait_for_cluster() { cuda::ptx::barrier_cluster_wait(cuda::ptx::sem_acquire); }
/// All threads of the cluster: what each did before is seen by all after.
__device__ __forceinline__ void meet_cluster() {
  arrive_in_cluster();
  wait_for_cluster();
}

/// Makes initialised barriers visible to the bulk engine and to the cluster; by the thread that initialised them.
__device__ __forceinline__ void publish_barriers() {
  cuda::ptx::fence_mbarrier_init(cuda::ptx::sem_release, cuda::ptx::scope_cluster);
}

} // namespace tally::v0::primitive
