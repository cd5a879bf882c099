// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The column stands in the fold.
// refused: a range stands where an element is expected
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x, std::vector<float> const& y) { return run(from(x) | reduce(sum(y))); }
