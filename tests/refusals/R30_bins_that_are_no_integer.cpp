// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// There are whole bins.
// refused: even_bins
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return run(from(x) | histogram(0, 10, 5.9)); }
