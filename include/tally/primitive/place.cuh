// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where an operand lies, as a type: verbs are chosen by the space of their operands, and a pointer alone does not say it.
// Layer 2.
#pragma once

#include <tally/base/numbers.hpp>
#include <tally/primitive/check.cuh>
#include <tally/primitive/form.hpp>

namespace tally::v0::primitive {

/// An object in global memory.
template <class T>
struct in_global {
  T* at;
  __device__ __forceinline__ explicit in_global(T* p) : at(p) {
    demand(__isGlobal(p), "[tally-D4] a place said to be in global memory is not");
  }
  /// As the instructions want it.
  __device__ __forceinline__ u64 address() const { return u64(__cvta_generic_to_global(at)); }
  __device__ __forceinline__ in_global operator+(i64 n) const { return in_global(at + n); }
  template <class U>
    requires cuda::std::same_as<U const, T>
  __device__ __forceinline__ in_global(in_global<U> other) : at(other.at) {}
};

/// An object in the shared memory of the block that runs.
template <class T>
struct in_shared {
  T* at;
  __device__ __forceinline__ explicit in_shared(T* p) : at(p) {
    demand(__isShared(p), "[tally-D4] a place said to be in shared memory is not");
  }
  __device__ __forceinline__ u32 address() const { return u32(__cvta_generic_to_shared(at)); }
  __device__ __forceinline__ in_shared operator+(i64 n) const { return in_shared(at + n); }
  template <class U>
    requires cuda::std::same_as<U const, T>
  __device__ __forceinline__ in_shared(in_shared<U> other) : at(other.at) {}
};

/// An object at an address of any space (generic addressing).
template <class T>
struct anywhere {
  T* at;
  __device__ __forceinline__ explicit anywhere(T* p) : at(p) {}
  __device__ __forceinline__ u64 address() const { return u64(at); }
};

/// The number of the running block in its cluster.
__device__ __forceinline__ u32 own_rank() {
  u32 rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
/// How many blocks the cluster has.
__device__ __forceinline__ u32 cluster_blocks() {
  u32 blocks;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
  return blocks;
}

/// An object in the shared memory of a block of the cluster, found by where the running block has the same object.
template <class T>
struct in_cluster {
  T* at;
  u32 rank; ///< of the block that has it
  __device__ __forceinline__ in_cluster(T* own, u32 block) : rank(block) {
    demand(__isShared(own), "[tally-D4] a place said to be in shared memory is not");
    demand(block < cluster_blocks(), "[tally-D5] the cluster has no block of this rank");
    u64 mapped;
    asm("mapa.u64 %0, %1, %2;" : "=l"(mapped) : "l"(own), "r"(block));
    at = reinterpret_cast<T*>(mapped);
  }
  /// A place that is mapped already, in the block that has it.
  __device__ __forceinline__ static in_cluster mapped(T* there) {
    u32 block;
    asm("getctarank.u64 %0, %1;" : "=r"(block) : "l"(there));
    return in_cluster(mapped_tag{}, there, block);
  }
  __device__ __forceinline__ u32 address() const { return u32(__cvta_generic_to_shared(at)); }
  __device__ __forceinline__ in_cluster operator+(i64 n) const { return in_cluster(mapped_tag{}, at + n, rank); }

private:
  struct mapped_tag {};
  __device__ __forceinline__ in_cluster(mapped_tag, T* there, u32 block) : at(there), rank(block) {}
};

/// What an asynchronous operation to another block needs: that the place is another block's.
template <class T>
__device__ __forceinline__ void demand_remote(in_cluster<T> const& to) {
  demand(to.rank != own_rank(), "[tally-D5] an asynchronous operation to shared::cluster needs another block's memory");
}

namespace verbs {
/// The space of a place.
template <class Place>
inline constexpr space space_of = space::generic;
template <class T>
inline constexpr space space_of<in_global<T>> = space::global;
template <class T>
inline constexpr space space_of<in_shared<T>> = space::shared_cta;
template <class T>
inline constexpr space space_of<in_cluster<T>> = space::shared_cluster;

/// The place of an object in a space, by its generic address (in a cluster, as it is mapped).
template <space S, class T>
__device__ __forceinline__ auto place(T* p) {
  if constexpr (S == space::global)
    return in_global<T>(p);
  else if constexpr (S == space::shared_cta)
    return in_shared<T>(p);
  else if constexpr (S == space::shared_cluster)
    return in_cluster<T>::mapped(p);
  else
    return anywhere<T>(p);
}

/// The threads that can look into a space.
template <space S>
inline constexpr scope scope_of = S == space::shared_cta     ? scope::cta
                                  : S == space::shared_cluster ? scope::cluster
                                                               : scope::gpu;
} // namespace verbs

} // namespace tally::v0::primitive
