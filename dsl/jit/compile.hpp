// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a unit to machine code: memory, then disk, then NVRTC, each unit compiled once however many threads ask.
// Compiled side, jit.
#pragma once

#include "jit/disk_cache.hpp"
#include "jit/target.hpp"

#include <tally/run/device.hpp>

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace tally::v0::jit {

/// Options for NVRTC: the same rounding as the host side (no contraction, IEEE division and root, subnormals kept).
std::vector<std::string> options_for(gpu::unit const&, target const&);
/// Everything that decides the result, as text: versions, headers, architecture, options, unit.
std::string key_of(gpu::unit const&, target const&);

/// One memory cache in front of one disk cache; the process has one, tests make their own.
class compiler {
public:
  explicit compiler(disk_cache disk) : disk_(std::move(disk)) {}
  /// Throws no_nvrtc, no_headers, compile_failed; a unit that failed is tried again when asked again.
  gpu::compiled operator()(gpu::unit const&, int compute_major, int compute_minor);

private:
  struct entry {
    std::mutex busy;
    bool done = false;
    gpu::compiled result;
  };
  std::shared_ptr<entry> entry_of(std::string const& key);

  disk_cache disk_;
  std::mutex map_;
  std::unordered_map<std::string, std::shared_ptr<entry>> entries_;
};

} // namespace tally::v0::jit
