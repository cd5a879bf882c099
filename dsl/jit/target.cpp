// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The architecture's name. Compiled side, jit.
#include "jit/target.hpp"

#include <tally/base/error.hpp>

#include <algorithm>

namespace tally::v0::jit {

target target_for(int major, int minor, std::vector<int> const& supported) {
  int const wanted = major * 10 + minor;
  if (std::find(supported.begin(), supported.end(), wanted) != supported.end())
    return {"sm_" + std::to_string(wanted) + (wanted >= 90 ? "a" : ""), true}; // the a-features start with sm_90
  int newest_below = 0;
  for (int const known : supported)
    if (known < wanted) newest_below = std::max(newest_below, known);
  if (newest_below == 0)
    throw compile_failed("compute capability " + std::to_string(major) + "." + std::to_string(minor) +
                         " is older than everything this NVRTC compiles for (" +
                         (supported.empty() ? std::string("nothing") : "sm_" + std::to_string(supported.front())) +
                         " and newer).");
  return {"compute_" + std::to_string(newest_below), false};
}

} // namespace tally::v0::jit
