// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Complex numbers have no order.
// refused: this fold is not defined for the type of its element
#include <tally/tally.hpp>

#include <complex>
#include <vector>

using namespace tally;

auto mistake(std::vector<std::complex<float>> const& x) { return run(from(x) | reduce(sum, max)); }
