// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is started is one launch, and what a let folds is there only behind one.
// refused: before folds, groupings and collect
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return start(from(x) | map(_1 - let(from(x) | mean)) | sum); }
