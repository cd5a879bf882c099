// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A count, an i64, is to go into an int.
// refused: run_into(reduction, outputs...) takes one output an answer, in order
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

void mistake(std::vector<float> const& x, int& n) { run_into(from(x) | count, n); }
