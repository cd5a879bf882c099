// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In C this is a condition; here bits are numbers.
// refused: p must give bool for an element
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<int> const& k) { return run(from(k) | filter(_1 & 1) | sum); }
