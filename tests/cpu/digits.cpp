// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers cut into digits are the sum of their digits; tables of digits hold the digits of what was added; sums by key are right where digits fill up and
// where elements have bits behind all of them.
#include <tally/run/cpu_digits.hpp>
#include <tally/run/few_of_slots.hpp>
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace tally::v0;

namespace {

cpu::digit_cutters cutters(int top, int bits) {
  cpu::digit_cutters by;
  by.top = std::ldexp(1.0, top);
  by.most = i64(1) << bits;
  for (int k = 0; k < cpu::most_digits; ++k) by.shift[k] = std::ldexp(1.5, std::max(top - (k + 1) * bits, -1074) + 52);
  return by;
}
double unit_of(cpu::digit_cutters const& by, int k) { return std::ldexp(by.shift[k] / 1.5, -52); }

/// Numbers of all kinds below 2^4, some with few bits, some tiny, and now and then one that is no number or not below.
double any_number(std::mt19937_64& random) {
  static constexpr double odd[] = {0.0, -0.0, 16.0, -16.0, 1e300, std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                                   std::numeric_limits<double>::quiet_NaN(), 1e-310, 5e-324, std::numeric_limits<double>::max()};
  if (random() % 16 == 0) return odd[random() % std::size(odd)];
  double const x = std::ldexp(double(i64(random()) >> (random() % 2 == 0 ? 11 : 40)), -60 - int(random() % 8 == 0 ? random() % 400 : random() % 12));
  return x;
}

/// The exponent of the last bit of a number that is not zero.
int lowest_bit(double x) {
  int e = std::ilogb(x) - 52;
  while (std::fmod(x, std::ldexp(1.0, e + 1)) == 0) ++e;
  return e;
}

void check_tables(int bits, int width, int n, u64 seed) {
  std::mt19937_64 random(seed);
  auto const by = cutters(4, bits);
  constexpr std::size_t slots = 5;
  for (bool const of_products : {false, true}) {
    std::vector<double> x(64), y(64);
    std::vector<u32> to(64);
    for (std::size_t j = 0; j < std::size_t(n); ++j) x[j] = any_number(random), y[j] = any_number(random), to[j] = u32(random() % slots);
    auto const given = x, by_given = y;
    std::vector<i64> table((slots + 1) * std::size_t(width)), expected(table.size());
    cpu::near_digits const near{table.data(), width, u32(slots)};
    u64 const more = of_products ? cpu::add_digits(near, n, x.data(), y.data(), to.data(), by) : cpu::add_digits(near, n, x.data(), to.data(), by);
    u64 expected_more = 0;
    for (std::size_t j = 0; j < std::size_t(n); ++j) {
      auto const d = of_products ? cpu::cut(given[j], by_given[j], by) : cpu::cut(given[j], by);
      if (d.count > width) expected_more |= u64(1) << j;
      for (int k = 0; d.below_top && k < width; ++k) expected[to[j] * std::size_t(width) + std::size_t(k)] += d.of[k];
    }
    CHECK(more == expected_more);
    CHECK(table == expected);
  }
}

} // namespace

TEST_CASE("a number is the sum of its digits, or is said to have bits for which there are none") {
  std::mt19937_64 random(1);
  int whole = 0;
  for (int const bits : {35, 40, 46})
    for (int i = 0; i < 20'000; ++i) {
      auto const by = cutters(4, bits);
      double const x = any_number(random);
      auto const d = cpu::cut(x, by);
      CHECK(d.below_top == (std::abs(x) < 16));
      if (!d.below_top) {
        CHECK(d.count > cpu::most_digits);
        continue;
      }
      double left = x;
      int count = 0;
      for (int k = 0; k < cpu::most_digits; ++k) {
        CHECK(std::abs(d.of[k]) <= by.most);
        left -= static_cast<double>(d.of[k]) * unit_of(by, k);
        if (d.of[k] != 0) count = k + 1;
      }
      CHECK((left == 0) == (d.count <= cpu::most_digits));
      if (left == 0) CHECK(d.count == count);
      whole += left == 0;
    }
  CHECK(whole > 40'000);
}

TEST_CASE("a product is the sum of its digits to the last bit") {
  std::mt19937_64 random(2);
  auto const by = cutters(4, 46);
  int whole = 0;
  for (int i = 0; i < 20'000; ++i) {
    double const x = any_number(random), y = any_number(random);
    auto const d = cpu::cut(x, y, by);
    if (d.count > cpu::most_digits) {
      bool const fits = std::abs(x * y) < 16 && (x == 0 || y == 0 || lowest_bit(x) + lowest_bit(y) >= 4 - 46 * cpu::most_digits);
      CHECK(!fits);
      continue;
    }
    double left = x * y, rest = std::fma(x, y, -left);
    for (int k = 0; k < cpu::most_digits; ++k) { // digits of both, the greater half first
      double const of_left = std::nearbyint(left / unit_of(by, k)), of_rest = k == 0 ? 0.0 : std::nearbyint(rest / unit_of(by, k));
      CHECK(static_cast<double>(d.of[k]) == of_left + of_rest);
      left -= of_left * unit_of(by, k);
      rest -= of_rest * unit_of(by, k);
    }
    CHECK(left == 0);
    CHECK(rest == 0);
    ++whole;
  }
  CHECK(whole > 5'000);
}

TEST_CASE("tables of one, two, four and eight digits hold the digits of what was added, and tell what has more") {
  for (int const width : {1, 2, 4, 8})
    for (int const bits : {35, 46})
      for (int n = 1; n <= 64; ++n) {
        CAPTURE(width);
        CAPTURE(n);
        check_tables(bits, width, n, u64(width * 1000 + n));
      }
}

TEST_CASE("few of many slots have a value, each its own") {
  few_of_slots<std::vector<int>> few(1000);
  CHECK(few.find(3) == nullptr);
  for (std::size_t const slot : {7u, 999u, 0u, 7u}) few[slot].push_back(int(slot));
  CHECK(few.find(3) == nullptr);
  CHECK(*few.find(7) == std::vector<int>{7, 7});
  CHECK(*few.find(0) == std::vector<int>{0});
  CHECK(few.all().size() == 3);
}

TEST_CASE("digits that fill up go on in wide integers: many equal numbers of one key") {
  i64 const n = 3'000'000;
  for (double const value : {1 - 0x1p-24, -(1 - 0x1p-24), double(1 + 0x1p-52)}) {
    std::vector<double> const x(std::size_t(n), value);
    for (int const threads : {1, 2})
      for (i64 const bins : {1, 3, 100'000}) {
        CAPTURE(bins);
        std::vector<i32> const keys(x.size(), i32(bins - 1));
        auto const sums = run(from(x, keys) | by_key(_2, bins, sum(_1), sum(_1 * _1)), on::cpu.threads(threads));
        CHECK(std::get<0>(sums)(bins - 1) == run(from(x) | sum, exact, on::cpu));
        CHECK(std::get<1>(sums)(bins - 1) == run(from(x) | sum(_1 * _1), exact, on::cpu));
      }
  }
}
