// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A condition names the second element of one column.
// refused: a placeholder names an element that is not there
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return run(from(x) | filter(_2 > 0.f) | sum); }
