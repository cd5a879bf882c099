// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CUB's segmented sums of f32, and the stream and the clock that tests/bench/segments.cpp measures all contestants with. Test layer.
#include <cub/cub.cuh>

#include <cuda_runtime.h>

#include <cstdint>

#define PEER_API extern "C" __attribute__((visibility("default")))

PEER_API int peer_version() { return CUB_VERSION; }
PEER_API void* peer_stream() {
  cudaStream_t s = nullptr;
  cudaSetDevice(0);
  return cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking) == cudaSuccess ? s : nullptr;
}
PEER_API void* peer_mark() {
  cudaEvent_t e = nullptr;
  cudaEventCreate(&e);
  return e;
}
PEER_API void peer_record(void* mark, void* stream) { cudaEventRecord(static_cast<cudaEvent_t>(mark), static_cast<cudaStream_t>(stream)); }
PEER_API float peer_microseconds(void* from, void* to) {
  float ms = 0;
  cudaEventSynchronize(static_cast<cudaEvent_t>(to));
  cudaEventElapsedTime(&ms, static_cast<cudaEvent_t>(from), static_cast<cudaEvent_t>(to));
  return ms * 1000;
}
__global__ void nothing() {}
PEER_API void peer_empty(void* stream) { nothing<<<1, 32, 0, static_cast<cudaStream_t>(stream)>>>(); }

/// The sum of every segment; nothing is said about their sizes.
PEER_API int peer_untold(float const* x, float* out, std::int64_t segments, std::int32_t const* offsets, void* stream) {
  static void* room = nullptr;
  std::size_t bytes = 0;
  auto const s = static_cast<cudaStream_t>(stream);
  cub::DeviceSegmentedReduce::Sum(nullptr, bytes, x, out, segments, offsets, offsets + 1, s);
  if (room == nullptr) cudaMalloc(&room, 1 << 20);
  return cub::DeviceSegmentedReduce::Sum(room, bytes, x, out, segments, offsets, offsets + 1, s);
}

/// The same, told the size of the largest; -1 where this CUB cannot be told.
PEER_API int peer_told(float const* x, float* out, std::int64_t segments, std::int32_t const* offsets, std::int64_t largest, void* stream) {
#if CUB_VERSION >= 300500
  static void* room = nullptr;
  std::size_t bytes = 1 << 20;
  if (room == nullptr) cudaMalloc(&room, bytes);
  return cub::detail::segmented_reduce::dispatch<float, std::int32_t>(room, bytes, x, out, segments, offsets, offsets + 1, cuda::std::plus<>{},
                                                                      0.f, std::size_t(largest), static_cast<cudaStream_t>(stream));
#else
  (void)x, (void)out, (void)segments, (void)offsets, (void)largest, (void)stream;
  return -1;
#endif
}
