// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An operation that commutes may still not be regrouped.
// refused: the operation does not declare associativity
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

TALLY_FUNCTION(halfway, (float a, float b), { return (a + b) / 2; });
TALLY_FUNCTION(same, (float a), { return a; });

auto mistake(std::vector<float> const& x) {
  return run(from(x) | reduce(sum, fold_of(0.f, halfway, same, same, commutative)));
}
