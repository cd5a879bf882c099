// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A list cannot be read anywhere at once.
// refused: a column is a sized random-access range
#include <tally/tally.hpp>

#include <list>

using namespace tally;

auto mistake(std::list<float> const& x) { return run(x | sum); }
