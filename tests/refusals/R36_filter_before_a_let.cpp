// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A let does not make two errors of one.
// refused: map(select(condition, a, b))
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<float> const& x) { return run(from(x) | filter(_1 > 0.f) | map(_1 - let(from(x) | mean)) | collect); }
