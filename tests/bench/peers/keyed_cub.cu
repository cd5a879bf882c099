// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CUB's histogram of u32 and of f32, for tests/bench/keyed.py. A C interface. Test layer.
#include <cub/device/device_histogram.cuh>

/// Counts of u32 in [0, bins) (what 0), or of f32 in even bins over [0, 1) (what 1), into u32. `room` is the workspace; with null it
/// only tells its size. Returns a cudaError_t.
extern "C" __attribute__((visibility("default"))) int cub_counts(int what, void const* x, long long n, int bins, void* out, void* room,
                                                                 unsigned long long* room_bytes, void* stream) {
  size_t bytes = *room_bytes;
  auto* const counts = static_cast<unsigned*>(out);
  auto const s = static_cast<cudaStream_t>(stream);
  cudaError_t e;
  if (what == 0)
    e = cub::DeviceHistogram::HistogramEven(room, bytes, static_cast<unsigned const*>(x), counts, bins + 1, 0u, unsigned(bins),
                                            static_cast<long long>(n), s);
  else
    e = cub::DeviceHistogram::HistogramEven(room, bytes, static_cast<float const*>(x), counts, bins + 1, 0.f, 1.f,
                                            static_cast<long long>(n), s);
  *room_bytes = bytes;
  return int(e);
}
