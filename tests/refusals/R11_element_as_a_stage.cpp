// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An expression is no stage.
// refused: a is a range or a pipeline, which begins with from(...)
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return run(from(x) | _1 > 0.f); }
