// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// map leaves one element, and the fold names two.
// refused: a placeholder names an element that is not there
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x, std::vector<float> const& y) {
  return run(from(x, y) | map(_1 * _2) | reduce(sum(_2)));
}
