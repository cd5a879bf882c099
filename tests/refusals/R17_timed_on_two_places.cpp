// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Only one place can be meant, where time is taken too.
// refused: the options of run are one place
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return run_timed(from(x) | sum, on::cpu, on::any); }
