// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hard inputs against the exact oracle: the error of a tree sum stays below (log2 n + rows of a leaf) units times the sum of
// sizes, and compensated() below about one unit of the answer, whatever the condition.
#include <tally/tally.hpp>
#include <tally/testing.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace {

using namespace tally;
using testing::exact_accumulator;
using testing::same_bits;

template <class T>
constexpr double unit = std::numeric_limits<T>::epsilon() / 2.0;

/// Checks sum and sum.compensated() against the oracle, unless the sizes overflow.
template <class T>
void check_sum(char const* what, std::vector<T> const& x) {
  CAPTURE(what);
  CAPTURE(x.size());
  exact_accumulator total, sizes;
  for (T v : x) total.add(v), sizes.add(std::fabs(v));
  auto const size = sizes.rounded<double>(), exact = total.rounded<double>();
  REQUIRE(size <= double(std::numeric_limits<T>::max()));
  auto const [plain, compensated] = run(from(x) | reduce(sum, sum.compensated()));
  double const n = static_cast<double>(std::max<std::size_t>(x.size(), 2));
  auto const error_of = [&](T got) {
    exact_accumulator rest = total;
    rest.add(-static_cast<double>(got));
    return std::fabs(rest.rounded<double>());
  };
  CHECK(error_of(plain) <= (std::log2(n) + 9) * unit<T> * size);
  CHECK(error_of(compensated) <= 2 * unit<T> * std::fabs(exact) + 64 * n * unit<T> * unit<T> * size);
}

/// Numbers whose sum is smaller than their sizes by `condition` (Ogita, Rump and Oishi's GenSum).
template <class T>
std::vector<T> ill_conditioned(std::size_t n, double condition, std::mt19937_64& random) {
  int const bits = int(std::log2(condition));
  std::uniform_real_distribution<double> unit_interval(-1, 1);
  std::vector<T> x;
  exact_accumulator so_far;
  auto const take = [&](double v) {
    x.push_back(static_cast<T>(v));
    so_far.add(static_cast<double>(x.back()));
  };
  for (std::size_t i = 0; i < n / 2; ++i)
    take(std::ldexp(unit_interval(random), i == 0 ? bits / 2 : int(random() % unsigned(bits / 2 + 1))));
  for (std::size_t i = n / 2; i < n; ++i) {
    int const left = int(double(bits) / 2 * double(n - 1 - i) / double(n - n / 2));
    take(std::ldexp(unit_interval(random), left) - so_far.rounded<double>());
  }
  std::shuffle(x.begin(), x.end(), random);
  return x;
}

template <class T>
std::vector<T> between(std::size_t n, int lowest, int highest, std::mt19937_64& random) {
  std::uniform_real_distribution<double> size(1, 2);
  std::vector<T> x(n);
  for (T& v : x) {
    v = static_cast<T>(std::ldexp(size(random), lowest + int(random() % unsigned(highest - lowest + 1))));
    if (random() % 2) v = -v;
  }
  return x;
}

} // namespace

TEST_CASE("ill-conditioned sums stay within the bound of the tree") {
  std::mt19937_64 random(1);
  for (std::size_t n : {6u, 100u, 1000u, 5000u, 70001u})
    for (double condition : {1.0, 1e4, 1e8, 1e16, 1e30, 1e60}) {
      check_sum("GenSum f32", ill_conditioned<float>(n, condition, random));
      check_sum("GenSum f64", ill_conditioned<double>(n, condition * condition, random));
    }
}

TEST_CASE("ill-conditioned dot products stay within the bound of the tree and one rounding more") {
  std::mt19937_64 random(2);
  for (std::size_t n : {6u, 1000u, 70001u})
    for (int spread : {1, 10, 40}) {
      auto const x = between<float>(n, -spread, spread, random), y = between<float>(n, -spread, spread, random);
      exact_accumulator total, sizes;
      for (std::size_t i = 0; i < n; ++i) {
        double const product_of_two = double(x[i]) * double(y[i]); // exact
        total.add(product_of_two), sizes.add(std::fabs(product_of_two));
      }
      total.add(-static_cast<double>(run(from(x, y) | sum(_1 * _2))));
      CHECK(std::fabs(total.rounded<double>()) <= (std::log2(double(n)) + 10) * unit<float> * sizes.rounded<double>());
    }
}

TEST_CASE("the ends of the range: denormals, the smallest and the largest numbers") {
  std::mt19937_64 random(3);
  for (std::size_t n : {7u, 1025u, 70001u}) {
    check_sum("denormals f32", between<float>(n, -149, -127, random));
    check_sum("denormals f64", between<double>(n, -1074, -1023, random));
    check_sum("tiny f32", between<float>(n, -149, -120, random));
    check_sum("large f64", between<double>(n, 930, 1000, random));
    check_sum("large f32", between<float>(n, 60, 105, random));
    check_sum("everything f64", between<double>(n, -1000, 1000, random));
  }
}

TEST_CASE("one huge number and many tiny ones; halfway cases") {
  for (std::size_t n : {100u, 5000u, 100001u})
    for (std::size_t at : {std::size_t(0), n / 2, n - 1}) {
      std::vector<float> x(n, 1.f);
      x[at] = 0x1p24f;
      check_sum("2^24 and ones", x);
      x[at] = 0x1p100f;
      check_sum("2^100 and ones", x);
      std::vector<double> y(n, 0x1p-53);
      y[at] = 1.0;
      check_sum("1 and half units", y);
      y.push_back(-1.0);
      check_sum("1, half units, -1", y);
    }
}

TEST_CASE("zeros of either sign add up to +0") {
  for (std::size_t n : {1u, 2u, 1024u, 70001u}) {
    std::vector<float> const plus(n, 0.f), minus(n, -0.f);
    CHECK(same_bits(run(from(plus) | reduce(sum, sum.compensated())), std::tuple(0.f, 0.f)));
    CHECK(same_bits(run(from(minus) | reduce(sum, sum.compensated())), std::tuple(0.f, 0.f)));
  }
}

TEST_CASE("a sum that overflows midway is what IEEE makes of it in the tree's order, never a wrong number") {
  double const most = std::numeric_limits<double>::max();
  auto const total = [](std::vector<double> const& x) { return run(from(x) | sum); };
  CHECK(total({most, -most, most, -most}) == 0.0);
  CHECK(same_bits(total({most, most, -most, -most}), std::numeric_limits<double>::quiet_NaN())); // inf - inf
  CHECK(total({most, most, -most, 0.0}) == std::numeric_limits<double>::infinity());
  std::vector<double> pairs(4096, most);
  for (std::size_t i = 1; i < pairs.size(); i += 2) pairs[i] = -most;
  CHECK(total(pairs) != total(pairs)); // lanes of one sign each overflow before they meet
  std::vector<float> narrow(4096, std::numeric_limits<float>::max());
  CHECK(run(from(narrow) | sum.in<double>()) == 4096 * double(std::numeric_limits<float>::max()));
}

TEST_CASE("denormals are not flushed by any fold") {
  float const tiny = std::numeric_limits<float>::denorm_min();
  std::vector<float> x(3000, 3 * tiny);
  x[1500] = -tiny;
  x[1501] = 2 * tiny;
  auto const [least, most, where, total, middle] = run(from(x) | reduce(min, max, argmin, sum, mean.where(_1 > 0.f)));
  CHECK(least == -tiny);
  CHECK(most == 3 * tiny);
  CHECK(where == 1500);
  CHECK(total == tiny * (2998 * 3 + 1));
  CHECK(middle == 3 * tiny);
}
