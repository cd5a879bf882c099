// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The answers of rows are seen beside rows, also where elements go by keys.
// refused: has the axes of the source
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) {
  auto mu = from(shaped(x, 3, 4)) | over<1>(mean);
  return run(from(x) | histogram(_1 - let(mu), 0, 1, 10));
}
