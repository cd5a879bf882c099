// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel writes its answer as it is, and count is an i64.
// refused: for each answer a pointer to its own type
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x, float* number) { return prepare(from(x) | count, number); }
