// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// No fold at all.
// refused: takes folds, one at least
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return run(from(x) | reduce()); }
