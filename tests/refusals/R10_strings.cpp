// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Strings own memory elsewhere.
// refused: a column is a sized random-access range
#include <tally/tally.hpp>

#include <string>
#include <vector>

using namespace tally;

auto mistake(std::vector<std::string> const& x) { return run(from(x) | reduce(count)); }
