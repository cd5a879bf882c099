// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An answer is an element only in a let, a fold is none beside it.
// refused: Name its answer in a let
#include <tally/tally.hpp>

using namespace tally;

auto mistake(float const* x) {
  auto const rows = from(shaped(x, 4, 3));
  return run(rows | over<1>(max - let(rows | over<1>(mean))));
}
