// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The elements of one key meet in no order there, and logsumexp rounds differently in each.
// refused: has no exact form
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x, std::vector<int> const& k) {
  return run(from(x, k) | by_key(_2, 4, logsumexp(_1)), on::gpu);
}
