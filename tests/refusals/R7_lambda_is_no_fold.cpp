// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A host lambda is not a fold: nothing says what it starts from.
// refused: takes folds, one at least
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) {
  auto const [total, greatest] = run(from(x) | reduce(sum, [](float a, float b) { return a > b ? a : b; }));
  return total + greatest;
}
