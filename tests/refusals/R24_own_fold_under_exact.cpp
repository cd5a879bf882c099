// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An associative fold of the user's own may still depend on the order.
// refused: a fold rounds and has no exact form
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

TALLY_FUNCTION(joined, (float a, float b), { return a + b; });
TALLY_FUNCTION(same, (float a), { return a; });

auto mistake(std::vector<float> const& x) {
  return run(from(x) | fold_of(0.f, joined, same, same, associative), exact);
}
