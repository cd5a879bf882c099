// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Offsets are integers.
// refused: integers of 32 or 64 bits
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x, std::vector<float> const& offsets) {
  auto [a, b] = run(from(x) | reduce(sum, by_segment(offsets, sum)));
  return a;
}
