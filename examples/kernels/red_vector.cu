// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel of your own: sums of columns. Each thread keeps four columns in registers and adds them to the answers by one
// vector `red`, with a policy that keeps the answers in L2.
//   nvcc -std=c++20 -arch=sm_90 -I include examples/kernels/red_vector.cu && ./a.out
#include <tally/primitive/red_vector.cuh>

#include <cstdio>
#include <vector>

using namespace tally;
using namespace tally::primitive;

__global__ void column_sums(lanes<float, 4>* answers, lanes<float, 4> const* x, i64 rows, int groups) {
  int const group = int(threadIdx.x);
  if (group >= groups) return;
  lanes<float, 4> total{};
  for (i64 r = blockIdx.x; r < rows; r += gridDim.x) {
    auto const row = x[r * groups + group];
    for (int i = 0; i < 4; ++i) total.at[i] += row.at[i];
  }
  red<operation::add>(in_global(answers + group), total, cache_policy::evict_last());
}

int main() {
  i64 const rows = 10000;
  int const columns = 256;
  std::vector<float> const host(std::size_t(rows) * columns, 0.5f);
  std::vector<float> back(columns);
  float *x, *answers;
  cudaMalloc(&x, host.size() * sizeof(float));
  cudaMalloc(&answers, columns * sizeof(float));
  cudaMemcpy(x, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(answers, 0, columns * sizeof(float));
  column_sums<<<264, columns / 4>>>(reinterpret_cast<lanes<float, 4>*>(answers), reinterpret_cast<lanes<float, 4>*>(x),
                                    rows, columns / 4);
  cudaMemcpy(back.data(), answers, columns * sizeof(float), cudaMemcpyDeviceToHost);
  bool right = true;
  for (float const answer : back) right = right && answer == rows * 0.5f;
  std::printf("%s: %.1f, expected %.1f\n", cudaGetErrorString(cudaGetLastError()), back[0], rows * 0.5);
  return right ? 0 : 1;
}
