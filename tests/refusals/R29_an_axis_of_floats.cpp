// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Floats are put into even bins.
// refused: an integer expression
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x, std::vector<int> const& shop) { return run(from(x, shop) | histogram(key_bins(_2, 7), key_bins(_1, 4))); }
