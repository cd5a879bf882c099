// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The number of non-zero elements is count_if(_1 != 0).
// refused: moments<K> takes 2 <= K <= 4
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return run(from(x) | reduce(norm<0>)); }
