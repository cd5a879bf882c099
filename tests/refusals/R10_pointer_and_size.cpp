// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pointer and a size are not two columns.
// refused: a column is a sized random-access range
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(float const* x) { return run(from(x, 100) | sum); }
