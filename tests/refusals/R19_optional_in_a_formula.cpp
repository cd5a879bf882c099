// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The answer of maybe is an optional.
// refused: arithmetic on folds is arithmetic on their answers
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return run(from(x) | reduce(max.maybe() - min.maybe())); }
