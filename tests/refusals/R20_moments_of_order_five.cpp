// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// moments stops at 4.
// refused: moments<K> takes 2 <= K <= 4
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return run(from(x) | reduce(moments<5>)); }
