// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel of your own: rows are added to the rows of a table that their keys name. One line; the ladder behind it takes
// the widest instruction that the type has, whatever the number of columns and the alignment of the rows.
//   nvcc -std=c++20 -arch=sm_90 -I include examples/kernels/scatter_rows.cu && ./a.out
#include <tally/primitive/accumulate.cuh>

#include <cstdio>
#include <vector>

using namespace tally;
using namespace tally::primitive;

template <class T>
__global__ void scatter(rows_by_key<T, int> to, tile_of_rows<T> from) {
  accumulate<operation::add>(to, from);
}

/// The same through shared memory and the bulk engine.
template <class T>
__global__ void scatter_in_bulk(rows_by_key<T, int> to, tile_of_rows<T> from, int bytes_per_warp) {
  extern __shared__ __align__(128) unsigned char room[];
  accumulate_in_bulk<operation::add>(to, from, room, bytes_per_warp);
}

int main() {
  int const rows = 10000, columns = 33, keys = 10;
  std::vector<float> const host(std::size_t(rows) * columns, 1.f);
  std::vector<int> host_keys(rows);
  for (int r = 0; r < rows; ++r) host_keys[r] = r % keys;
  std::vector<float> back(std::size_t(keys) * columns);
  float *x, *table;
  int* keys_there;
  cudaMalloc(&x, host.size() * sizeof(float));
  cudaMalloc(&table, back.size() * sizeof(float));
  cudaMalloc(&keys_there, rows * sizeof(int));
  cudaMemcpy(x, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(keys_there, host_keys.data(), rows * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(table, 0, back.size() * sizeof(float));
  rows_by_key<float, int> const to{table, columns, keys_there};
  tile_of_rows<float> const from{x, rows, columns, columns};
  scatter<<<80, 256>>>(to, from);
  scatter_in_bulk<<<80, 128, 4 * 4096>>>(to, from, 4096);
  cudaMemcpy(back.data(), table, back.size() * sizeof(float), cudaMemcpyDeviceToHost);
  bool right = true;
  for (float const answer : back) right = right && answer == 2.f * rows / keys;
  std::printf("%s: %.1f, expected %.1f\n", cudaGetErrorString(cudaGetLastError()), back[0], 2.0 * rows / keys);
  return right ? 0 : 1;
}
