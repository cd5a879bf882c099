// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A histogram has at most three axes.
// refused: up to three
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) {
  auto const a = even_bins(_1, 0, 1, 8);
  return run(from(x) | histogram(a, a, a, a));
}
