// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The mean is not known while elements are read.
// refused: an expression mixes elements (_1) with folds (sum)
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return run(from(x) | reduce(sum((_1 - mean) * (_1 - mean)))); }
