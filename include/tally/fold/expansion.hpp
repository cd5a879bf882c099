// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exact sums of one thread as expansions: three numbers whose sum they are. Layer 1. Additions whose rounding errors are added up take a
// dozen instructions of the quickest kind, no look at the exponents, and leave little to do for the answer.
// J. R. Shewchuk, Adaptive Precision Floating-Point Arithmetic, 1997.
#pragma once

#include <tally/base/stl.hpp>
#include <tally/base/two_sum.hpp>

namespace tally::v0 {

template <class V>
class expansion {
public:
  TALLY_INLINE constexpr void add(V x) {
    V lost, lost_twice;
    two_sum(high_, x, lost);
    two_sum(middle_, lost, lost_twice);
    if (lost_twice != V(0))
      keep(lost_twice);
  }
  /// Whether something was added that is in none of the three, or is not finite, or the sum may leave what is finite where it is rounded.
  TALLY_INLINE constexpr bool lost() const {
    constexpr V most = stl::numeric_limits<V>::max() / 4;
    return low_ != low_ || !(-most <= high_ && high_ <= most);
  }
  /// From now on something is lost.
  TALLY_INLINE constexpr void lose() { low_ = stl::numeric_limits<V>::quiet_NaN(); }
  TALLY_INLINE constexpr V high() const { return high_; }
  TALLY_INLINE constexpr V middle() const { return middle_; }
  TALLY_INLINE constexpr V low() const { return low_; }

private:
  V high_ = 0, middle_ = 0, low_ = 0;

  /// Seldom: what two numbers have no bits for. NaN is for what three have none for.
  TALLY_INLINE constexpr void keep(V x) {
    V lost;
    two_sum(low_, x, lost);
    if (lost != V(0))
      lose();
  }
};

} // namespace tally::v0
