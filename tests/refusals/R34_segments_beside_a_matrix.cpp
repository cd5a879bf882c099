// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Segments are pieces of one axis.
// refused: that has the axes of the source of r
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x, std::vector<int> const& offsets) {
  return run(from(shaped(x, 3, 4)) | map(_1 - let(from(x) | by_segment(offsets, mean))) | sum);
}
