// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The oracle of exact sums, held against the compiler's 128-bit integers, against arithmetic that is known to round
// correctly, and against answers that can be written down.
#include "exact/oracle.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <random>

namespace {

using oracle::integer;
using oracle::nearest;
using oracle::scaled;
__extension__ typedef __int128 i128;

integer of(i128 x) {
  return integer(static_cast<std::int64_t>(x >> 64)).times_two_to(64) +
         integer(static_cast<std::int64_t>(static_cast<std::uint64_t>(x) >> 32)).times_two_to(32) +
         integer(static_cast<std::int64_t>(static_cast<std::uint64_t>(x) & 0xffffffff));
}
bool equal(integer const& a, integer const& b) { return compare(a, b) == 0; }
template <class T>
bool same(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

} // namespace

TEST_CASE("unlimited integers agree with those of 128 bits") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    auto const a = static_cast<std::int64_t>(random()) >> (random() % 64), b = static_cast<std::int64_t>(random()) >> (random() % 64);
    auto const c = static_cast<std::int64_t>(random()) >> (random() % 64);
    int const shift = static_cast<int>(random() % 40);
    CHECK(equal(of(i128(a) * b + c), integer(a) * integer(b) + integer(c)));
    CHECK(equal(of(i128(a) * b - c), integer(a) * integer(b) - integer(c)));
    CHECK(equal(of(i128(a) * (i128(1) << shift)), integer(a).times_two_to(shift)));
    i128 const x = i128(a) * b, y = i128(b) * c;
    CHECK((compare(of(x), of(y)) > 0) == (x > y));
    CHECK((compare(of(x), of(y)) < 0) == (x < y));
  }
}

TEST_CASE("rounding agrees with conversions, sums, products and quotients of the processor") {
  std::mt19937_64 random(2);
  for (int i = 0; i < 20000; ++i) {
    auto const whole = static_cast<std::int64_t>(random()) >> (random() % 64);
    CHECK(same(nearest<float>(integer(whole).times_two_to(149), 149), static_cast<float>(whole)));
    CHECK(same(nearest<double>(integer(whole).times_two_to(1074), 1074), static_cast<double>(whole)));
    auto const n = static_cast<std::int64_t>(random() >> (1 + random() % 62)) + 1;
    auto const small = static_cast<std::int64_t>(random() >> 40), divisor = (n & 0xfffff) + 1;
    CHECK(same(nearest<float>(integer(small).times_two_to(149), 149, divisor), static_cast<float>(small) / static_cast<float>(divisor)));
    auto const bits = [&] { return std::bit_cast<float>(static_cast<std::uint32_t>(random())); };
    float const a = bits(), b = bits();
    if (!std::isfinite(a) || !std::isfinite(b) || a == 0 || b == 0) continue;
    oracle::accumulator<float> sum, product;
    sum.add(a), sum.add(b), product.add(a, b);
    CHECK(same(sum.over(1), a + b));
    CHECK(same(product.over(1), a * b));
    auto const wide = [&] { return std::bit_cast<double>(random()); };
    double const c = wide(), d = wide();
    if (!std::isfinite(c) || !std::isfinite(d)) continue;
    oracle::accumulator<double> sum_of_doubles, product_of_doubles;
    sum_of_doubles.add(c), sum_of_doubles.add(d), product_of_doubles.add(c, d);
    CHECK(same(sum_of_doubles.over(1), c + d));
    CHECK(same(product_of_doubles.over(1), c * d));
  }
}

TEST_CASE("ties go to the even neighbour, what is too large is infinite, and zero has a sign only when it was rounded to") {
  CHECK(nearest<float>(integer((1 << 24) + 1).times_two_to(149), 149) == 0x1p24f);
  CHECK(nearest<float>(integer((1 << 24) + 3).times_two_to(149), 149) == 0x1.000004p24f);
  CHECK(nearest<float>(integer(3), 150) == 0x1p-148f); // one and a half of the smallest
  CHECK(same(nearest<float>(integer(1), 150), 0.f));
  CHECK(same(nearest<float>(integer(-1), 150), -0.f));
  CHECK(same(nearest<float>(integer(1) - integer(1), 150), 0.f));
  CHECK(nearest<float>(integer((1 << 25) - 1).times_two_to(103 + 149), 149) == std::numeric_limits<float>::infinity());
  CHECK(nearest<float>((integer((1 << 25) - 1).times_two_to(103 + 149)) - integer(1), 149) == std::numeric_limits<float>::max());
  CHECK(nearest<double>(-integer(1).times_two_to(1024 + 1074), 1074) == -std::numeric_limits<double>::infinity());
}
