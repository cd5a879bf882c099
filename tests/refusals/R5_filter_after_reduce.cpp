// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A condition comes after the answer.
// refused: a pipeline ends with reduce(...)
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return run(from(x) | reduce(sum) | filter(_1 > 0.f)); }
