// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A refused pipeline is explained, run and printed all the same: what follows the mistake says nothing.
// refused: a placeholder names an element that is not there
#include <tally/tally.hpp>

#include <iostream>
#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) {
  auto const question = from(x) | reduce(sum(_2), max);
  std::cout << explain(question, targets::h200).text() << '\n';
  auto const [total, greatest] = run(question, on::cpu);
  std::cout << total << ' ' << greatest + 1.f << '\n';
  float const half = total / 2.f;
  return half;
}
