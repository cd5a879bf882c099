// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The smallest program of a user's own project.
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

int main() {
  std::vector<float> const x(1000, 0.5f);
  return run(from(x) | reduce(sum(_1))) == 500.0f ? 0 : 1;
}
