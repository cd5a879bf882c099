// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a slot keeps of an exact sum on the CPU: a few digits, integers of 64 bits. A double is cut into multiples of one unit after the other and added
// to as many as it has bits for. Layer 5, host only. The loops that cut and add depend on no type of the user's and are compiled once, in dsl/cpu/digits.cpp.
#pragma once

#include <tally/base/numbers.hpp>

namespace tally::v0::cpu {

/// Digits that a sum may have.
inline constexpr int most_digits = 8;

/// Where numbers are cut. Those smaller than `top`, which is `most` units, have a first digit, in units of which shift[0] is 1.5 x 2^52, what is left of them a second, ...
struct digit_cutters {
  double top = 0;
  i64 most = 0;
  double shift[most_digits] = {};
};

/// The digits of one number.
struct digits {
  i64 of[most_digits];
  int count; ///< up to the last that is not zero; most_digits + 1: it has bits for which there are none
  bool below_top;
};
digits cut(double x, digit_cutters const& by);
/// Of a product, whose bits are all seen.
digits cut(double x, double y, digit_cutters const& by);

/// A table of the first digits of every slot, beside each other: 1, 2, 4 or 8.
struct near_digits {
  i64* of;
  int width;
  u32 idle; ///< a slot for nothing
};

/// Adds n numbers, at most a block, to the first digits of their slots; all arrays have room for a multiple of four. Bit j of the answer: of element j
/// that was not all. What is not below the top was not added at all.
u64 add_digits(near_digits table, int n, double* x, u32* slots, digit_cutters const& by);
/// Adds n products.
u64 add_digits(near_digits table, int n, double* x, double* y, u32* slots, digit_cutters const& by);

} // namespace tally::v0::cpu
