// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bits of std::vector<bool> have no address.
// refused: has no device text. Write the element expression with _1, or TALLY_FUNCTION
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<bool> const& x) { return run(from(x) | reduce(any, all), on::gpu(0), fast); }
