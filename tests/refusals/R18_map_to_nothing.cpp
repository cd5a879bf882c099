// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// map leaves at least one element.
// refused: takes at least one element expression, filter(p) exactly one
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return run(from(x) | map() | sum); }
