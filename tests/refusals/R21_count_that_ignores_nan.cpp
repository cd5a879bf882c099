// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A count looks at no element, so that none of them can be NaN.
// refused: ignoring_nan() is one of folds of elements
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return run(from(x) | reduce(sum.ignoring_nan(), count.ignoring_nan())); }
