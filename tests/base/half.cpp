// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What f16 and bf16 promise: one rounding to nearest even, one NaN, nothing lost on the way back.
#include <tally/base/half.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

namespace {

using tally::v0::bf16;
using tally::v0::f16;

/// A small format as the standard describes it, for an oracle that shares nothing with the library.
struct format {
  int significant_bits;
  int smallest_exponent; // of the unit of a denormal: value = k * 2^smallest_exponent
  int largest_exponent;  // every finite value is below 2^largest_exponent
};
constexpr format f16_format{11, -24, 16};
constexpr format bf16_format{8, -133, 128};

/// Rounds by arithmetic on whole long doubles, halves to even; exact for every double and 64-bit integer.
long double rounded(long double x, format f) {
  if (x == 0 || std::isnan(x) || std::isinf(x)) return x;
  int exponent = 0;
  std::frexp(x, &exponent);
  int const unit = std::max(exponent - f.significant_bits, f.smallest_exponent);
  long double const scaled = std::ldexp(std::fabs(x), -unit);
  long double whole = std::floor(scaled);
  long double const rest = scaled - whole;
  if (rest > 0.5L || (rest == 0.5L && std::fmod(whole, 2.0L) == 1)) whole += 1;
  long double const size = std::ldexp(whole, unit);
  if (size >= std::ldexp(1.0L, f.largest_exponent))
    return std::copysign(std::numeric_limits<long double>::infinity(), x);
  return std::copysign(size, x);
}

std::uint64_t next_random(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15u;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// The value that 16 bits stand for, by the definition of the format.
double meaning(std::uint16_t bits, format f) {
  int const fraction_bits = f.significant_bits - 1;
  int const fraction = bits & ((1 << fraction_bits) - 1);
  int const field = (bits & 0x7fff) >> fraction_bits;
  int const top = 0x7fff >> fraction_bits;
  double const sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (field == top)
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  if (field == 0) return sign * std::ldexp(fraction, f.smallest_exponent);
  return sign * std::ldexp(fraction + (1 << fraction_bits), f.smallest_exponent + field - 1);
}

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

/// How many of the given source values round otherwise than the oracle says; the first is kept for the message.
template <class Half, class From>
struct comparison {
  format form;
  std::uint16_t nan;
  long wrong = 0;
  From first_wrong{};

  void operator()(From x) {
    Half const h(x);
    long double const expected = rounded(static_cast<long double>(x), form);
    bool const right =
        std::isnan(expected) ? h.bits == nan : same(static_cast<double>(expected), meaning(h.bits, form));
    if (!right && wrong++ == 0) first_wrong = x;
  }
};

/// Every value of the format, every midpoint between neighbours, and both neighbours in From of each.
template <class Half, class From>
void compare_boundaries(comparison<Half, From>& compare) {
  From const infinity = std::numeric_limits<From>::infinity();
  for (int bits = 0; bits < 0x7fff; ++bits) {
    double const here = meaning(static_cast<std::uint16_t>(bits), compare.form);
    double const next = meaning(static_cast<std::uint16_t>(bits + 1), compare.form);
    if (std::isnan(here)) continue;
    double const middle = std::isinf(next)
                              ? here + (here - meaning(static_cast<std::uint16_t>(bits - 1), compare.form)) / 2
                              : here + (next - here) / 2;
    for (double const centre : {here, middle}) {
      From const x = static_cast<From>(centre);
      for (From const near : {x, std::nextafter(x, infinity), std::nextafter(x, -infinity)}) {
        if (std::isnan(near)) continue;
        compare(near);
        compare(-near);
      }
    }
  }
}

} // namespace

TEST_CASE("f16 and bf16 are two bytes that may be copied as bytes") {
  CHECK(sizeof(f16) == 2);
  CHECK(sizeof(bf16) == 2);
  CHECK(std::is_trivially_copyable_v<f16>);
  CHECK(std::is_trivially_copyable_v<bf16>);
  CHECK(std::is_trivially_default_constructible_v<f16>);
  CHECK(std::is_trivially_default_constructible_v<bf16>);
}

TEST_CASE("numbers become small floats only when asked, small floats become float by themselves") {
  CHECK_FALSE(std::is_convertible_v<float, f16>);
  CHECK_FALSE(std::is_convertible_v<int, bf16>);
  CHECK(std::is_convertible_v<f16, float>);
  CHECK(std::is_convertible_v<bf16, float>);
  CHECK(std::is_same_v<decltype(f16{} + f16{}), float>);
  CHECK(std::is_same_v<decltype(bf16{} * 2), float>);
  CHECK(std::is_same_v<decltype(-bf16{}), float>);
  CHECK(std::is_same_v<decltype(f16{} + 1.0), double>);
}

TEST_CASE("conversions can be done at compile time") {
  static_assert(f16(1.5f).bits == 0x3e00);
  static_assert(f16(65504.0).bits == 0x7bff);
  static_assert(f16(70000).bits == 0x7c00);
  static_assert(bf16(-2).bits == 0xc000);
  static_assert(static_cast<float>(f16::from_bits(1)) == 0x1p-24f);
  static_assert(static_cast<float>(bf16::from_bits(0x3f80)) == 1.0f);
  static_assert(f16(2) < f16(3.0f) && f16(2) == bf16(2));
  static_assert(f16(true).bits == 0x3c00);
}

TEST_CASE("all 65536 bit patterns mean what the format says and survive the way through float and double") {
  long wrong = 0;
  for (int i = 0; i < 0x10000; ++i) {
    auto const bits = static_cast<std::uint16_t>(i);
    float const narrow = f16::from_bits(bits), brain = bf16::from_bits(bits);
    wrong += !same(narrow, meaning(bits, f16_format));
    wrong += !same(brain, meaning(bits, bf16_format));
    wrong += f16(narrow).bits != (std::isnan(narrow) ? 0x7e00 : bits);
    wrong += bf16(brain).bits != (std::isnan(brain) ? 0x7fc0 : bits);
    wrong += f16(static_cast<double>(narrow)).bits != f16(narrow).bits;
    wrong += bf16(static_cast<double>(brain)).bits != bf16(brain).bits;
  }
  CHECK(wrong == 0);
}

TEST_CASE("there is one NaN, quiet and positive, of what is rounded and of an f16; a bf16 keeps its own") {
  for (std::uint32_t const bits : {0x7f800001u, 0x7fc00000u, 0x7fffffffu, 0xff800001u, 0xffc12345u, 0xffffffffu}) {
    float const x = std::bit_cast<float>(bits);
    CHECK(f16(x).bits == 0x7e00);
    CHECK(bf16(x).bits == 0x7fc0);
    CHECK(f16(static_cast<double>(x)).bits == 0x7e00);
    CHECK(bf16(static_cast<double>(x)).bits == 0x7fc0);
  }
  for (int const pattern : {0x7fff, 0xffff, 0x7f81, 0xff81}) {
    auto const bits = static_cast<std::uint16_t>(pattern | 0x7c01);
    CHECK(std::bit_cast<std::uint32_t>(static_cast<float>(bf16::from_bits(bits))) == std::uint32_t(bits) << 16);
    CHECK(std::bit_cast<std::uint32_t>(static_cast<float>(f16::from_bits(bits))) == 0x7fffffffu);
  }
  CHECK(f16::from_bits(0x7e00) != f16::from_bits(0x7e00));
}

TEST_CASE_TEMPLATE("every value, every midpoint and their neighbours round to nearest even", From, float, double) {
  comparison<f16, From> narrow{f16_format, 0x7e00};
  comparison<bf16, From> brain{bf16_format, 0x7fc0};
  compare_boundaries(narrow);
  compare_boundaries(brain);
  CHECK_MESSAGE(narrow.wrong == 0, "first: ", narrow.first_wrong);
  CHECK_MESSAGE(brain.wrong == 0, "first: ", brain.first_wrong);
}

TEST_CASE("ten million random floats round to nearest even") {
  comparison<f16, float> narrow{f16_format, 0x7e00};
  comparison<bf16, float> brain{bf16_format, 0x7fc0};
  std::uint64_t state = 1;
  for (int i = 0; i < 5000000; ++i) {
    std::uint64_t const word = next_random(state);
    auto const low = static_cast<std::uint32_t>(word);
    narrow(std::bit_cast<float>(low));
    brain(std::bit_cast<float>(low));
    // and one with its exponent where f16 has values
    auto const high = static_cast<std::uint32_t>(word >> 32);
    narrow(std::bit_cast<float>((high & 0x807fffffu) | ((100u + (high >> 23) % 46u) << 23)));
    brain(std::bit_cast<float>(high));
  }
  CHECK_MESSAGE(narrow.wrong == 0, "first: ", narrow.first_wrong);
  CHECK_MESSAGE(brain.wrong == 0, "first: ", brain.first_wrong);
}

TEST_CASE("a double is rounded once, even where float would round first") {
  // Just above the midpoint of 1 and 1 + 2^-10, by less than float can see.
  CHECK(f16(1 + 0x1p-11 + 0x1p-40).bits == 0x3c01);
  CHECK(f16(static_cast<float>(1 + 0x1p-11 + 0x1p-40)).bits == 0x3c00);
  CHECK(bf16(1 + 0x1p-8 + 0x1p-50).bits == 0x3f81);
  CHECK(f16(0x1p-25 + 0x1p-70).bits == 1);
  CHECK(bf16(0x1p-134 + 0x1p-180).bits == 1);
  CHECK(f16(-1e-300).bits == 0x8000);
  CHECK(bf16(1e300).bits == 0x7f80);
  CHECK(bf16(-0x1.fffffffffffffp127).bits == 0xff80);
  comparison<f16, double> narrow{f16_format, 0x7e00};
  comparison<bf16, double> brain{bf16_format, 0x7fc0};
  std::uint64_t state = 2;
  for (int i = 0; i < 1000000; ++i) {
    std::uint64_t const word = next_random(state);
    narrow(std::bit_cast<double>(word));
    narrow(std::bit_cast<double>((word & 0x800fffffffffffffu) | ((990u + (word >> 52) % 60u) << 52)));
    brain(std::bit_cast<double>((word & 0x800fffffffffffffu) | ((880u + (word >> 52) % 280u) << 52)));
  }
  CHECK_MESSAGE(narrow.wrong == 0, "first: ", narrow.first_wrong);
  CHECK_MESSAGE(brain.wrong == 0, "first: ", brain.first_wrong);
}

TEST_CASE("integers of every width round once") {
  CHECK(bf16((std::int64_t{1} << 62) + (std::int64_t{1} << 54) + 1).bits == bf16(0x1.02p62f).bits);
  CHECK(bf16((std::int64_t{1} << 62) + (std::int64_t{1} << 54)).bits == bf16(0x1p62f).bits);
  CHECK(bf16(std::numeric_limits<std::int64_t>::min()).bits == bf16(-0x1p63f).bits);
  CHECK(bf16(std::numeric_limits<std::uint64_t>::max()).bits == bf16(0x1p64f).bits);
  CHECK(f16(65519).bits == 0x7bff);
  CHECK(f16(65520u).bits == 0x7c00);
  CHECK(f16(-7L).bits == f16(-7.0f).bits);
  CHECK(f16('a').bits == f16(97.0f).bits);
  comparison<f16, std::int64_t> narrow{f16_format, 0x7e00};
  comparison<bf16, std::int64_t> brain{bf16_format, 0x7fc0};
  std::uint64_t state = 3;
  for (int i = 0; i < 1000000; ++i) {
    std::uint64_t const word = next_random(state);
    auto const value = static_cast<std::int64_t>(word) >> (word & 63);
    narrow(value);
    brain(value);
  }
  CHECK_MESSAGE(narrow.wrong == 0, "first: ", narrow.first_wrong);
  CHECK_MESSAGE(brain.wrong == 0, "first: ", brain.first_wrong);
}
