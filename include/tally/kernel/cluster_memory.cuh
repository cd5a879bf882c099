// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The shared memory of the blocks of a cluster, as keyed tables and rows with lets use it: whose it is, and when all may look. Layer 4.
#pragma once

#include <tally/primitive/barrier.cuh>
#include <tally/primitive/place.cuh>

namespace tally::v0::kernel {

/// The number of the running block in its cluster.
__device__ __forceinline__ unsigned rank_in_cluster() { return primitive::own_rank(); }
/// What the running block has at `own`, as the block of a rank has it.
__device__ __forceinline__ char* memory_of_block(unsigned rank, char* own) { return primitive::in_cluster<char>(own, rank).at; }
/// An array that every block declares, as the block of a rank has it.
template <class T, int N>
__device__ __forceinline__ T* array_of_block(unsigned rank, T (&own)[N]) {
  return primitive::in_cluster<T>(own, rank).at;
}
/// All threads of the cluster: what each did before is seen by all after.
__device__ __forceinline__ void meet_cluster() { primitive::meet_cluster(); }

/// The same in two steps, with something else in between.
__device__ __forceinline__ void arrive_in_cluster() { primitive::arrive_in_cluster(); }
__device__ __forceinline__ void wait_for_cluster() { primitive::wait_for_cluster(); }

/// Adds to a float that a block of the cluster has, unless another thread writes there at the same time; says whether it did.
__device__ __forceinline__ bool add_unless_taken(float* at, float value) {
  u32* const bits = reinterpret_cast<u32*>(at);
  u32 const before = *static_cast<u32 const volatile*>(bits);
  return atomicCAS(bits, before, __float_as_uint(__uint_as_float(before) + value)) == before;
}

} // namespace tally::v0::kernel
