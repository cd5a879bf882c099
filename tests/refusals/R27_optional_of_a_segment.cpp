// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An array of answers has a value for every segment.
// refused: holds a value for every group
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x, std::vector<int> const& offsets) { return run(from(x) | by_segment(offsets, max.maybe())); }
