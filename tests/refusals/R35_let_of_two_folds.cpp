// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A let is one element.
// refused: ends with one fold
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) {
  auto both = from(shaped(x, 3, 4)) | over<1>(mean, max);
  return let(both);
}
