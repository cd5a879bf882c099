// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two keys of 8 bytes have 16.
// refused: 8 bytes together
#include <tally/tally.hpp>

#include <vector>

using namespace tally;

auto mistake(std::vector<long> const& user, std::vector<long> const& second) { return run(from(user, second) | group_by(_1, _2, count)); }
