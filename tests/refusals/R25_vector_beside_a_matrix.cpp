// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A vector has one axis, a matrix two: which of them is meant?
// refused: the columns of one source have the same axes
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return run(from(shaped(x, 3, 4), x) | reduce(sum(_1 * _2))); }
