// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is done with the answers of a refused call is no second error.
// refused: names axes of its source
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

float mistake(std::vector<float> const& x) {
  auto const rows = run(from(x) | over<1>(sum));
  float all = rows[0] + rows(1);
  for (float const one : rows) all += one;
  return all;
}
