// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How fast a GPU reads 4 GiB of words, by where the warps of a block stand: kernels that add what they read and wait for nothing, launched
// over each other, so that nothing but the order of the reads is measured. The evidence of docs/decisions/warps_stand_far_apart.md. Needs no
// file; prints a table. Layer: tests.
#include <cuda/ptx>

#include <tally/base/numbers.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "require_cuda.hpp"

using namespace tally::v0;

constexpr int bytes_of_leaf = 4096, vectors_of_leaf = bytes_of_leaf / 16, vectors_of_lane = vectors_of_leaf / 32;

/// Where leaf k of a warp is: behind its leaf k - 1, or behind those of the other warps of the block.
enum class stand { on_a_piece, side_by_side };
template <stand Where, int Warps, int Leaves>
__device__ long leaf_of(int k) {
  long const warp = threadIdx.x / 32;
  return Where == stand::on_a_piece ? (blockIdx.x * long(Warps) + warp) * Leaves + k : (long(blockIdx.x) * Leaves + k) * Warps + warp;
}

__device__ unsigned words_of(uint4 const (&v)[vectors_of_lane]) {
  unsigned words = 0;
#pragma unroll
  for (uint4 const& x : v) words += x.x + x.y + x.z + x.w;
  return words;
}
template <int Warps>
__device__ void leave(unsigned words, unsigned* answer) {
  __shared__ unsigned of_warp[Warps];
  words = __reduce_add_sync(~0u, words);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = words;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int w = 1; w < Warps; ++w) words += of_warp[w];
  atomicAdd(answer, words);
}

/// Through registers, a leaf at a time.
template <stand Where, int Warps, int Leaves>
__global__ void __launch_bounds__(32 * Warps, 1024 / (32 * Warps)) through_registers(uint4 const* x, unsigned* answer) {
  asm volatile("griddepcontrol.launch_dependents;");
  unsigned words = 0;
#pragma unroll 1
  for (int k = 0; k < Leaves; ++k) {
    uint4 v[vectors_of_lane];
#pragma unroll
    for (int r = 0; r < vectors_of_lane; ++r)
      v[r] = __ldcs(x + leaf_of<Where, Warps, Leaves>(k) * vectors_of_leaf + r * 32 + threadIdx.x % 32);
    words += words_of(v);
  }
  leave<Warps>(words, answer);
}

/// Through a ring of Stages leaves a warp, which the copy engine fills.
template <stand Where, int Warps, int Leaves, int Stages>
__global__ void __launch_bounds__(32 * Warps) through_rings(uint4 const* x, unsigned* answer) {
  asm volatile("griddepcontrol.launch_dependents;");
  extern __shared__ __align__(128) uint4 rings[];
  __shared__ u64 barriers[Warps * Stages];
  int const warp = int(threadIdx.x / 32), lane = int(threadIdx.x % 32);
  uint4* const ring = rings + warp * Stages * vectors_of_leaf;
  u64* const arrived = barriers + warp * Stages;
  auto const fill = [&](int k) {
    if (lane != 0 || k >= Leaves) return;
    cuda::ptx::mbarrier_arrive_expect_tx(cuda::ptx::sem_release, cuda::ptx::scope_cta, cuda::ptx::space_shared, arrived + k % Stages,
                                         u32(bytes_of_leaf));
    cuda::ptx::cp_async_bulk(cuda::ptx::space_cluster, cuda::ptx::space_global, ring + k % Stages * vectors_of_leaf,
                             x + leaf_of<Where, Warps, Leaves>(k) * vectors_of_leaf, u32(bytes_of_leaf), arrived + k % Stages);
  };
  if (lane == 0) {
    for (int s = 0; s < Stages; ++s) cuda::ptx::mbarrier_init(arrived + s, 1);
    cuda::ptx::fence_mbarrier_init(cuda::ptx::sem_release, cuda::ptx::scope_cluster);
  }
  __syncwarp();
  for (int k = 0; k < Stages; ++k) fill(k);
  unsigned words = 0;
#pragma unroll 1
  for (int k = 0; k < Leaves; ++k) {
    while (!cuda::ptx::mbarrier_try_wait_parity(arrived + k % Stages, u32(k / Stages & 1))) {}
    uint4 v[vectors_of_lane];
#pragma unroll
    for (int r = 0; r < vectors_of_lane; ++r) v[r] = ring[k % Stages * vectors_of_leaf + r * 32 + lane];
    __syncwarp();
    fill(k + Stages);
    words += words_of(v);
  }
  leave<Warps>(words, answer);
}

/// Prints microseconds a launch of 2^24 to 2^30 words, the median of seven bursts over rotating parts of the 4 GiB.
template <class Kernel>
void measure(char const* how, stand where, int warps, int leaves, int stages, Kernel kernel, uint4 const* x, unsigned* answer) {
  int const shared = stages * warps * bytes_of_leaf;
  REQUIRE_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  cudaEvent_t begin, end;
  REQUIRE_CUDA(cudaEventCreate(&begin));
  REQUIRE_CUDA(cudaEventCreate(&end));
  std::printf("| %s | %d | %d | %s ", how, warps, leaves, where == stand::on_a_piece ? "on a piece" : "side by side");
  for (int power : {24, 25, 28, 30}) {
    long const words = 1l << power, parts = (1l << 30) / words;
    int const launches = power >= 28 ? 8 : 40;
    std::vector<float> times;
    long turn = 0;
    for (int burst = 0; burst < 7; ++burst) {
      REQUIRE_CUDA(cudaEventRecord(begin));
      for (int i = 0; i < launches; ++i) {
        cudaLaunchAttribute over[1];
        over[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        over[0].val.programmaticStreamSerializationAllowed = 1;
        cudaLaunchConfig_t shape{};
        shape.gridDim = unsigned(words * 4 / bytes_of_leaf / (warps * leaves));
        shape.blockDim = unsigned(32 * warps);
        shape.dynamicSmemBytes = std::size_t(shared);
        shape.attrs = over, shape.numAttrs = 1;
        REQUIRE_CUDA(cudaLaunchKernelEx(&shape, kernel, x + turn++ % parts * (words / 4), answer));
      }
      REQUIRE_CUDA(cudaEventRecord(end));
      REQUIRE_CUDA(cudaEventSynchronize(end));
      float milliseconds = 0;
      REQUIRE_CUDA(cudaEventElapsedTime(&milliseconds, begin, end));
      times.push_back(milliseconds / float(launches) * 1e3f);
    }
    std::sort(times.begin(), times.end());
    std::printf("| %.2f ", times[times.size() / 2]);
  }
  std::printf("|\n");
}

template <int Warps, int Leaves, stand Where>
void registers_of(uint4 const* x, unsigned* answer) {
  measure("registers", Where, Warps, Leaves, 0, through_registers<Where, Warps, Leaves>, x, answer);
}
template <int Warps, int Leaves, int Stages, stand Where>
void rings_of(uint4 const* x, unsigned* answer) {
  char how[32];
  std::snprintf(how, sizeof how, "ring of %d", Stages);
  measure(how, Where, Warps, Leaves, Stages, through_rings<Where, Warps, Leaves, Stages>, x, answer);
}

int main() {
  uint4* x = nullptr;
  unsigned* answer = nullptr;
  REQUIRE_CUDA(cudaMalloc(&x, std::size_t(4) << 30));
  REQUIRE_CUDA(cudaMalloc(&answer, sizeof *answer));
  REQUIRE_CUDA(cudaMemset(x, 1, std::size_t(4) << 30));
  std::printf("| through | warps of a block | leaves of a warp | stand | 2^24 | 2^25 | 2^28 | 2^30 |\n|---|---|---|---|---|---|---|---|\n");
  using enum stand;
  registers_of<16, 1, on_a_piece>(x, answer);
  registers_of<16, 2, on_a_piece>(x, answer);
  registers_of<16, 4, on_a_piece>(x, answer);
  registers_of<16, 8, on_a_piece>(x, answer);
  registers_of<16, 16, on_a_piece>(x, answer);
  registers_of<16, 16, side_by_side>(x, answer);
  rings_of<16, 8, 2, on_a_piece>(x, answer);
  rings_of<16, 16, 2, on_a_piece>(x, answer);
  rings_of<16, 16, 2, side_by_side>(x, answer);
  rings_of<8, 16, 2, on_a_piece>(x, answer);
  rings_of<8, 32, 4, on_a_piece>(x, answer);
  rings_of<8, 32, 4, side_by_side>(x, answer);
  rings_of<4, 64, 4, side_by_side>(x, answer);
}
