// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stage is run without a source.
// refused: what is run must be a pipeline that folds: run(from(x) | reduce(sum))
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return run(reduce(sum)); }
