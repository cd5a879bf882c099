// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sorting, by the standard library, whose header no user's file then needs.
#include <tally/run/cpu_door.hpp>

#include <algorithm>

namespace tally::v0::cpu {

void sort(i64* begin, i64* end) { std::sort(begin, end); }
void sort(u64* begin, u64* end) { std::sort(begin, end); }

} // namespace tally::v0::cpu
