// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bins stand behind the key.
// refused: how many keys there are
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x, std::vector<int> const& k) { return run(from(x, k) | by_key(_2, sum(_1))); }
