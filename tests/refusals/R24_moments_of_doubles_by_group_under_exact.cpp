// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Third and fourth powers of doubles are kept exactly over a whole source only.
// refused: of f64 in groups moments<2> only
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<double> const& x) { return run(from(shaped(x, 2, 3)) | over<1>(moments<4>), exact); }
