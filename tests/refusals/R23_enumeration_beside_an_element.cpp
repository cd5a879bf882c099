// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An enumeration is no number.
// refused: beside an element or a fold stands a number
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

enum class colour { red, green };

auto mistake(std::vector<colour> const& x) { return run(from(x) | reduce(count_if(_1 == colour::red))); }
