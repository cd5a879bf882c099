// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function of one element is given two.
// refused: an operation is not defined for its elements
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

TALLY_FUNCTION(doubled, (float a), { return 2 * a; });

auto mistake(std::vector<float> const& x, std::vector<float> const& y) {
  return run(from(x, y) | map(doubled(_1, _2)) | sum);
}
