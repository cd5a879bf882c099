// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sum takes one element.
// refused: this fold takes another number of elements
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x, std::vector<float> const& y) { return run(from(x, y) | reduce(sum(_1, _2))); }
