// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every bin has an answer.
// refused: an array of answers holds a value for every group
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x, std::vector<int> const& k) { return run(from(x, k) | by_key(_2, 4, max(_1).maybe())); }
