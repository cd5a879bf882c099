// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A maximum cannot overflow.
// refused: this fold has no such form
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return run(from(x) | reduce(sum, max.checked())); }
