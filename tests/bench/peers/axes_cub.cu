// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CUB's sum of segments of one size, told the size, for axes.py. Scratch is allocated once, outside the timing. Test layer.
#include <cub/device/device_segmented_reduce.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

namespace {
struct start_of {
  long long size;
  __host__ __device__ long long operator()(long long s) const { return s * size; }
};
void* scratch = nullptr;
size_t scratch_bytes = 0;

template <class Call>
int run(Call const& call) {
  size_t needed = 0;
  if (auto const e = call(nullptr, needed)) return int(e);
  if (needed > scratch_bytes) {
    cudaFree(scratch);
    if (auto const e = cudaMalloc(&scratch, needed)) return int(e);
    scratch_bytes = needed;
  }
  return int(call(scratch, needed));
}
} // namespace

/// Sums of `rows` rows of `size` floats; how 0: fixed-size segments, 1: segments by offsets.
extern "C" __attribute__((visibility("default"))) int cub_rows(int how, float const* data, long long rows, long long size, float* out,
                                                               cudaStream_t stream) {
  auto const starts = thrust::make_transform_iterator(thrust::counting_iterator<long long>(0), start_of{size});
  if (how == 0)
    return run([&](void* room, size_t& bytes) {
      return cub::DeviceSegmentedReduce::Sum(room, bytes, data, out, rows, int(size), stream);
    });
  return run([&](void* room, size_t& bytes) {
    return cub::DeviceSegmentedReduce::Sum(room, bytes, data, out, rows, starts, starts + 1, stream);
  });
}
