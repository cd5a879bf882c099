// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bar composes; bits_or is the or of bits.
// refused: a is a range or a pipeline, which begins with from(...)
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<int> const& k) { return run(from(k) | filter((_1 | 4) == 6) | sum); }
