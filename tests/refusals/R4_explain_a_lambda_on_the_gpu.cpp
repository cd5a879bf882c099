// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A host lambda cannot be explained as a kernel.
// refused: has no device text
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return explain(from(x) | map([](float v) { return v * v; }) | sum, on::gpu); }
