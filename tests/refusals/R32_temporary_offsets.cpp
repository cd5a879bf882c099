// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Offsets outlive the call.
// refused: memory that outlives the call
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return run(from(x) | by_segment(std::vector<int>{0, 3, 7}, sum)); }
