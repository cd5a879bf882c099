// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program on the first screen of README.md.
#include <tally/tally.hpp>

#include <iostream>
#include <vector>

using namespace tally;

int main() {
  std::vector<float> const price(1 << 20, 0.25f), quantity(1 << 20, 1.f);
  auto const question = from(price, quantity)
                      | filter(_1 > 0.f)
                      | reduce(sum(_1 * _2), max(_1), count, mean(_1));
  auto const [revenue, dearest, n, average] = run(question);
  std::cout << revenue << ' ' << dearest << ' ' << n << ' ' << average << '\n'
            << explain(question, targets::h200);
}
