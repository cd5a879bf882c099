// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel of your own: 256 sums of floats in one cluster, with the same bits every time. The blocks copy their tiles to
// slots of the first block, which adds them in the order of the blocks. (Integers need no order: cluster_sum.)
//   nvcc -std=c++20 -arch=sm_90 -I include examples/kernels/cluster_tiles.cu && ./a.out
#include <tally/primitive/cluster_push.cuh>

#include <cstdio>
#include <vector>

using namespace tally;
using namespace tally::primitive;

constexpr int columns = 256, blocks = 8;

__global__ void __cluster_dims__(blocks, 1, 1) column_sums(float* answers, float const* x, int rows) {
  __shared__ copy_room<float, columns, blocks> room;
  cluster_copy<float, columns, blocks> push(room);
  float total = 0;
  for (int r = int(blockIdx.x); r < rows; r += int(gridDim.x)) total += x[r * columns + int(threadIdx.x)];
  push.turn([&](float* tile) { tile[threadIdx.x] = total; },
            [&](stage<float, columns> const* slots) {
              for (int b = 1; b < blocks; ++b) total += slots[b].elements[threadIdx.x];
              answers[threadIdx.x] = total;
            });
  push.finish();
}

int main() {
  int const rows = 1000;
  std::vector<float> const host(std::size_t(rows) * columns, 0.5f);
  std::vector<float> back(columns);
  float *x, *answers;
  cudaMalloc(&x, host.size() * sizeof(float));
  cudaMalloc(&answers, columns * sizeof(float));
  cudaMemcpy(x, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
  column_sums<<<blocks, columns>>>(answers, x, rows);
  cudaMemcpy(back.data(), answers, columns * sizeof(float), cudaMemcpyDeviceToHost);
  bool right = true;
  for (float const answer : back) right = right && answer == rows * 0.5f;
  std::printf("%s: %.1f, expected %.1f\n", cudaGetErrorString(cudaGetLastError()), back[0], rows * 0.5);
  return right ? 0 : 1;
}
