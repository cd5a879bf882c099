// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A partial stops before the answers, and a group has one.
// refused: are computed by run
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return partial(from(shaped(x, 3, 4)) | over<1>(sum)); }
