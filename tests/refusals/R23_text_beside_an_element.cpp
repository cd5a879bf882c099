// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A text is no number.
// refused: beside an element or a fold stands a number
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return run(from(x) | filter(_1 == "one") | sum); }
