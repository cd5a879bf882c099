// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// More columns than one read takes.
// refused: one read takes at most 8 columns, of which every mention of a let is one, and 16 different folds
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return run(from(x, x, x, x, x, x, x, x, x) | sum); }
