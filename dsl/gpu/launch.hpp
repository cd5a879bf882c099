// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loaded function, and the kernels of one device. Compiled side, gpu.
#pragma once

#include "gpu/device.hpp"

#include <unordered_map>

namespace tally::v0::gpu {

struct kernel {
  device_state* device = nullptr;
  driver::function function = nullptr;
  compiled unit;
  int registers = 0, max_threads = 0, shared_bytes = 0;
};

/// Kernels by the text of their unit; each place is filled once, and by one thread.
struct loaded_kernels {
  struct place {
    std::mutex busy;
    std::unique_ptr<kernel> loaded;
  };
  std::mutex busy;
  std::unordered_map<std::string, std::unique_ptr<place>> places;
};

} // namespace tally::v0::gpu
