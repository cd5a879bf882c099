// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The workspaces of one device, one per stream. Compiled side, gpu.
#pragma once

#include "gpu/device.hpp"

namespace tally::v0::gpu {

struct workspaces {
  struct place {
    driver::stream stream;
    workspace_kind kind;
    unsigned long long id; ///< tells a stream from a later one at the same address
    driver::address memory;
    std::size_t bytes;
  };
  std::mutex busy;
  std::mutex queueing; ///< held by who queues several launches that find the same memory of a stream
  std::vector<place> places;
};

/// Until the end of a scope no other thread queues launches between those of this one, which find the same memory of a stream.
inline std::unique_lock<std::mutex> queueing_alone(int ordinal) { return std::unique_lock(device_of(ordinal).spaces->queueing); }

} // namespace tally::v0::gpu
