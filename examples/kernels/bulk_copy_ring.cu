// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel of your own: tiles of a column come through a ring in shared memory, a few ahead of the threads that read them.
// The ring expects the bytes, waits, and makes room; you say which bytes and what to do with them.
//   nvcc -std=c++20 -arch=sm_90 -I include examples/kernels/bulk_copy_ring.cu && ./a.out
#include <tally/primitive/load_ring.cuh>
#include <tally/primitive/red.cuh>

#include <cstdio>
#include <vector>

using namespace tally;
using namespace tally::primitive;

constexpr int tile_elements = 2048, stages = 4;

__global__ void sum(double* answer, float const* x, i64 tiles) {
  __shared__ stage<float, tile_elements> room[stages];
  __shared__ ring_barriers<stages> barriers;
  load_ring<stages> ring(barriers, reinterpret_cast<unsigned char*>(room), room[0].bytes());
  i64 const mine = tiles / gridDim.x + (blockIdx.x < tiles % gridDim.x ? 1 : 0);
  double total = 0;
  ring.run(
      mine, [&](i64) { return room[0].bytes(); },
      [&](i64 k, unsigned char* at, expected& told) {
        i64 const tile = blockIdx.x + k * gridDim.x;
        copy(in_shared(reinterpret_cast<float*>(at)), in_global(x + tile * tile_elements), room[0].bytes(), told,
             cache_policy::evict_first());
      },
      [&](i64, unsigned char const* at) {
        for (int i = int(threadIdx.x) - 32; i < tile_elements; i += int(blockDim.x) - 32)
          total += reinterpret_cast<float const*>(at)[i];
      });
  if (threadIdx.x >= 32) red<operation::add>(in_global(answer), total);
}

int main() {
  i64 const tiles = 1000;
  std::vector<float> const host(std::size_t(tiles) * tile_elements, 0.5f);
  float* x;
  double *answer, back;
  cudaMalloc(&x, host.size() * sizeof(float));
  cudaMalloc(&answer, sizeof(double));
  cudaMemcpy(x, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(answer, 0, sizeof(double));
  sum<<<132, 288>>>(answer, x, tiles);
  cudaMemcpy(&back, answer, sizeof back, cudaMemcpyDeviceToHost);
  std::printf("%s: %.1f, expected %.1f\n", cudaGetErrorString(cudaGetLastError()), back, double(host.size()) / 2);
  return back == double(host.size()) / 2 ? 0 : 1;
}
