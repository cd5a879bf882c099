// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arguments of std::reduce.
// refused: takes folds, one at least
#include <tally/tally.hpp>

#include <functional>
#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return run(from(x) | reduce(0.f, std::plus<>())); }
