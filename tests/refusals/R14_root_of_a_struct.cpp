// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A struct has no root.
// refused: an operation is not defined for its elements
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

struct point {
  float x, y;
};

auto mistake(std::vector<point> const& x) { return run(from(x) | map(sqrt(_1)) | sum); }
