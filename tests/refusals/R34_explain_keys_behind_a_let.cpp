// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What run does not fold, explain does not explain.
// refused: before folds, over and collect
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x, std::vector<int> const& key) {
  auto mu = from(x) | mean;
  return explain(from(x, key) | map(_1 - let(mu), _2) | by_key(_2, 10, sum(_1)), targets::h200);
}
