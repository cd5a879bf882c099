// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where NVRTC and the headers that kernels include are looked for at run time, in which order. Compiled side, jit.
#pragma once

#include <string>
#include <vector>

namespace tally::v0::jit {

/// Names and paths for the loader: TALLY_NVRTC_LIBRARY alone when set, else the loader's own search, then toolkit
/// folders. `major` (0: unknown) is the CUDA version of the driver, whose NVRTC is asked first.
std::vector<std::string> nvrtc_candidates(int major);
/// NVRTC libraries in pip wheels; walks folders, so asked only when nothing else was found.
std::vector<std::string> nvrtc_wheel_candidates();

/// Folders for `-I`; empty where nothing was found.
struct include_paths {
  std::string cccl;                         ///< holds cuda/std
  std::string cuda;                         ///< holds cuda_fp16.h
  std::string cccl_identity, cuda_identity; ///< change when the headers change; part of the cache key
};

/// Looks in TALLY_INCLUDE_PATH (folders, colon between), where tally was built, beside NVRTC, CUDA_HOME, CUDA_PATH and
/// the usual places. CCCL prefers the copy the host side was compiled with; the CUDA headers prefer NVRTC's own.
include_paths find_include_paths(std::string const& nvrtc_path);

} // namespace tally::v0::jit
