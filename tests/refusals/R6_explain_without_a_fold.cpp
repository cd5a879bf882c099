// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pipeline that folds nothing is explained.
// refused: what is run must be a pipeline that folds
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return explain(from(x) | map(_1 * 2.f), targets::h200).text(); }
