// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel of your own: a histogram of 64 bins in one cluster and one launch. Each block counts in its shared memory and
// sends its bins to the first block, word by word, without waiting; a barrier there hears of every word.
//   nvcc -std=c++20 -arch=sm_90 -I include examples/kernels/cluster_red_async.cu && ./a.out
#include <tally/primitive/cluster_push.cuh>
#include <tally/primitive/red.cuh>

#include <cstdio>
#include <vector>

using namespace tally;
using namespace tally::primitive;

constexpr int bins = 64, blocks = 8;

__global__ void __cluster_dims__(blocks, 1, 1) histogram(unsigned* answers, unsigned char const* x, int n) {
  __shared__ unsigned own[bins];
  __shared__ push_room<unsigned, bins> room;
  cluster_words<operation::add, unsigned, bins> push(room, 0u);
  for (int i = int(threadIdx.x); i < bins; i += int(blockDim.x)) own[i] = 0;
  __syncthreads();
  for (int i = int(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += int(gridDim.x * blockDim.x))
    red<operation::add, semantics::relaxed, scope::cta>(in_shared(own + x[i] % bins), 1u);
  __syncthreads();
  push.turn([&](int i) { return own[i]; },
            [&](unsigned const* sum) {
              for (int i = int(threadIdx.x); i < bins; i += int(blockDim.x)) answers[i] = own[i] + sum[i];
            });
  push.finish();
}

int main() {
  int const n = 1 << 16;
  std::vector<unsigned char> host(n);
  for (int i = 0; i < n; ++i) host[i] = static_cast<unsigned char>(i * 7);
  std::vector<unsigned> back(bins);
  unsigned char* x;
  unsigned* answers;
  cudaMalloc(&x, n);
  cudaMalloc(&answers, bins * sizeof(unsigned));
  cudaMemcpy(x, host.data(), n, cudaMemcpyHostToDevice);
  histogram<<<blocks, 256>>>(answers, x, n);
  cudaMemcpy(back.data(), answers, bins * sizeof(unsigned), cudaMemcpyDeviceToHost);
  bool right = true;
  for (unsigned const answer : back) right = right && answer == unsigned(n / bins);
  std::printf("%s: %u, expected %u\n", cudaGetErrorString(cudaGetLastError()), back[0], unsigned(n / bins));
  return right ? 0 : 1;
}
