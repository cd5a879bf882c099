// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A number is no condition.
// refused: p must give bool for an element
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return run(from(x) | filter(_1) | sum); }
