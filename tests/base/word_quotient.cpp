// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Quotients of two words by one are those of wide integers; what two words hold is found wherever it lies.
#include <tally/base/word_quotient.hpp>

#include <doctest/doctest.h>

#include <random>

using namespace tally::v0;

namespace {

u64 some_word(std::mt19937_64& random) {
  u64 const word = random(), bits = random() % 65;
  u64 const all = bits == 64 ? ~u64(0) : (u64(1) << bits) - 1;
  switch (random() % 4) {
  case 0: return word & all;
  case 1: return all;
  case 2: return bits == 64 ? 0 : u64(1) << bits;
  default: return word & random() & random() & all;
  }
}

template <class T>
void same_quotients(std::mt19937_64& random) {
  using bits = typename float_shape<T>::bits;
  for (int k = 0; k < 200'000; ++k) {
    two_words const x{some_word(random), random() % 3 == 0 ? 0 : some_word(random)};
    u64 const n = some_word(random) | u64(random() % 2 == 0), divisor = n == 0 ? 1 : n;
    int const lowest = k % 4 == 0 ? int(float_shape<T>::lowest) - int(random() % 200) : int(random() % 200) - 150;
    T const quick = rounded_quotient<T>(x, lowest, divisor), wide = rounded_quotient<T>(wide_integer<3>{{x.low, x.high, 0}}, lowest, wide_integer<2>{{divisor, 0}});
    CAPTURE(x.low);
    CAPTURE(x.high);
    CAPTURE(divisor);
    CAPTURE(lowest);
    REQUIRE(bits_as<bits>(quick) == bits_as<bits>(wide));
  }
}

} // namespace

TEST_CASE("a quotient of two words is that of a wide integer, ties, denormals and what underflows among them") {
  std::mt19937_64 random(7);
  same_quotients<float>(random);
  same_quotients<double>(random);
}

TEST_CASE("what two words hold is found wherever it lies in a wide integer, and what they do not hold is told") {
  std::mt19937_64 random(11);
  for (int k = 0; k < 200'000; ++k) {
    int const at = int(random() % 250);
    two_words const size{some_word(random), random() % 2 == 0 ? 0 : some_word(random) >> 1};
    bool const negative = random() % 2 == 0 && (size.low | size.high) != 0;
    wide_integer<6> x{};
    x.add_at(at, size.low, false);
    x.add_at(at + 64, size.high, false);
    if (negative) x.negate();
    words_and_place found{};
    REQUIRE(are_two_words(x, found));
    CHECK(found.negative == negative);
    wide_integer<6> again{};
    again.add_at(found.at, found.size.low, negative);
    again.add_at(found.at + 64, found.size.high, negative);
    for (int w = 0; w < 6; ++w) REQUIRE(again.word[w] == x.word[w]);
    if ((size.low | size.high) == 0) continue;
    wide_integer<6> wider{};
    wider.add_at(3, 1, negative);
    wider.add_at(3 + 128 + int(random() % 100), 1, negative);
    CHECK_FALSE(are_two_words(wider, found));
  }
}
