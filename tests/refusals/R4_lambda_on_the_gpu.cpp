// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A host lambda cannot run on a GPU.
// refused: has no device text. Write the element expression with _1, or TALLY_FUNCTION
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return run(from(x) | map([](float v) { return v * v; }) | sum, on::gpu); }
