// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is run together are whole reductions.
// refused: takes whole reductions
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) {
  auto [a, b] = run(batch(from(x) | sum, from(x)));
  return a;
}
