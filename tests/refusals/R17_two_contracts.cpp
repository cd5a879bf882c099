// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Only one contract can be meant.
// refused: the options of run are one place
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return run(from(x) | sum, fast, exact); }
