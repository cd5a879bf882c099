// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bits are of integers.
// refused: this fold is not defined for the type of its element
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return run(from(x) | reduce(bit_and)); }
