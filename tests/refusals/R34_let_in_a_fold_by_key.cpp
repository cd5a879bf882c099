// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds by key look at no earlier answers.
// refused: before folds, over and collect
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x, std::vector<int> const& key) {
  auto mu = from(x) | mean;
  return run(from(x, key) | by_key(_2, 10, sum(_1 - let(mu))));
}
