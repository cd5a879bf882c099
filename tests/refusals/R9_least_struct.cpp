// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Structs have no order.
// refused: this fold is not defined for the type of its element
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

struct point {
  float x, y;
};

auto mistake(std::vector<point> const& x) { return run(from(x) | reduce(min)); }
