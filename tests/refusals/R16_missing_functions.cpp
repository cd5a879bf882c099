// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Neither lift nor lower is given.
// refused: lift(elements...) and combine(state, state) give the state
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

TALLY_FUNCTION(add, (float a, float b), { return a + b; });

auto mistake(std::vector<float> const& x) { return run(from(x) | reduce(fold_of(0.f, add))); }
