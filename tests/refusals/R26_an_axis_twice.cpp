// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Axes are counted from 0, and each is named once.
// refused: names axes of its source
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return run(from(shaped(x, 3, 4)) | over<1, 1>(sum)); }
