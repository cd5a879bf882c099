// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An index along an axis needs that axis.
// refused: names axes of its source
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return run(from(shaped(x, 3, 4)) | filter(index_along<2> > 1) | sum); }
