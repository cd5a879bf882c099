// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// More different folds than one read takes.
// refused: one read takes at most 8 columns, of which every mention of a let is one, and 16 different folds
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) {
  auto const [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q] =
      run(from(x) | reduce(sum(_1 * 1), sum(_1 * 2), sum(_1 * 3), sum(_1 * 4), sum(_1 * 5), sum(_1 * 6), sum(_1 * 7),
                           sum(_1 * 8), sum(_1 * 9), sum(_1 * 10), sum(_1 * 11), sum(_1 * 12), sum(_1 * 13),
                           sum(_1 * 14), sum(_1 * 15), sum(_1 * 16), sum(_1 * 17)));
  return a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p + q;
}
