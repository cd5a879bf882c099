// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of NVRTC's C interface that tally calls, in our own words: no CUDA header is needed to build the library.
// tests/jit/abi.cpp compares it with nvrtc.h where there is one. Compiled side, jit.
#pragma once

#include "jit/library.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace tally::v0::jit {

using nvrtc_program = void*; ///< nvrtcProgram

/// Functions of libnvrtc; every one is there once the library was accepted.
struct nvrtc_api {
  char const* (*error_string)(int);
  int (*version)(int* major, int* minor);
  int (*supported_count)(int* count);
  int (*supported_architectures)(int* list);
  int (*create)(nvrtc_program*, char const* source, char const* name, int headers, char const* const* header_texts,
                char const* const* header_names);
  int (*destroy)(nvrtc_program*);
  int (*compile)(nvrtc_program, int count, char const* const* options);
  int (*add_name_expression)(nvrtc_program, char const*);
  int (*lowered_name)(nvrtc_program, char const* expression, char const** lowered);
  int (*ptx_size)(nvrtc_program, std::size_t*);
  int (*ptx)(nvrtc_program, char*);
  int (*cubin_size)(nvrtc_program, std::size_t*);
  int (*cubin)(nvrtc_program, char*);
  int (*log_size)(nvrtc_program, std::size_t*);
  int (*log)(nvrtc_program, char*);
};

/// An opened NVRTC and what it says of itself.
struct nvrtc_library {
  nvrtc_api call{};
  std::string path;
  std::string build; ///< "13.0 109338064": version and file size; part of the cache key
  int major = 0, minor = 0;
  std::vector<int> architectures; ///< 75, 80, ..., 121
};

/// The process's NVRTC, opened on first use; throws no_nvrtc with every place that was tried.
nvrtc_library const& nvrtc();
/// Tells the search which CUDA version the driver speaks; only a call before the first nvrtc() matters.
void prefer_nvrtc_major(int major) noexcept;

} // namespace tally::v0::jit
