// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// No GPU knows this type.
// refused: a column is a sized random-access range
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<long double> const& x) { return run(from(x) | sum); }
