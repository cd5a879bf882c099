// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The refused line on the first screen of README.md: a product is no condition.
// refused: p must give bool for an element; write a comparison such as _1 > 0.
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto revenue(std::vector<float> const& price) {
  return run(from(price) | filter(_1 * 2.f) | sum);
}
