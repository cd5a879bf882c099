// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel of your own: rows times one vector of weights. The blocks of a cluster share the weights, so each tile of them
// leaves L2 once and comes to all blocks.
//   nvcc -std=c++20 -arch=sm_90a -I include examples/kernels/cluster_multicast.cu && ./a.out
#include <tally/primitive/multicast_ring.cuh>
#include <tally/primitive/red.cuh>

#include <cstdio>
#include <vector>

using namespace tally;
using namespace tally::primitive;

constexpr int tile_elements = 1024, stages = 2, blocks = 4;

/// One row a block; answers[row] += the row times the weights.
__global__ void __cluster_dims__(blocks, 1, 1)
    weighted_rows(float* answers, float const* rows, float const* weights, i64 tiles) {
  __shared__ stage<float, tile_elements> room[stages];
  __shared__ ring_barriers<stages> barriers;
  multicast_ring<stages> ring(barriers, reinterpret_cast<unsigned char*>(room), room[0].bytes());
  float const* const row = rows + i64(blockIdx.x) * tiles * tile_elements;
  float total = 0;
  ring.run(
      tiles, [&](i64) { return room[0].bytes(); },
      [&](i64 k, unsigned char* at, u16 everybody, barrier& announced) {
        copy_to_blocks(everybody, in_shared(reinterpret_cast<float*>(at)), in_global(weights + k * tile_elements),
                       room[0].bytes(), announced);
      },
      [&](i64 k, unsigned char const* at) {
        for (int i = int(threadIdx.x) - 32; i < tile_elements; i += int(blockDim.x) - 32)
          total += row[k * tile_elements + i] * reinterpret_cast<float const*>(at)[i];
      });
  if (threadIdx.x >= 32) red<operation::add>(in_global(answers + blockIdx.x), total);
}

int main() {
  i64 const tiles = 16;
  int const rows = 64;
  std::size_t const columns = std::size_t(tiles) * tile_elements;
  std::vector<float> const host(columns * rows, 0.25f), ones(columns, 2.f);
  std::vector<float> back(rows);
  float *x, *weights, *answers;
  cudaMalloc(&x, host.size() * sizeof(float));
  cudaMalloc(&weights, columns * sizeof(float));
  cudaMalloc(&answers, rows * sizeof(float));
  cudaMemcpy(x, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(weights, ones.data(), columns * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(answers, 0, rows * sizeof(float));
  weighted_rows<<<rows, 160>>>(answers, x, weights, tiles);
  cudaMemcpy(back.data(), answers, rows * sizeof(float), cudaMemcpyDeviceToHost);
  bool right = true;
  for (float const answer : back) right = right && answer == float(columns) / 2;
  std::printf("%s: %.1f, expected %.1f\n", cudaGetErrorString(cudaGetLastError()), back[0], double(columns) / 2);
  return right ? 0 : 1;
}
