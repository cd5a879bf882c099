// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// count takes none; count_if takes the condition.
// refused: this fold takes another number of elements
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return run(from(x) | reduce(count(_1 > 0.f))); }
