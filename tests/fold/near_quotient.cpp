// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Answers of sums that three numbers are, in doubles with a bound of their error: what is beyond doubt is what the oracle says, and seldom anything is in doubt.
#include <tally/fold/exact_nodes.hpp>
#include <tally/fold/near_quotient.hpp>

#include "exact/oracle.hpp"

#include <tally/testing_exact.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <random>

namespace {

using namespace tally::v0;

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
    if (To q{}; detail::quotient_to_nearest(detail::as_near_number(s), double(n), q)) {
      ++certain;
      if constexpr (sizeof(To) == sizeof(double)) wrong += !testing::same_bits(q, right.over(n));
    }
    if (To q{}; detail::to_nearest(detail::as_near_number(s), q)) {
      testing::exact_accumulator exactly;
      exactly.add(s.high), exactly.add(s.middle), exactly.add(s.low);
      wrong += !testing::same_bits(q, exactly.rounded<To>());
    }
  }
  CHECK(wrong == 0);
  CAPTURE(bits_apart);
  CHECK(certain >= least_certain);
}

/// Sums of three multiples of small powers of two over counts that are powers of two, or nearly: every quotient is told, and is the oracle's.
template <class V>
void check_grids() {
  constexpr int digits = std::numeric_limits<V>::digits;
  std::mt19937_64 random(5);
  auto const any = [&](int n) { return int(random() % unsigned(n)); };
  int wrong = 0, undecided = 0;
  for (int i = 0; i < 60'000; ++i) {
    int const bits = 1 + any(digits), coarse = any(digits + 4);
    auto const number = [&](int at) { return std::ldexp(V(i64(random() >> (64 - bits))) * V(any(2) == 0 ? 1 : -1), at); };
    sum_of_numbers<V> const s{number(coarse), number(any(coarse + 1)), any(2) == 0 ? V(0) : number(0)};
    i64 const n = (1 + 2 * (any(2) == 0 ? 0 : any(4))) * (i64(1) << any(27));
    oracle::accumulator<V> right;
    right.add(s.high), right.add(s.middle), right.add(s.low);
    V q{};
    if (detail::quotient_to_nearest(detail::as_near_number(s), double(n), q))
      wrong += !testing::same_bits(q, right.over(n));
    else
      ++undecided;
  }
  CHECK(wrong == 0);
  CHECK(undecided == 0);
}

/// Sums a hair above, below and in the middle of two neighbours, times a count: told from either neighbour.
template <class V>
void check_middles() {
  constexpr int digits = std::numeric_limits<V>::digits;
  std::mt19937_64 random(6);
  int wrong = 0, apart = 0;
  for (int i = 0; i < 20'000; ++i) {
    double const n = double(1 + random() % (1 << 20)), sign = random() % 2 == 0 ? 1 : -1;
    u64 const below = (u64(1) << (digits - 1)) + (random() >> (65 - digits)); // and the middle is half above
    auto const whole = math::detail::exact_product(sign * double(below), n);
    for (double hair : {0.0, 0x1p-20, -0x1p-20}) {
      double high = whole.high, low = 0, rest = whole.low;
      two_sum(high, sign * n / 2, low), two_sum(rest, low, low);
      detail::near_number const x = detail::as_near_number(sum_of_numbers<double>{high, rest, low + sign * hair});
      if (!detail::is_exact(x)) continue;
      ++apart;
      V const right = V(sign * double(hair > 0 || (hair == 0 && below % 2 != 0) ? below + 1 : below));
      // of doubles the neighbours are those of the quotient, of floats those doubles that its middle lies between
      double const first = sizeof(V) == 8 ? sign * double(below) : sign * (double(below) + 0.5);
      double const second = sizeof(V) == 8 ? sign * double(below + 1) : std::nextafter(first, sign * hair * HUGE_VAL);
      wrong += !testing::same_bits(detail::exact_quotient<V>(x, n, first), right);
      if (sizeof(V) == 8 || hair != 0) wrong += !testing::same_bits(detail::exact_quotient<V>(x, n, second), right);
      if (V q{}; !detail::quotient_to_nearest(x, n, q) || !testing::same_bits(q, right)) ++wrong;
    }
  }
  CHECK(wrong == 0);
  CHECK(apart > 50'000);
}

/// n * products - x * y of numbers of any width: what is said to be exact is, and of those of few bits all are.
void check_differences() {
  std::mt19937_64 random(8);
  auto const number = [&](int bits) { return double(i64(random()) >> (64 - bits)); };
  int wrong = 0, exact_ones = 0, of_few_bits = 0;
  for (int i = 0; i < 20'000; ++i) {
    bool const few = i % 2 == 0;
    int const bits = few ? 24 : 1 + int(random() % 53);
    double const n = double(2 + random() % 1000), x = number(bits), y = number(bits), high = number(few ? 40 : bits);
    detail::near_number const products = detail::as_near_number(sum_of_numbers<double>{high, few ? 0.0 : std::ldexp(number(1 + int(random() % 53)), i % 4 == 1 ? -60 : -110), 0});
    auto const difference = detail::exact_difference({x, 0, 0}, {y, 0, 0}, products, n);
    if (!detail::is_exact(difference)) continue;
    ++exact_ones, of_few_bits += few;
    oracle::accumulator<double> left; // nothing, where it is
    for (double p : {products.high, products.low}) {
      auto const one = math::detail::exact_product(n, p);
      left.add(one.high), left.add(one.low);
    }
    auto const less = math::detail::exact_product(x, y);
    for (double part : {less.high, less.low, difference.high, difference.low}) left.add(-part);
    wrong += left.over(1) != 0;
  }
  CHECK(wrong == 0);
  CHECK(of_few_bits == 10'000);
  CHECK(exact_ones > of_few_bits);
  CHECK(exact_ones < 20'000);
}

/// Variances and covariances of numbers of few bits: every one is told, and is that of whole states.
template <class V>
void check_covariances_on_grids(int bits) {
  using M = exact_sum_monoid<V, V, 1>;
  using MM = exact_sum_monoid<V, V, 2>;
  using held = stl::conditional_t<sizeof(V) == 4, double, V>;
  M const m{};
  MM const mm{};
  std::mt19937_64 random(9);
  int wrong = 0, undecided = 0;
  for (int i = 0; i < 6'000; ++i) {
    i64 const n = i % 3 == 0 ? i64(2) << (random() % 7) : 2 + i64(random() % 70);
    sum_of_numbers<V> sum_x{}, sum_y{};
    i64 sum_xy = 0;
    auto whole_x = m.identity(), whole_y = m.identity();
    auto whole_xy = mm.identity();
    bool const same = i % 5 == 0; // whose covariance is nothing
    for (i64 k = 0; k < n; ++k) {
      V const x = same ? V(3) : V(i64(random() >> (64 - bits))) - V(2), y = V(i64(random() >> (64 - bits)));
      sum_x.high += x, sum_y.high += y, sum_xy += i64(x) * i64(y);
      m.add(whole_x, x), m.add(whole_y, y), mm.add(whole_xy, x, y);
    }
    held const high = held(sum_xy);
    sum_of_numbers<held> const products{high, held(sum_xy - i64(high)), held(0)};
    for (i64 fewer : {0, 1}) {
      V told{};
      if (detail::covariance_of_numbers(sum_x, sum_y, products, double(n), double(fewer), told))
        wrong += !testing::same_bits(told, exact_covariance<V, V>(whole_x, whole_y, whole_xy, n, fewer));
      else
        ++undecided;
    }
  }
  CHECK(wrong == 0);
  CHECK(undecided == 0);
}

} // namespace

TEST_CASE("quotients of numbers of few bits are told also where they lie in the middle of two neighbours") {
  check_grids<float>();
  check_grids<double>();
  check_middles<float>();
  check_middles<double>();
}

TEST_CASE("differences of products are exact where they are said to be") { check_differences(); }

TEST_CASE("covariances of numbers of few bits are told also where they lie in the middle of two neighbours, and where they are nothing") {
  for (int bits : {2, 8, 16}) {
    check_covariances_on_grids<float>(bits);
    check_covariances_on_grids<double>(bits);
  }
  check_covariances_on_grids<double>(26); // the sums of whose products have more bits than a double
}

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
  CHECK(detail::to_nearest(detail::near_number{1.0 + 0x1p-24, 0, 0}, f)); // where x is exact there is none
  CHECK(f == 1.f);
  CHECK(detail::to_nearest(detail::near_number{1.0 + 0x1p-24, 0x1p-80, 0}, f));
  CHECK(f == 1.f + 0x1p-23f);
  CHECK_FALSE(detail::rounds_to<double>({1.0, 0x1p-53, 0x1p-80}, q));
  CHECK_FALSE(detail::rounds_to<double>({0x1p-1000, 0, 0}, q));
  CHECK_FALSE(detail::rounds_to<double>({0x1p1000, 0, 0}, q));
  CHECK(detail::rounds_to<double>({1.0, 0x1p-54, 0x1p-80}, q));
  CHECK(q == 1.0);
  CHECK(detail::rounds_to<float>({0x1p200, 0, 0}, f));
  CHECK(std::isinf(f));
}

TEST_CASE("variances of nothing, of one number, and of 1, 2, 3 and 4") {
  double answer = 7;
  sum_of_numbers<double> const zero{0, 0, 0}, three{3, 0, 0}, nine{9, 0, 0};
  CHECK(detail::covariance_of_numbers(zero, zero, zero, 4, 0, answer));
  CHECK(answer == 0);
  answer = 7;
  CHECK(detail::covariance_of_numbers(three, three, nine, 1, 0, answer));
  CHECK(answer == 0);
  sum_of_numbers<double> const longer{3, 0x1p-60, 0};
  CHECK_FALSE(detail::covariance_of_numbers(longer, longer, nine, 1, 0, answer)); // 9 - 9: of which bits are right, nobody knows
  sum_of_numbers<double> const ten{10, 0, 0}, thirty{30, 0, 0};
  CHECK(detail::covariance_of_numbers(ten, ten, thirty, 4, 0, answer)); // of 1, 2, 3 and 4
  CHECK(answer == 1.25);
  CHECK(detail::covariance_of_numbers(ten, ten, thirty, 4, 1, answer));
  CHECK(answer == 5.0 / 3);
}
