// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stages are composed before there is a source.
// refused: a is a range or a pipeline, which begins with from(...)
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) {
  auto const positive = filter(_1 > 0.f) | map(_1 * 2.f);
  return run(from(x) | positive | sum);
}
