// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The remainder is of integers; fmod is of floats.
// refused: an operation is not defined for its elements
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return run(from(x) | map(_1 % 2.f) | sum); }
