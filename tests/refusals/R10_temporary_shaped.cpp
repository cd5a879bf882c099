// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// shaped of a vector that is gone before it is read.
// refused: a column is a sized random-access range
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake() { return run(from(shaped(std::vector<float>{1, 2, 3, 4}, 2, 2)) | over<0>(sum)); }
