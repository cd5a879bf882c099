// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The leaves of a warp through a ring in shared memory that the bulk copy engine fills while earlier leaves are folded. Layer 4.
// The order of the ring's protocol is written here and nowhere else: expect the bytes, then copy; wait for the phase; read into
// registers; all lanes have read; only then refill. A header of its own, because only the plans that ask for a ring pay NVRTC
// for it.
#pragma once

#include <cuda/ptx>

#include <tally/fold/program.hpp>
#include <tally/kernel/load.cuh>

namespace tally::v0::kernel {

/// Bytes of one leaf of the columns a plan loads through the ring.
template <plan P, class... Columns>
constexpr int ring_bytes_per_leaf(pack<Columns...> const*) {
  int i = 0, bytes = 0;
  ((bytes += P.sources[i++].load == load_primitive::bulk_ring
                 ? P.elements_per_leaf() * int(sizeof(typename Columns::value_type))
                 : 0),
   ...);
  return bytes;
}

/// Leaves through a ring of P.stages stages per warp; only whole leaves go through it.
template <plan P, class Program>
struct ring_leaves {
  using Columns = typename Program::columns_type;
  static constexpr int leaf_bytes = ring_bytes_per_leaf<P>(static_cast<Columns const*>(nullptr));
  Program const& p;
  i64 leaf;
  i64 step;
  int whole; ///< leaves of this warp that exist in full
  unsigned char* room;
  u64* arrived;

  __device__ __forceinline__ ring_leaves(Program const& program, i64 at, i64 whole_leaves, i64 apart = 1,
                                         i64 most = P.leaves_per_warp)
      : p(program), leaf(at), step(apart) {
    extern __shared__ __align__(128) unsigned char ring_room[];
    __shared__ u64 barriers[P.warps_per_block() * P.stages];
    int const warp = int(threadIdx.x / 32);
    room = ring_room + warp * (P.stages * leaf_bytes);
    arrived = barriers + warp * P.stages;
    i64 const mine = whole_leaves > leaf ? (whole_leaves - 1 - leaf) / step + 1 : 0;
    whole = int(mine < most ? mine : most);
    if (threadIdx.x % 32 == 0) {
      for (int s = 0; s < P.stages; ++s)
        cuda::ptx::mbarrier_init(arrived + s, 1);
      cuda::ptx::fence_mbarrier_init(cuda::ptx::sem_release, cuda::ptx::scope_cluster);
    }
    __syncwarp();
    for (int k = 0; k < P.stages; ++k)
      fill(k);
  }

  /// Asks for leaf k; one lane speaks for the warp.
  __device__ __forceinline__ void fill(int k) {
    if (threadIdx.x % 32 != 0 || k >= whole)
      return;
    int const stage = k % P.stages;
    cuda::ptx::mbarrier_arrive_expect_tx(cuda::ptx::sem_release, cuda::ptx::scope_cta, cuda::ptx::space_shared,
                                         arrived + stage, u32(leaf_bytes));
    unsigned char* to = room + stage * leaf_bytes;
    for_each_index<Columns::size>([&](auto i) {
      auto const& c = get<i>(p.columns);
      if constexpr (P.sources[i].load == load_primitive::bulk_ring) {
        constexpr int bytes = P.elements_per_leaf() * int(sizeof(*c.data));
        cuda::ptx::cp_async_bulk(cuda::ptx::space_cluster, cuda::ptx::space_global, to,
                                 c.data + (leaf + k * step) * P.elements_per_leaf(), u32(bytes), arrived + stage);
        to += bytes;
      }
    });
  }
  /// Until leaf k is in its stage.
  __device__ __forceinline__ void wait(int k) {
    while (!cuda::ptx::mbarrier_try_wait_parity(arrived + k % P.stages, u32(k / P.stages & 1))) {}
  }
  /// Leaf k is in registers: its stage may be filled again.
  __device__ __forceinline__ void release(int k) {
    __syncwarp();
    fill(k + P.stages);
  }
  /// The columns as they stand in the stage of leaf k: every element at the place it has in the leaf.
  __device__ __forceinline__ auto columns(int k) const {
    unsigned char* at = room + (k % P.stages) * leaf_bytes;
    return staged<0>(p.columns, at, (leaf + k * step) * P.elements_per_leaf());
  }
  __device__ __forceinline__ i64 start(int) const { return 0; }

private:
  template <int I>
  __device__ __forceinline__ static auto staged(pack<> const&, unsigned char*, i64) {
    return pack<>{};
  }
  template <int I, class C, class... Cs>
  __device__ __forceinline__ static pack<C, Cs...> staged(pack<C, Cs...> const& c, unsigned char* at, i64 first) {
    if constexpr (P.sources[I].load == load_primitive::bulk_ring) {
      using T = typename C::value_type;
      return {C{reinterpret_cast<T const*>(at)}, staged<I + 1>(c.rest, at + P.elements_per_leaf() * int(sizeof(T)), first)};
    } else {
      return {c.first.from(first), staged<I + 1>(c.rest, at, first)};
    }
  }
};

} // namespace tally::v0::kernel
