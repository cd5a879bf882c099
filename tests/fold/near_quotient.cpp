// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Answers of sums that three numbers are, in doubles with a bound of their error: what is beyond doubt is what the oracle says, and seldom anything is in doubt.
#include <tally/fold/near_quotient.hpp>

#include "exact/oracle.hpp"

#include <tally/testing_exact.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <random>

namespace {

using namespace tally;

/// Quotients of sums of three numbers, as near each other as a low one is below a high one.
template <class To>
void check_quotients(int bits_apart, int least_certain) {
  std::mt19937_64 random(3);
  auto const number = [&](int exponent) { return std::ldexp(double(i64(random())) * 0x1p-63, exponent); };
  int certain = 0, wrong = 0;
  for (int i = 0; i < 20'000; ++i) {
    int const exponent = int(random() % 200) - 100;
    sum_of_numbers<double> const s{number(exponent), number(exponent - bits_apart), number(exponent - 2 * bits_apart)};
    i64 const n = 1 + i64(random() % 1000);
    oracle::accumulator<double> right;
    right.add(s.high), right.add(s.middle), right.add(s.low);
    if (To q{}; detail::rounds_to(detail::quotient<To>(detail::as_near_number<To>(s), double(n)), q)) {
      ++certain;
      if constexpr (sizeof(To) == sizeof(double)) wrong += !testing::same_bits(q, right.over(n));
    }
    if (To q{}; detail::rounds_to(detail::as_near_number<To>(s), q)) {
      testing::exact_accumulator exactly;
      exactly.add(s.high), exactly.add(s.middle), exactly.add(s.low);
      wrong += !testing::same_bits(q, exactly.rounded<To>());
    }
  }
  CHECK(wrong == 0);
  CAPTURE(bits_apart);
  CHECK(certain >= least_certain);
}

} // namespace

TEST_CASE("near quotients are the rounded ones, and nearly all are beyond doubt") {
  for (int bits_apart : {0, 10, 40, 53}) {
    check_quotients<double>(bits_apart, bits_apart == 0 ? 15'000 : 19'900); // two numbers have no room for three of one size
    check_quotients<float>(bits_apart, 19'900);
  }
}

TEST_CASE("in the middle of two neighbours, and at the ends of doubles, there is doubt") {
  double q = 0;
  float f = 0;
  CHECK_FALSE(detail::rounds_to<float>({1.0, 0, 0x1p-20}, f));
  CHECK_FALSE(detail::rounds_to<float>(detail::near_number{1.0 + 0x1p-24, 0, 0}, f)); // a bound is on either side
  CHECK_FALSE(detail::rounds_to<double>({1.0, 0x1p-53, 0x1p-80}, q));
  CHECK_FALSE(detail::rounds_to<double>({0x1p-1000, 0, 0}, q));
  CHECK_FALSE(detail::rounds_to<double>({0x1p1000, 0, 0}, q));
  CHECK(detail::rounds_to<double>({1.0, 0x1p-54, 0x1p-80}, q));
  CHECK(q == 1.0);
  CHECK(detail::rounds_to<float>({0x1p200, 0, 0}, f));
  CHECK(std::isinf(f));
}

TEST_CASE("a variance of nothing but one number is told only where it is zero") {
  double answer = 7;
  sum_of_numbers<double> const zero{0, 0, 0}, three{3, 0, 0}, nine{9, 0, 0};
  CHECK(detail::covariance_of_numbers(zero, zero, zero, 4, 0, answer));
  CHECK(answer == 0);
  CHECK_FALSE(detail::covariance_of_numbers(three, three, nine, 1, 0, answer)); // 9 - 9: of which bits are right, nobody knows
  sum_of_numbers<double> const ten{10, 0, 0}, thirty{30, 0, 0};
  CHECK(detail::covariance_of_numbers(ten, ten, thirty, 4, 0, answer)); // of 1, 2, 3 and 4
  CHECK(answer == 1.25);
  CHECK(detail::covariance_of_numbers(ten, ten, thirty, 4, 1, answer));
  CHECK(answer == 5.0 / 3);
}
