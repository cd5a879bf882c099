// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A key is an integer.
// refused: an integer expression
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return run(from(x) | reduce(group_by(_1 / 2.f, count), sum)); }
