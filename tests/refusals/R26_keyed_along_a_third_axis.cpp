// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The axes that are keyed away are axes of the source.
// refused: names axes of its source
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x, std::vector<int> const& k) {
  return run(from(shaped(x, 3, 4), along<0>(k)) | by_key<2>(_2, 4, sum(_1)));
}
