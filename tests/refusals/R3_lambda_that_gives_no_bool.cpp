// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A host lambda gives an int where a condition is expected.
// refused: p must give bool for an element
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<int> const& k) { return run(from(k) | filter([](int i) { return i & 1; }) | sum); }
