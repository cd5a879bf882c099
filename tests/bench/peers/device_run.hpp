// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the contestants that speak the CUDA runtime share: a prepared run, the device memory it owns, and the C functions of
// contestant.h written once over a table of makers. Each peer includes it and fills the table. Test layer.
#pragma once

#include "../contestant.h"

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace bench {

inline std::string& error_text() {
  static std::string text;
  return text;
}

inline bool failed(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return false;
  error_text() = std::string(what) + ": " + cudaGetErrorString(code);
  cudaGetLastError();
  return true;
}

using addresses = const void* const*;

/// Everything one prepared run owns on the device: an answer of up to 256 bytes and scratch.
struct device_run {
  void* answer = nullptr;
  void* scratch = nullptr;
  std::size_t scratch_bytes = 0;

  device_run() = default;
  device_run(device_run const&) = delete;
  device_run& operator=(device_run const&) = delete;
  virtual ~device_run() {
    cudaFree(answer);
    cudaFree(scratch);
  }

  bool own(std::size_t bytes) {
    scratch_bytes = bytes;
    return !failed(cudaMalloc(&answer, 256), "allocating the answer") &&
           !failed(cudaMalloc(&scratch, bytes + 256), "allocating scratch") &&
           !failed(cudaMemset(scratch, 0, bytes + 256), "clearing scratch");
  }

  virtual bool prepare(std::int64_t n, addresses columns) = 0;
  virtual cudaError_t enqueue(addresses columns, cudaStream_t stream) = 0;
  virtual void lower(const unsigned char* answer_bytes, double* results) const = 0;
};

/// One row of a contestant's table: the entry it lists and how to make its run.
struct maker {
  contest_entry entry;
  std::unique_ptr<device_run> (*make)();
};

template <class Run> std::unique_ptr<device_run> make_run() { return std::make_unique<Run>(); }

/// Filled by the contestant that includes this file.
std::vector<maker> const& makers();
const char* name();
const char* version();

}  // namespace bench

// One contestant is one shared object of one source file, so the C functions are defined here.

extern "C" const contest_card* contest_describe() {
  static std::vector<contest_entry> const entries = [] {
    std::vector<contest_entry> all;
    for (auto const& row : bench::makers()) all.push_back(row.entry);
    return all;
  }();
  static contest_card const card{CONTEST_ABI, static_cast<std::int32_t>(entries.size()), bench::name(), bench::version(),
                                 entries.data()};
  return &card;
}

extern "C" void* contest_prepare(std::int32_t entry, std::int64_t n, bench::addresses columns, void*) {
  auto run = bench::makers()[static_cast<std::size_t>(entry)].make();
  return run->prepare(n, columns) ? run.release() : nullptr;
}

extern "C" std::int32_t contest_burst(void* handle, bench::addresses columns, const std::int64_t* strides,
                                      std::int64_t sets, std::int64_t first, std::int64_t count, void* stream) {
  auto& run = *static_cast<bench::device_run*>(handle);
  auto const* bases = reinterpret_cast<const unsigned char* const*>(columns);
  for (std::int64_t k = 0; k < count; ++k) {
    std::int64_t const set = (first + k) % sets;
    const void* at[3] = {bases[0] + strides[0] * set, bases[1] ? bases[1] + strides[1] * set : nullptr,
                         bases[2] ? bases[2] + strides[2] * set : nullptr};
    if (bench::failed(run.enqueue(at, static_cast<cudaStream_t>(stream)), "enqueue")) return 1;
  }
  return bench::failed(cudaGetLastError(), "launch") ? 1 : 0;
}

extern "C" std::int32_t contest_results(void* handle, double* results) {
  auto& run = *static_cast<bench::device_run*>(handle);
  unsigned char bytes[256];
  if (bench::failed(cudaMemcpy(bytes, run.answer, sizeof bytes, cudaMemcpyDeviceToHost), "reading back")) return 1;
  run.lower(bytes, results);
  return 0;
}

extern "C" std::int32_t contest_poison(void* handle, void* stream) {
  auto& run = *static_cast<bench::device_run*>(handle);
  return bench::failed(cudaMemsetAsync(run.answer, 0xA5, 256, static_cast<cudaStream_t>(stream)), "poison") ? 1 : 0;
}

extern "C" void contest_release(void* handle) { delete static_cast<bench::device_run*>(handle); }
extern "C" const char* contest_error() { return bench::error_text().c_str(); }
