// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What rounding a sum loses, which is a number of the same type: Knuth's two-sum, which does not ask which is larger. Layer 0.
#pragma once

#include <tally/base/config.hpp>

namespace tally::v0 {

/// Adds x to s; `lost` becomes what the rounding lost, exactly, and NaN or infinite where the sum is not finite. Also of vectors.
template <class T>
TALLY_INLINE constexpr void two_sum(T& s, T const& x, T& lost) {
  T const before = s;
  s = before + x;
  T const of_x = s - before;
  lost = (before - (s - of_x)) + (x - of_x);
}

} // namespace tally::v0
