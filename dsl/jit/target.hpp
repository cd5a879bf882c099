// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which architecture NVRTC is told for a compute capability: the chip itself with its own features (sm_90a), or, for a
// chip newer than this NVRTC, PTX of the newest it knows, which the driver finishes. Compiled side, jit.
#pragma once

#include <string>
#include <vector>

namespace tally::v0::jit {

/// What `-arch=` says, and whether a cubin comes out of it.
struct target {
  std::string architecture; ///< "sm_90a" or "compute_121"
  bool makes_cubin;
};

/// Throws compile_failed for a chip older than everything in `supported` (compute capabilities times ten, ascending).
target target_for(int major, int minor, std::vector<int> const& supported);

} // namespace tally::v0::jit
