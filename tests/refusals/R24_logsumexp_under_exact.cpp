// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sum of exponentials rounds at every step, and no integer keeps it.
// refused: a fold rounds and has no exact form
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return run(from(x) | reduce(sum, logsumexp), exact); }
