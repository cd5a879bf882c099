// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A minimum is one of the elements: it has no accumulator to choose.
// refused: in<T>() is one of folds that add or multiply
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return run(from(x) | reduce(sum.in<double>(), min.in<double>())); }
