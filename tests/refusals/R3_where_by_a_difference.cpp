// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The mask of a fold gives a number.
// refused: p must give bool for an element
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x, std::vector<float> const& y) {
  return run(from(x, y) | reduce(sum.where(_1 - _2)));
}
