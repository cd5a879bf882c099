// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// all asks for a condition.
// refused: p must give bool for an element
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return run(from(x) | reduce(all(_1))); }
