// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// along<1> of a vector that is gone before it is read.
// refused: a column is a sized random-access range
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return run(from(shaped(x, 2, 2), along<1>(std::vector<float>{1, 2})) | sum(_1 * _2)); }
