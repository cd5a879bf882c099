// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Segments are cut from a source of one axis.
// refused: a source of one axis
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x, std::vector<int> const& offsets) { return run(from(shaped(x, 3, 4)) | by_segment(offsets, sum)); }
