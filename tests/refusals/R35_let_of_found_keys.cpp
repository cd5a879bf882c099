// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the answers of keys that are not known are, an element could only search for.
// refused: ends with one fold
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x, std::vector<int> const& shop) {
  return let(from(x, shop) | group_by(_2, mean(_1)));
}
