// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An array has a value in every place.
// refused: an array of answers holds a value for every group
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return run(from(shaped(x, 3, 4)) | over<1>(min.maybe())); }
