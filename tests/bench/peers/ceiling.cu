// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The read ceiling as a contestant: a kernel that only reads every byte of a workload's columns and adds their 32-bit words,
// so no reduction can be faster for want of less work. Two tile sizes; run.py takes the faster one. Also the empty kernel,
// the floor of any launch. Test layer.
#include "device_run.hpp"

#include <cstring>

namespace bench {
namespace {

struct column_set { uint4 const* column[3]; };

template <int Threads, int Vectors>
__global__ void __launch_bounds__(Threads)
    read_all(__grid_constant__ column_set const set, std::int64_t vectors, unsigned tiles, unsigned* answer) {
  uint4 const* const column = set.column[blockIdx.x / tiles];
  std::int64_t const first = std::int64_t{blockIdx.x % tiles} * Threads * Vectors + threadIdx.x;
  uint4 held[Vectors];
  if (first - threadIdx.x + Threads * Vectors <= vectors) {
#pragma unroll
    for (int v = 0; v < Vectors; ++v) held[v] = __ldcs(column + first + v * Threads);
  } else {
#pragma unroll
    for (int v = 0; v < Vectors; ++v) {
      std::int64_t const at = first + v * Threads;
      held[v] = at < vectors ? __ldcs(column + at) : uint4{0, 0, 0, 0};
    }
  }
  unsigned words = 0;
#pragma unroll
  for (int v = 0; v < Vectors; ++v) words += held[v].x + held[v].y + held[v].z + held[v].w;
  for (int o = 16; o; o >>= 1) words += __shfl_xor_sync(~0u, words, o);
  __shared__ unsigned warps[Threads / 32];
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = words;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int w = 1; w < Threads / 32; ++w) words += warps[w];
  atomicAdd(answer, words);
}

template <int Threads, int Vectors, int Columns, int Bytes> struct reading : device_run {
  std::int64_t vectors = 0;
  unsigned tiles = 0;

  bool prepare(std::int64_t n, addresses) override {
    vectors = n * Bytes / 16;
    tiles = static_cast<unsigned>((vectors + Threads * Vectors - 1) / (Threads * Vectors));
    return own(256);
  }
  cudaError_t enqueue(addresses x, cudaStream_t stream) override {
    column_set set{};
    for (int c = 0; c < Columns; ++c) set.column[c] = static_cast<uint4 const*>(x[c]);
    read_all<Threads, Vectors><<<tiles * Columns, Threads, 0, stream>>>(set, vectors, tiles, static_cast<unsigned*>(answer));
    return cudaSuccess;
  }
  // The words are added to what contest_poison left there.
  void lower(const unsigned char* bytes, double* r) const override {
    unsigned words;
    std::memcpy(&words, bytes, sizeof words);
    r[0] = static_cast<double>(words - 0xA5A5A5A5u);
  }
};

__global__ void nothing(float* answer) {
  if (threadIdx.x == 0) *answer = 1.f;
}
struct launching : device_run {
  bool prepare(std::int64_t, addresses) override { return own(256); }
  cudaError_t enqueue(addresses, cudaStream_t stream) override {
    nothing<<<1, 32, 0, stream>>>(static_cast<float*>(answer));
    return cudaSuccess;
  }
  void lower(const unsigned char* bytes, double* r) const override {
    float value;
    std::memcpy(&value, bytes, sizeof value);
    r[0] = value;
  }
};

template <int Columns, int Bytes> void rows(std::vector<maker>& all, const char* workload, const char* type) {
  constexpr std::int64_t any = std::int64_t{1} << 40;
  all.push_back({{workload, type, "read 512x8", "ceiling", Columns, 1, 16, 16 / Bytes, any},
                 &make_run<reading<512, 8, Columns, Bytes>>});
  all.push_back({{workload, type, "read 256x4", "ceiling", Columns, 1, 16, 16 / Bytes, any},
                 &make_run<reading<256, 4, Columns, Bytes>>});
}

std::vector<maker> make_table() {
  std::vector<maker> all;
  rows<1, 4>(all, "sum", "f32");
  rows<1, 4>(all, "sum", "i32");
  rows<1, 8>(all, "sum", "f64");
  rows<1, 8>(all, "sum", "c64");
  rows<1, 2>(all, "sum", "bf16");
  rows<1, 1>(all, "sum", "i8");
  for (auto one : {"norm", "sumexp", "five", "seven", "argmax", "logsumexp", "variance"}) rows<1, 4>(all, one, "f32");
  for (auto two : {"dot", "sad"}) rows<2, 4>(all, two, "f32");
  rows<3, 4>(all, "wmse", "f32");
  all.push_back({{"empty", "f32", "empty kernel", "ceiling", 1, 1, 1, 1, std::int64_t{1} << 40}, &make_run<launching>});
  return all;
}

}  // namespace

std::vector<maker> const& makers() {
  static std::vector<maker> const table = make_table();
  return table;
}
const char* name() { return "ceiling"; }
const char* version() { return "1"; }

}  // namespace bench
