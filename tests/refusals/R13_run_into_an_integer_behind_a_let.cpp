// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An output holds every value of its answer, behind a let too.
// refused: takes one output an answer
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

void mistake(std::vector<float> const& x, int& squares) {
  auto mu = from(x) | mean;
  run_into(from(x) | sum(squared(_1 - let(mu))), squares);
}
