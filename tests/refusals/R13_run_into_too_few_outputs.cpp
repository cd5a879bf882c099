// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two answers, one output.
// refused: takes one output an answer
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) {
  float total = 0;
  run_into(from(x) | reduce(sum, max), total);
  return total;
}
