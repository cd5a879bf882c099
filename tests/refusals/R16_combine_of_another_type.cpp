// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// combine takes no states.
// refused: lift(elements...) and combine(state, state) give the state
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

struct state {
  float value;
};
TALLY_FUNCTION(add, (float a, float b), { return a + b; });
TALLY_FUNCTION(lifted, (float a), { return state{a}; });
TALLY_FUNCTION(lowered, (state s), { return s.value; });

auto mistake(std::vector<float> const& x) {
  return run(from(x) | reduce(fold_of(state{0}, add, lifted, lowered, associative)));
}
