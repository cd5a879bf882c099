// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rounding of 128 bits in registers is that of any width; products and quotients are those made bit by bit.
#include <tally/base/wide_integer.hpp>

#include <doctest/doctest.h>

#include <random>

using namespace tally::v0;

namespace {

template <class T>
void same_as_wider(u64 low, u64 high, int lowest) {
  u64 const sign = high >> 63 != 0 ? ~u64(0) : 0;
  T const narrow = rounded<T>(wide_integer<2>{{low, high}}, lowest), wide = rounded<T>(wide_integer<3>{{low, high, sign}}, lowest);
  CAPTURE(low);
  CAPTURE(high);
  CAPTURE(lowest);
  REQUIRE(bits_as<typename float_shape<T>::bits>(narrow) == bits_as<typename float_shape<T>::bits>(wide));
}

/// Of few bits, of all, of one here and there, or of long runs of either.
template <int Words>
wide_integer<Words> some_size(std::mt19937_64& random, int bits) {
  wide_integer<Words> x{};
  u64 const kind = random() % 4;
  for (int w = 0; 64 * w < bits; ++w) {
    u64 const word = random(), all = 64 * w + 64 <= bits ? ~u64(0) : (u64(1) << (bits - 64 * w)) - 1;
    x.word[w] = all & (kind == 0 ? word : kind == 1 ? (word % 3 == 0 ? ~u64(0) : 0) : kind == 2 ? u64(1) << (word % 64) : word & random() & random());
  }
  return x;
}

/// x * 2^lowest / n rounded once, by a division bit by bit.
template <class T, int Words, int Divisor>
T quotient_bit_by_bit(wide_integer<Words> x, int lowest, wide_integer<Divisor> n) {
  constexpr int more = Divisor + 2;
  bool const negative = x.negative();
  if (negative) x.negate();
  n.negate();
  wide_integer<Words + more + 1> quotient{};
  wide_integer<Divisor> rest{};
  for (int b = 64 * Words - 1; b >= -64 * more; --b) {
    wide_integer<Divisor> const twice = rest;
    rest += twice;
    rest.word[0] |= u64(b >= 0 && x.bit(b));
    wide_integer<Divisor> less = rest;
    less += n;
    if (less.negative()) continue;
    rest = less;
    quotient.word[(b + 64 * more) / 64] |= u64(1) << ((b + 64 * more) % 64);
  }
  for (u64 const w : rest.word) quotient.word[0] |= u64(w != 0);
  T const size = rounded<T>(quotient, lowest - 64 * more);
  return negative ? -size : size;
}
template <class T, int Words, int Divisor>
void same_quotients(std::mt19937_64& random) {
  for (int k = 0; k < 5000; ++k) {
    auto n = some_size<Divisor>(random, 1 + int(random() % (64 * Divisor - 2)));
    n.word[0] |= 1;
    auto x = some_size<Words>(random, 1 + int(random() % (64 * Words - 1)));
    if (k % 4 == 0) { // a multiple of n: an answer or a tie
      auto const multiple = multiplied(n, wide_integer<1>{{random() >> (11 + random() % 50)}});
      x = {};
      for (int w = 0; w < Words && w < multiple.words; ++w) x.word[w] = multiple.word[w];
      if (x.negative()) x.negate();
    }
    if (k % 2 == 0) x.negate();
    int const lowest = 200 - int(random() % 1500) - 64 * int(random() % Words);
    CAPTURE(k);
    REQUIRE(bits_as<typename float_shape<T>::bits>(rounded_quotient<T>(x, lowest, n)) == bits_as<typename float_shape<T>::bits>(quotient_bit_by_bit<T>(x, lowest, n)));
  }
}

} // namespace

TEST_CASE("quotients of wide integers are rounded as those made bit by bit: of every length, both signs, ties, and beyond both ends of the type") {
  std::mt19937_64 random(23);
  same_quotients<float, 13, 2>(random);
  same_quotients<float, 6, 2>(random);
  same_quotients<double, 6, 2>(random);
  same_quotients<double, 2, 1>(random);
  same_quotients<float, 3, 4>(random);
  same_quotients<double, 30, 3>(random);
  CHECK(rounded_quotient<float>(wide_integer<3>{}, 0, wide_integer<1>{{7}}) == 0.f);
  static_assert(rounded_quotient<double>(wide_integer<2>{{1, 0}}, 0, wide_integer<1>{{3}}) == 1. / 3.);
}

TEST_CASE("products of wide integers are sums of the products of their digits") {
  std::mt19937_64 random(29);
  for (int k = 0; k < 20'000; ++k) {
    auto const a = some_size<5>(random, 1 + int(random() % 319));
    auto const b = some_size<3>(random, 1 + int(random() % 191));
    wide_integer<8> sum{};
    for (int i = 0; i < 10; ++i)
      for (int j = 0; j < 6; ++j) sum.add_at(32 * (i + j), u64(u32(a.word[i / 2] >> (i % 2 * 32))) * u32(b.word[j / 2] >> (j % 2 * 32)), false);
    REQUIRE(multiplied(a, b) == sum);
  }
}

TEST_CASE("both halves of a product of two words") {
  std::mt19937_64 random(9);
  for (int i = 0; i < 20'000; ++i) {
    auto const a = some_size<1>(random, 1 + int(random() % 64)), b = some_size<1>(random, 1 + int(random() % 64));
    auto const whole = multiplied(a, b);
    u64 low = 0, high = 0;
    multiply(a.word[0], b.word[0], low, high);
    REQUIRE(low == whole.word[0]);
    REQUIRE(high == whole.word[1]);
  }
}

TEST_CASE("leading zeros") {
  static_assert(leading_zeros(1) == 63 && leading_zeros(~u64(0)) == 0 && leading_zeros(u64(1) << 32) == 31 && leading_zeros(0xff) == 56);
}

TEST_CASE("128 bits are rounded as wider integers are: of every length, both signs, halves, and beyond both ends of the type") {
  std::mt19937_64 random(17);
  for (int k = 0; k < 200'000; ++k) {
    int const bits = int(random() % 127) + 1;
    u64 low = random(), high = random();
    if (random() % 3 == 0) low = random() % 2 == 0 ? 0 : u64(1) << (random() % 64); // ties
    if (random() % 3 == 0) high = u64(1) << (random() % 64);
    high = bits > 64 ? high & (~u64(0) >> (128 - bits)) : 0;
    low = bits < 64 ? low & ((u64(1) << bits) - 1) : low;
    if (random() % 2 == 0) high = ~high + u64(low == 0), low = u64(0) - low;
    same_as_wider<float>(low, high, -149 + int(random() % 300) - 20);
    same_as_wider<double>(low, high, -1074 + int(random() % 2200) - 20);
  }
  for (int lowest : {-1200, -160, -149, -10, 0, 100, 1000})
    for (u64 low : {u64(0), u64(1), ~u64(0)})
      for (u64 high : {u64(0), u64(1), ~u64(0), u64(1) << 63, ~u64(0) >> 1}) {
        same_as_wider<float>(low, high, lowest);
        same_as_wider<double>(low, high, lowest);
      }
}
