// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A fold by key that does not drop its strays has more to say than its answers: somebody has to wait for it.
// refused: by_key(...).dropping_strays(), none of them checked() or maybe()
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<int> const& x, float* sums) { return enqueue(from(x) | by_key(_1, 4, sum(cast<float>(_1))), sums); }
