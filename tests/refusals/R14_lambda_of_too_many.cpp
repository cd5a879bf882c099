// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A host lambda takes two elements, and there is one.
// refused: an operation is not defined for its elements
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) {
  return run(from(x) | filter([](float a, float b) { return a > b; }) | sum);
}
