// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bins are numbered: which of them is 0.5?
// refused: an integer expression
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return run(from(x) | by_key(_1, 4, sum)); }
