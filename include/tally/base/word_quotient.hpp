// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Quotients of integers that one word or two hold, which most exact sums are: in registers, where wide integers are in memory. Layer 0.
#pragma once

#include <tally/base/wide_integer.hpp>

namespace tally::v0 {

/// A size of 128 bits.
struct two_words {
  u64 low, high;
  friend constexpr bool operator<(two_words const& a, two_words const& b) { return a.high != b.high ? a.high < b.high : a.low < b.low; }
};
namespace detail {
TALLY_INLINE constexpr int leading_zeros(two_words const& x) { return x.high != 0 ? tally::v0::leading_zeros(x.high) : x.low != 0 ? 64 + tally::v0::leading_zeros(x.low) : 128; }
/// By less than 128.
TALLY_INLINE constexpr two_words shifted_up(two_words const& x, int by) {
  return by == 0 ? x : by >= 64 ? two_words{0, x.low << (by - 64)} : two_words{x.low << by, x.high << by | x.low >> (64 - by)};
}
/// The lower 128 bits.
TALLY_INLINE constexpr two_words times(two_words const& x, u64 n) {
  two_words product{};
  multiply(x.low, n, product.low, product.high);
  product.high += x.high * n;
  return product;
}
TALLY_INLINE constexpr two_words plus(two_words const& a, two_words const& b) {
  u64 const low = a.low + b.low;
  return {low, a.high + b.high + u64(low < b.low)};
}
TALLY_INLINE constexpr two_words minus(two_words const& a, two_words const& b) { return {a.low - b.low, a.high - b.high - u64(a.low < b.low)}; }
} // namespace detail

/// A number that is size * 2^at, or its negative.
struct words_and_place {
  two_words size;
  int at;
  bool negative;
};
/// x as such a number; false: its bits lie further apart.
template <int Words>
TALLY_INLINE constexpr bool are_two_words(wide_integer<Words> const& x, words_and_place& out) {
  u64 word[Words + 2]{};
  bool const negative = x.negative();
  u64 const flip = negative ? ~u64(0) : 0;
  u64 carry = flip & 1;
  for (int w = 0; w < Words; ++w) {
    word[w] = (x.word[w] ^ flip) + carry;
    carry &= u64(word[w] == 0);
  }
  int below = 0;
  for (int k = 1; k < Words; ++k)
    if (word[0] == 0) {
      for (int w = 0; w < Words; ++w)
        word[w] = word[w + 1];
      below += 64;
    }
  int const zeros = word[0] == 0 ? 0 : 63 - leading_zeros(word[0] & (0 - word[0]));
  auto const from = [&](int w) { return word[w] >> zeros | (word[w + 1] << 1) << (63 - zeros); };
  out = {{from(0), from(1)}, below + zeros, negative};
  u64 rest = word[2] >> zeros;
  for (int w = 3; w < Words; ++w)
    rest |= word[w];
  return rest == 0;
}

/// x * 2^lowest / n rounded once, to nearest even; 0 < n. Of the quotient there are 62 bits or more, and the last says whether there is a rest.
template <class T>
TALLY_HD constexpr T rounded_quotient(two_words x, int lowest, u64 n) {
  int const up = detail::leading_zeros(x), of_n = leading_zeros(n);
  if (up == 128)
    return T(0);
  x = detail::shifted_up(x, up);
  n <<= of_n;
  bool const halved = x.high >= n;
  u64 lost = halved ? x.low & 1 : 0;
  if (halved)
    x = {x.low >> 1 | x.high << 63, x.high >> 1};
  u64 const n_high = n >> 32, n_low = u32(n);
  // a digit of 32 bits of what `rest` and the next digit are over n: D. E. Knuth, The Art of Computer Programming, volume 2, 4.3.1
  auto const digit = [&](u64& rest, u64 next) {
    u64 q = rest / n_high, over = rest - q * n_high;
    while (over >> 32 == 0 && (q >> 32 != 0 || q * n_low > (over << 32 | next)))
      --q, over += n_high;
    rest = (rest << 32 | next) - q * n;
    return q;
  };
  u64 rest = x.high;
  u64 const upper = digit(rest, x.low >> 32), lower = digit(rest, u32(x.low));
  lost |= rest;
  return rounded<T>(wide_integer<2>{{upper << 32 | lower | u64(lost != 0), 0}}, lowest - up + of_n + int(halved));
}

} // namespace tally::v0
