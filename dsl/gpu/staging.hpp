// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The page-locked lanes through which pageable memory travels to one device. Compiled side, gpu.
#pragma once

#include "gpu/device.hpp"

namespace tally::v0::gpu {

/// Two chunks of page-locked memory: one is filled by a host thread while the other is on its way.
struct staging_lane {
  static constexpr std::size_t chunk_bytes = std::size_t{4} << 20;
  char* chunk[2] = {};
  driver::event sent[2] = {}; ///< the chunk may be filled again
};

/// Lanes at rest.
struct staging_lanes {
  std::mutex busy;
  std::vector<std::unique_ptr<staging_lane>> idle;
};

} // namespace tally::v0::gpu
