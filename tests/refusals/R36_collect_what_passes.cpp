// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An array has a place for every element.
// refused: no filter stands before it
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) {
  return run(from(x) | filter(_1 > 0.f) | collect);
}
