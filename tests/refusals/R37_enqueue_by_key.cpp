// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A fold by key has more to say than its answers: a stray key is told, and somebody has to wait for it.
// refused: folds of the whole source, one over or one by_segment
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<int> const& x, float* sums) { return enqueue(from(x) | by_key(_1, 4, sum(cast<float>(_1))), sums); }
