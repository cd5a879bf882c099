// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integers of any fixed width, and their one rounding to a float or double: what exact sums are kept in. Layer 0. Two's
// complement that wraps, so addition is associative and commutative bit for bit. Kernels that answer round there too.
#pragma once

#include <tally/base/numbers.hpp>

namespace tally::v0 {

/// The shape of a float or double: value = fraction * 2^(unit + exponent - 1), hidden bit included where exponent > 0.
template <class T>
struct float_shape;
template <>
struct float_shape<float> {
  using bits = u32;
  static constexpr int precision = 24, lowest = -149, highest = 128;
};
template <>
struct float_shape<double> {
  using bits = u64;
  static constexpr int precision = 53, lowest = -1074, highest = 1024;
};

/// A finite number taken apart: sign and fraction * 2^(bit + lowest of its type); fraction is 0 for zero.
struct taken_apart {
  u64 fraction;
  int bit;
  bool negative;
};
/// x must be finite.
template <class T>
TALLY_INLINE constexpr taken_apart take_apart(T x) {
  using shape = float_shape<T>;
  using B = typename shape::bits;
  constexpr int stored = shape::precision - 1;
  B const b = bits_as<B>(x);
  int const exponent = static_cast<int>((b >> stored) & B(shape::highest * 2 - 1));
  B const fraction = b & ((B(1) << stored) - 1);
  return {static_cast<u64>(exponent > 0 ? fraction | (B(1) << stored) : fraction), exponent > 0 ? exponent - 1 : 0, sign_of(x)};
}

/// A signed integer of 64 * Words bits.
template <int Words>
struct wide_integer {
  static constexpr int words = Words;
  u64 word[Words]; ///< least significant first

  constexpr bool negative() const { return (word[Words - 1] >> 63) != 0; }
  constexpr bool bit(int b) const { return ((word[b / 64] >> (b % 64)) & 1) != 0; }
  /// Up to 64 bits from bit b on, the last of them first.
  constexpr u64 bits_from(int b) const {
    int const w = b / 64, shift = b % 64;
    u64 const above = shift != 0 && w + 1 < Words ? word[w + 1] << (64 - shift) : 0;
    return word[w] >> shift | above;
  }
  /// Whether any bit below b is set.
  constexpr bool any_below(int b) const {
    for (int w = 0; w < b / 64; ++w)
      if (word[w] != 0)
        return true;
    return b % 64 != 0 && (word[b / 64] << (64 - b % 64)) != 0;
  }
  /// The highest bit that is set, -1 for zero.
  constexpr int highest_bit() const {
    TALLY_ROLLED
    for (int w = Words - 1; w >= 0; --w)
      if (word[w] != 0) {
        int bit = w * 64;
        u64 rest = word[w]; // halved by hand: not every compiler of kernels counts leading zeros by the same name
        for (int half = 32; half > 0; half /= 2)
          if (rest >> half != 0)
            rest >>= half, bit += half;
        return bit;
      }
    return -1;
  }
  TALLY_INLINE constexpr wide_integer& operator+=(wide_integer const& b) {
    u64 carry = 0;
    auto const add = [&](int w) {
      u64 const one = word[w] + b.word[w];
      u64 const both = one + carry;
      carry = u64(one < b.word[w]) | u64(both < carry);
      word[w] = both;
    };
    if constexpr (Words > 30) {
      TALLY_ROLLED
      for (int w = 0; w < Words; ++w)
        add(w);
    } else {
      for (int w = 0; w < Words; ++w)
        add(w);
    }
    return *this;
  }
  constexpr void negate() {
    u64 carry = 1;
    TALLY_ROLLED
    for (u64& w : word)
      carry = u64((w = ~w + carry) < carry);
  }
  /// Adds magnitude * 2^at, or subtracts it; 0 <= at and at / 64 < Words.
  constexpr void add_at(int at, u64 magnitude, bool subtract) {
    int w = at / 64;
    int const shift = at % 64;
    u64 part = magnitude << shift;
    u64 above = shift != 0 ? magnitude >> (64 - shift) : 0;
    u64 carry = 0;
    for (; w < Words && (part | above | carry) != 0; ++w) {
      u64 const old = word[w];
      if (subtract) {
        word[w] = old - part - carry;
        carry = u64(old < part) | u64(old - part < carry);
      } else {
        word[w] = old + part + carry;
        carry = u64(old + part < part) | u64(word[w] < carry);
      }
      part = above;
      above = 0;
    }
  }
  friend constexpr bool operator==(wide_integer const&, wide_integer const&) = default;
};

namespace detail {
/// The number without its sign.
template <int Words>
constexpr wide_integer<Words> size_of(wide_integer<Words> x) {
  if (x.negative())
    x.negate();
  return x;
}
/// fraction * 2^exponent where fraction < 2^(precision + 1) needs no rounding any more.
template <class T>
constexpr T put_together(u64 fraction, int exponent, bool negative) {
  using shape = float_shape<T>;
  using B = typename shape::bits;
  constexpr int stored = shape::precision - 1;
  constexpr u64 one = u64(1) << stored;
  if (fraction == 0)
    return negative ? -T(0) : T(0);
  for (; fraction < one && exponent > shape::lowest; --exponent)
    fraction *= 2;
  if (fraction == 2 * one)
    fraction = one, ++exponent;
  int const biased = fraction < one ? 0 : exponent - shape::lowest + 1;
  B const sign = B(negative) << (sizeof(B) * 8 - 1);
  if (biased >= 2 * shape::highest - 1)
    return bits_as<T>(static_cast<B>(sign | (B(2 * shape::highest - 1) << stored)));
  return bits_as<T>(static_cast<B>(sign | (B(biased) << stored) | static_cast<B>(fraction & (one - 1))));
}
} // namespace detail

/// Bits above the highest that is set; x is not zero.
TALLY_INLINE constexpr int leading_zeros(u64 x) {
#if defined(__CUDA_ARCH__)
  return __clzll(static_cast<long long>(x));
#else
  int zeros = 0;
  for (int half = 32; half > 0; half /= 2)
    if (x >> (64 - half) == 0)
      x <<= half, zeros += half;
  return zeros;
#endif
}

/// x * 2^lowest rounded once, to nearest even, of 128 bits that stay in registers.
template <class T>
constexpr T rounded(wide_integer<2> const& x, int lowest) {
  using shape = float_shape<T>;
  bool const negative = x.negative();
  u64 const low = negative ? u64(0) - x.word[0] : x.word[0], high = negative ? ~x.word[1] + u64(x.word[0] == 0) : x.word[1];
  if ((low | high) == 0)
    return T(0);
  int const top = high != 0 ? 127 - leading_zeros(high) : 63 - leading_zeros(low);
  int const least = shape::lowest - lowest, unit = top - (shape::precision - 1) > least ? top - (shape::precision - 1) : least;
  if (unit <= 0)
    return detail::put_together<T>(low, lowest, negative);
  if (unit > top + 1)
    return detail::put_together<T>(0, lowest + unit, negative);
  int const half = unit - 1; // the bit below the last of the answer
  u64 const from_half = half >= 64 ? high >> (half - 64) : half == 0 ? low : low >> half | high << (64 - half);
  bool const below = half >= 64 ? (low | (half == 64 ? 0 : high << (128 - half))) != 0 : half != 0 && low << (64 - half) != 0;
  u64 const fraction = from_half >> 1;
  return detail::put_together<T>(fraction + u64((from_half & 1) != 0 && (below || (fraction & 1) != 0)), lowest + unit, negative);
}

/// x * 2^lowest rounded once, to nearest even; zero is +0, what is too large is infinite.
template <class T, int Words>
TALLY_HD __attribute__((noinline)) constexpr T rounded(wide_integer<Words> x, int lowest) {
  using shape = float_shape<T>;
  bool const negative = x.negative();
  if (negative)
    x.negate();
  int const top = x.highest_bit();
  if (top < 0)
    return T(0);
  int unit = top - (shape::precision - 1); // the bit of x that becomes the last of the answer
  if (unit < shape::lowest - lowest)
    unit = shape::lowest - lowest;
  u64 fraction = unit <= 0 ? x.word[0] : unit <= top ? x.bits_from(unit) : 0;
  if (unit <= 0)
    return detail::put_together<T>(fraction, lowest, negative);
  if (unit <= top + 1 && x.bit(unit - 1) && (x.any_below(unit - 1) || (fraction & 1) != 0))
    ++fraction;
  return detail::put_together<T>(fraction, lowest + unit, negative);
}

/// The product of two numbers, its lower and its upper half.
TALLY_HD constexpr void multiply(u64 a, u64 b, u64& low, u64& high) {
  u64 const upper = a >> 32, lower = u32(a), b_upper = b >> 32, b_lower = u32(b);
  u64 const least = lower * b_lower, one = upper * b_lower + (least >> 32), other = lower * b_upper + u32(one);
  low = other << 32 | u32(least);
  high = upper * b_upper + (one >> 32) + (other >> 32);
}

/// The product of two sizes; neither may be negative.
template <int A, int B>
constexpr wide_integer<A + B> multiplied(wide_integer<A> const& a, wide_integer<B> const& b) {
  u32 digits[2 * (A + B)]{};
  TALLY_ROLLED
  for (int i = 0; i < 2 * A; ++i)
    if (u64 const digit = u32(a.word[i / 2] >> (32 * (i % 2))); digit != 0) {
      u64 carry = 0;
      TALLY_ROLLED
      for (int j = 0; j < 2 * B; ++j) {
        u64 const one = digit * u32(b.word[j / 2] >> (32 * (j % 2))) + digits[i + j] + carry;
        digits[i + j] = u32(one);
        carry = one >> 32;
      }
      digits[i + 2 * B] = u32(carry);
    }
  wide_integer<A + B> product{};
  TALLY_ROLLED
  for (int w = 0; w < A + B; ++w)
    product.word[w] = digits[2 * w] | u64(digits[2 * w + 1]) << 32;
  return product;
}

namespace detail {
/// 32 bits of a size from bit `at` on, of which some or all may be outside.
template <int Words>
constexpr u32 digit_at(wide_integer<Words> const& x, int at) {
  if (at <= -32 || at >= 64 * Words)
    return 0;
  return at < 0 ? u32(x.word[0] << -at) : u32(x.bits_from(at));
}

/// What is left of a dividend while its quotient by n is made digit by digit of 32 bits from the highest on: Knuth, The Art of Computer Programming,
/// volume 2, 4.3.1, algorithm D. n has its highest bit at the top.
template <int Digits>
struct long_division {
  u32 n[Digits];
  u32 rest[Digits + 1]{}; ///< less than n

  /// The next digit of the quotient, which takes one of the dividend.
  constexpr u32 next(u32 digit) {
    for (int j = Digits; j > 0; --j)
      rest[j] = rest[j - 1];
    rest[0] = digit;
    constexpr u64 most = 0xffffffff;
    u64 const high = u64(rest[Digits]) << 32 | rest[Digits - 1];
    u64 q = rest[Digits] >= n[Digits - 1] ? most : high / n[Digits - 1], over = high - q * n[Digits - 1];
    while (over <= most && q * n[Digits - 2] > (over << 32 | rest[Digits - 2]))
      --q, over += n[Digits - 1];
    u64 carry = 0, borrow = 0;
    for (int j = 0; j < Digits; ++j) {
      u64 const part = q * n[j] + carry, less = u64(rest[j]) - u32(part) - borrow;
      rest[j] = u32(less);
      carry = part >> 32;
      borrow = less >> 63;
    }
    if (rest[Digits] >= carry + borrow)
      return u32(q);
    carry = 0; // one too many
    for (int j = 0; j < Digits; ++j) {
      u64 const more = u64(rest[j]) + n[j] + carry;
      rest[j] = u32(more);
      carry = more >> 32;
    }
    return u32(q - 1);
  }
  constexpr bool any_left() const {
    u32 any = 0;
    for (int j = 0; j < Digits; ++j)
      any |= rest[j];
    return any != 0;
  }
};

/// rounded_quotient where it is needed often.
template <class T, int Words, int Divisor>
constexpr T rounded_quotient_here(wide_integer<Words> x, int lowest, wide_integer<Divisor> const& n) {
  bool const negative = x.negative();
  if (negative)
    x.negate();
  int const top = x.highest_bit();
  if (top < 0)
    return T(0);
  int const shift = 64 * Divisor - 1 - n.highest_bit();
  detail::long_division<2 * Divisor> division{};
  for (int j = 0; j < 2 * Divisor; ++j)
    division.n[j] = detail::digit_at(n, 32 * j - shift);
  wide_integer<2> quotient{};
  int place = (top + shift) / 32 + 2 - 2 * Divisor, taken = 0; // in front of it are fewer digits than n has
  for (int j = 0; j < 2 * Divisor - 1; ++j)
    division.rest[j] = detail::digit_at(x, 32 * (place + j) - shift);
  TALLY_ROLLED
  while (taken < 3) {
    --place;
    u32 const digit = division.next(detail::digit_at(x, 32 * place - shift));
    quotient.word[1] = quotient.word[1] << 32 | quotient.word[0] >> 32;
    quotient.word[0] = quotient.word[0] << 32 | digit;
    taken += int(taken > 0 || digit != 0);
  }
  bool const left = division.any_left() || (32 * place - shift > 0 && x.any_below(32 * place - shift));
  quotient.word[0] |= u64(left);
  T const size = rounded<T>(quotient, lowest + 32 * place);
  return negative ? -size : size;
}
} // namespace detail

/// x * 2^lowest / n rounded once, to nearest even; 0 < n. The division ends behind 65 bits or more, where what is left can only decide ties.
template <class T, int Words, int Divisor>
TALLY_HD __attribute__((noinline)) constexpr T rounded_quotient(wide_integer<Words> x, int lowest, wide_integer<Divisor> const& n) {
  return detail::rounded_quotient_here<T>(x, lowest, n);
}

} // namespace tally::v0
