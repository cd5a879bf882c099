// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pipeline is divided instead of the fold.
// refused: a pipeline ends with reduce(...)
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return run((from(x) | reduce(sum)) / 2.f); }
