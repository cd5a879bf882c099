// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two answers are taken from a fold that names an element that is not there.
// refused: a placeholder names an element that is not there
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) {
  auto const [product_of_both, greatest] = run(from(x) | reduce(sum(_1 * _2), max));
  return product_of_both + greatest;
}
