// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two conditions are one conjunction.
// refused: takes at least one element expression, filter(p) exactly one
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return run(from(x) | filter(_1 > 0.f, _1 < 9.f) | sum); }
