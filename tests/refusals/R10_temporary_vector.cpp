// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The vector is gone before it is read.
// refused: a column is a sized random-access range
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return run(from(std::vector<float>{1, 2, 3}) | sum); }
