// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rounding of 128 bits in registers is that of any width.
#include <tally/base/wide_integer.hpp>

#include <doctest/doctest.h>

#include <random>

using namespace tally;

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

} // namespace

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
