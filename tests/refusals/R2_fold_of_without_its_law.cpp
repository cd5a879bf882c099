// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fold_of is not told that the operation is associative.
// refused: the operation does not declare associativity
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

TALLY_FUNCTION(minus, (float a, float b), { return a - b; });
TALLY_FUNCTION(same, (float a), { return a; });

auto mistake(std::vector<float> const& x) {
  auto const difference = fold_of(0.f, minus, same, same);
  return run(from(x) | reduce(difference / count, difference.where(_1 > 0.f)));
}
