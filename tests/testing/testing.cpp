// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tally/testing.hpp: the exact sum is exact, checks see what they should see, and what fails to be equal is readable.
#include "faults/child.hpp"

#include <tally/testing.hpp>

#include <tally/fold/folds.hpp>
#include <tally/pipeline/filter.hpp>
#include <tally/pipeline/from.hpp>
#include <tally/pipeline/map.hpp>
#include <tally/plan/targets.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace {

using namespace tally::v0;
using testing::exact_sum;
using testing::same_bits;

__extension__ using i128 = __int128;
__extension__ using u128 = unsigned __int128;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// The exact sum by another way: a list of doubles that do not overlap (Shewchuk), whose sum is rounded once.
double expansion_sum(std::vector<double> const& terms) {
  std::vector<double> parts;
  for (double x : terms) {
    std::vector<double> kept;
    for (double y : parts) {
      if (std::fabs(x) < std::fabs(y)) std::swap(x, y);
      double const s = x + y, rest = y - (s - x);
      if (rest != 0) kept.push_back(rest);
      x = s;
    }
    kept.push_back(x);
    parts = kept;
  }
  double s = 0, rest = 0;
  auto i = parts.size();
  while (i > 0 && rest == 0) {
    double const x = s, y = parts[--i];
    s = x + y;
    rest = y - (s - x);
  }
  if (i > 0 && ((rest < 0 && parts[i - 1] < 0) || (rest > 0 && parts[i - 1] > 0))) { // a tie that is none
    double const twice = 2 * rest, x = s + twice;
    if (twice == x - s) s = x;
  }
  return s;
}

/// Terms of a spread of exponents, followed by nearly the same with the other sign.
std::vector<double> cancelling_terms(std::mt19937_64& random, int lowest, int highest) {
  std::vector<double> terms;
  auto const any = [&] {
    return std::ldexp(double(i64(random()) >> 11), lowest + int(random() % unsigned(highest - lowest + 1)) - 52);
  };
  int const n = 1 + int(random() % 40);
  for (int i = 0; i < n; ++i) terms.push_back(any());
  for (int i = 0; i < n; ++i)
    if (random() % 4 != 0) terms.push_back(-terms[std::size_t(i)] * (random() % 8 ? 1 : 0.5));
  std::shuffle(terms.begin(), terms.end(), random);
  return terms;
}

} // namespace

TEST_CASE("the exact sum agrees with expansions of doubles, whatever cancels") {
  std::mt19937_64 random(5);
  for (auto [lowest, highest] : {std::pair(-20, 20), std::pair(-60, 60), std::pair(-400, 400), std::pair(-1000, -900)})
    for (int round = 0; round < 500; ++round) {
      auto const terms = cancelling_terms(random, lowest, highest);
      double const expected = expansion_sum(terms);
      REQUIRE(exact_sum(terms) == expected);
    }
}

TEST_CASE("the exact sum agrees with 128-bit integers") {
  std::mt19937_64 random(6);
  for (int round = 0; round < 500; ++round) {
    std::vector<float> terms;
    i128 total = 0; // in units of 2^-40
    for (int i = 0; i < 100; ++i) {
      int const shift = int(random() % 60);
      i64 const size = i64(random() % (1u << 24)) - (1 << 23);
      terms.push_back(std::ldexp(float(size), shift - 40));
      total += i128(size) << shift;
    }
    bool const negative = total < 0;
    auto rest = static_cast<u128>(negative ? -total : total);
    int dropped = 0;
    bool sticky = false, halfway = false;
    while (rest >> 24 != 0) sticky = sticky || halfway, halfway = (rest & 1) != 0, rest >>= 1, ++dropped;
    if (halfway && (sticky || (rest & 1) != 0)) ++rest;
    float const expected = std::ldexp(float(u64(rest)), dropped - 40);
    REQUIRE(exact_sum(terms) == (negative ? -expected : expected));
  }
}

TEST_CASE("the exact sum rounds once, halves to even") {
  CHECK(exact_sum(std::vector{1.0, 0x1p-53}) == 1.0);
  CHECK(exact_sum(std::vector{1.0, 0x1p-53, 0x1p-1074}) == 1.0 + 0x1p-52);
  CHECK(exact_sum(std::vector{1.0 + 0x1p-52, 0x1p-53}) == 1.0 + 0x1p-51);
  CHECK(exact_sum(std::vector{1.0, -0x1p-54, -0x1p-1074}) == 1.0 - 0x1p-53);
  CHECK(exact_sum<float>(std::vector{1.0, 0x1p-24, 0x1p-80}) == 1.0f + 0x1p-23f);
  CHECK(exact_sum(std::vector{1.0f, 0x1p-24f}) == 1.0f);
  CHECK(exact_sum<f16>(std::vector{2048.0f, 1.0f}).bits == f16(2048.0f).bits);
  CHECK(exact_sum<f16>(std::vector{2048.0f, 1.0f, 0x1p-20f}).bits == f16(2050.0f).bits);
  CHECK(exact_sum<bf16>(std::vector{256.0f, 1.0f}).bits == bf16(256.0f).bits);
}

TEST_CASE("the exact sum knows no overflow midway, and the ends of the range") {
  double const largest = std::numeric_limits<double>::max(), tiny = std::numeric_limits<double>::denorm_min();
  CHECK(exact_sum(std::vector{largest, largest, -largest, -largest, 1.0}) == 1.0);
  CHECK(exact_sum(std::vector{largest, largest}) == infinity);
  CHECK(exact_sum(std::vector{-largest, -0x1p970}) == -infinity);
  CHECK(exact_sum(std::vector{largest, 0x1p969}) == largest);
  CHECK(exact_sum(std::vector{tiny, tiny, tiny}) == 3 * tiny);
  CHECK(exact_sum<float>(std::vector{0x1p-150}) == 0.0f);
  CHECK(exact_sum<float>(std::vector{0x1p-150, tiny}) == 0x1p-149f);
  CHECK(exact_sum<float>(std::vector{0x1p127, 0x1p127}) == float(infinity));
  CHECK(exact_sum(std::vector<float>(1000003, 0x1p-149f)) == 1000003 * 0x1p-149f);
}

TEST_CASE("the exact sum of NaN, infinities and zeros is IEEE's") {
  double const nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(std::isnan(exact_sum(std::vector{1.0, nan})));
  CHECK(std::isnan(exact_sum(std::vector{infinity, 1.0, -infinity})));
  CHECK(exact_sum(std::vector{infinity, -1.0}) == infinity);
  CHECK(same_bits(exact_sum(std::vector{-0.0, -0.0}), -0.0));
  CHECK(same_bits(exact_sum(std::vector{-0.0, 0.0}), 0.0));
  CHECK(same_bits(exact_sum(std::vector{0.0, -0.0}), 0.0));
  CHECK(same_bits(exact_sum(std::vector{1.5, -1.5}), 0.0));
  CHECK(same_bits(exact_sum(std::vector<double>()), 0.0));
}

TEST_CASE("same_bits tells zeros apart, and takes one NaN for itself") {
  float const nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(same_bits(1.0f, 1.0f));
  CHECK_FALSE(same_bits(0.0f, -0.0f));
  CHECK(same_bits(nan, nan));
  CHECK_FALSE(same_bits(nan, -nan));
  CHECK(same_bits(std::tuple(1, 2.0, nan), std::tuple(1, 2.0, nan)));
  CHECK_FALSE(same_bits(std::tuple(1, 0.0), std::tuple(1, -0.0)));
  CHECK(same_bits(std::optional<float>(), std::optional<float>()));
  CHECK_FALSE(same_bits(std::optional<float>(), std::optional(0.0f)));
  CHECK_FALSE(same_bits(std::optional(-0.0f), std::optional(0.0f)));
  std::tuple<std::optional<i64>, float> one(17, 1.0f), other(18, 1.0f); // what an empty optional held does not matter
  std::get<0>(one).reset(), std::get<0>(other).reset();
  CHECK(same_bits(one, other));
  CHECK_FALSE(same_bits(std::tuple(moments_result<float, 3>{1, 2, {3, 0.0f}}), std::tuple(moments_result<float, 3>{1, 2, {3, -0.0f}})));
  CHECK(same_bits(extent_of_values<float>{1, 2}, extent_of_values<float>{1, 2}));
  CHECK_FALSE(same_bits(extent_of_values<float>{0.0f, 2}, extent_of_values<float>{-0.0f, 2}));
  CHECK_FALSE(same_bits(moments_result<float, 3>{1, 2, {3, 0.0f}}, moments_result<float, 3>{1, 2, {3, -0.0f}}));
}

TEST_CASE("check_same_bits passes what keeps its promise") {
  std::vector<float> x(70001);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::ldexp(float(i % 1001) - 500, int(i % 13));
  std::vector<double> y(x.begin(), x.end());
  CHECK(testing::check_same_bits(from(x, y) | filter(_1 > 0.f) | reduce(sum(_1 * _2), argmax, mean)));
  CHECK(testing::check_same_bits(from(every(x.data() + 70000, 35001, -2)) | reduce(sum, first)));
}

namespace {
TEST_SUITE("checks that fail" * doctest::skip(true)) {
  TEST_CASE("a function that remembers has other bits every time") {
    std::vector<float> x(10);
    float calls = 0;
    testing::check_same_bits(from(x) | map([&calls](float v) { return v + (calls += 1); }) | sum);
  }
}
} // namespace

TEST_CASE("check_same_bits fails where the bits change, and says which run changed them") {
  auto const child = run_suite("checks that fail", "OMP_NUM_THREADS=2");
  CAPTURE(child.output);
  CHECK(child.status != 0);
  CHECK(child.output.find("3 threads gives other bits than one thread of the CPU: from(f32[10])") != std::string::npos);
}

TEST_CASE("check_invariance passes what depends on its own rows alone") {
  std::vector<float> x(20011);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::ldexp(float(i % 1001) - 500, int(i % 13));
  std::vector<int> k(x.size());
  for (std::size_t i = 0; i < k.size(); ++i) k[i] = int(i * 7919 % 10007) - 5000;
  CHECK(testing::check_invariance(from(x, k) | filter(_2 > 0) | reduce(sum(_1), argmax, count)));
  CHECK(testing::check_invariance(from(k) | reduce(sum, min, any(_1 == 3))));
  CHECK(testing::check_invariance(from(x) | sum, exact));
  CHECK(testing::check_invariance(from(every(x.data() + 20010, 10000, -2), iota(10000)) | reduce(sum(_1 * cast<float>(_2)), max(tally::index))));
  CHECK(testing::check_invariance(from(x) | map([](float v) { return v * 3; }) | reduce(sum, min.maybe())));
  CHECK(testing::check_invariance(device(static_cast<float const*>(nullptr), 0) | sum));
}

namespace {
TEST_SUITE("bits that depend on neighbours" * doctest::skip(true)) {
  TEST_CASE("a fold whose identity is not neutral sees the rows that pad it") {
    std::vector<double> const x(100, 1.0);
    auto const add_one = fold_of(0.0, [](double a, double b) { return a + b + 1; }, [](double v) { return v; }, [](double s) { return s; },
                                 associative, commutative);
    testing::check_invariance(from(x) | add_one);
  }
  TEST_CASE("a fold that is free of order in name alone changes when its rows do") {
    std::vector<int> x(100);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = int(i);
    auto const half = fold_of(0, [](int a, int b) { return a / 2 + b; }, [](int v) { return v; }, [](int s) { return s; }, order_free);
    testing::check_invariance(from(x) | half);
  }
}
} // namespace

TEST_CASE("check_invariance fails where bits depend on more than the rows, and says on what") {
  auto const child = run_suite("bits that depend on neighbours", "OMP_NUM_THREADS=2");
  CAPTURE(child.output);
  CHECK(child.status != 0);
  CHECK(child.output.find("padded with masked rows, it gives other bits than alone: from(f64[100])") != std::string::npos);
  CHECK(child.output.find("permuted, it gives other bits than alone: from(i32[100])") != std::string::npos);
}

TEST_CASE("planned_for gives the choices to check") {
  auto const x = device(reinterpret_cast<float const*>(0x100000000u), 1 << 20);
  auto const aligned = testing::planned_for(from(x) | sum, targets::h200);
  CHECK(aligned.plan.sources[0].load == load_primitive::vector_ldg);
  CHECK(aligned.plan.order == combine_order::canonical_tree);
  CHECK(aligned.blocks >= 1);
  auto const one_off = device(x.column.data + 1, 1 << 20);
  CHECK(testing::planned_for(from(one_off) | sum, targets::h200).plan.sources[0].load == load_primitive::striped_ldg);
  auto const doubles = device(reinterpret_cast<double const*>(0x100000000u), 1 << 20);
  CHECK(testing::planned_for(from(doubles) | reduce(moments<4>, variance), targets::h200, fast).plan.order == combine_order::free);
  auto const host_only = from(x) | map([](float v) { return v; }) | sum;
  CHECK_THROWS_AS(testing::planned_for(host_only, targets::h200), no_gpu);
}

TEST_CASE("what a failing check shows can be read") {
  std::vector<float> x(1000);
  auto const text = [](auto const& shown) { return std::string(doctest::toString(shown).c_str()); };
  CHECK(text(from(x) | filter(_1 > 0.f) | reduce(sum(_1 * _1), count)) ==
        "from(f32[1000]) | filter(_1 > 0) | reduce(sum(_1 * _1), count)");
  CHECK(text(from(x) | filter(_1 > 0.f)) == "from(f32[1000]) | filter(_1 > 0)");
  CHECK(text(sum(_1 + 1.f) / count) == "sum(_1 + 1) / count");
  CHECK(text(_1 * 2.f) == "_1 * 2");
  using tally::v0::toString;
  CHECK(std::string(toString(load_primitive::bulk_ring).c_str()) == "bulk_ring");
  auto const explained = explain(from(x) | sum, targets::h200);
  CHECK(text(explained) == "\n" + explained.text());
  auto const chosen = testing::planned_for(from(x) | sum, targets::h200);
  CHECK(text(chosen.plan).find("tally::v0::plan{.promise = tally::v0::contract::reproducible") == 0);
  REQUIRE(chosen.why_not.count > 0);
  CHECK(text(chosen).find(std::string("\n  not ") + chosen.why_not.entries[0].choice + ": ") != std::string::npos);
  CHECK(text(extent_of_values<signed char>{-3, 4}) == "min -3, max 4");
  CHECK(text(moments_result<double, 2>{3, 2, {0.5}}) == "3 elements, mean 2, central moments 0.5");
}
