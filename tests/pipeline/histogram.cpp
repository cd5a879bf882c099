// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The grouping histogram: even bins in one to three dimensions.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

using namespace tally::v0;

namespace {
template <class T, int R>
std::vector<T> values(mdarray<T, R> const& a) {
  return {a.begin(), a.end()};
}
/// The bin of x by the edges alone.
i64 bin_by_edges(double x, double low, double high, i64 bins) {
  if (!(x >= low && x <= high))
    return -1;
  double const step = (high - low) / static_cast<double>(bins);
  i64 k = bins - 1;
  while (k > 0 && x < low + static_cast<double>(k) * step)
    --k;
  return k;
}
template <class T>
std::vector<i64> counted_one_by_one(std::vector<T> const& x, uniform_bins const& bin, i64 bins) {
  std::vector<i64> counts(static_cast<std::size_t>(bins));
  for (T const v : x)
    if (i32 const k = bin(static_cast<double>(v)); k >= 0) ++counts[static_cast<std::size_t>(k)];
  return counts;
}
std::vector<double> numbers(std::size_t n, double low, double high) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> any(low, high);
  std::vector<double> x(n);
  for (double& v : x)
    v = any(random);
  return x;
}
} // namespace

TEST_CASE("bins are closed below and open above, the last is closed; what lies outside and NaN is ignored") {
  std::vector<float> const x{0, 0.5f, 1, 1.5f, 2, 3, 4, -0.1f, 4.1f, std::nanf(""), std::numeric_limits<float>::infinity()};
  auto const h = run(from(x) | histogram(0, 4, 4));
  static_assert(std::is_same_v<decltype(h), mdarray<i64, 1> const>);
  CHECK(values(h) == std::vector<i64>{2, 2, 1, 2});
  CHECK(values(run(from(x) | histogram(_1 * 2.f, 0, 8, 4))) == std::vector<i64>{2, 2, 1, 2});
  std::vector<u8> const bytes{0, 255, 128, 127};
  CHECK(values(run(from(bytes) | histogram(0, 256, 2))) == std::vector<i64>{2, 2});
}

TEST_CASE("a number on an edge, or a rounding away from it, falls where the edges say") {
  for (i64 const bins : {1, 3, 7, 10, 100, 255}) {
    for (auto const& [low, high] : {std::pair(0.0, 1.0), std::pair(-0.1, 0.7), std::pair(1e6, 1e6 + 1e-3)}) {
      std::vector<double> x;
      for (i64 k = 0; k <= bins; ++k) {
        double const edge = low + static_cast<double>(k) * ((high - low) / static_cast<double>(bins));
        x.insert(x.end(), {std::nextafter(edge, -1e9), edge, std::nextafter(edge, 1e9)});
      }
      std::vector<i64> expected(static_cast<std::size_t>(bins));
      for (double const v : x)
        if (i64 const k = bin_by_edges(v, low, high, bins); k >= 0)
          ++expected[static_cast<std::size_t>(k)];
      CHECK(values(run(from(x) | histogram(low, high, bins))) == expected);
    }
  }
}

TEST_CASE("the rough way to the bin of a float ends where the exact one does") {
  std::mt19937 random(9);
  for (i64 const bins : {1, 2, 3, 7, 100, 256, 4096, 32768, 1'000'000})
    for (auto const& [low, high] : {std::pair(0.0, 1.0), std::pair(-0.1, 0.7), std::pair(1e6, 1e6 + 1e-3), std::pair(1000.0, 1001.0),
                                    std::pair(-3e38, 3e38), std::pair(-1e300, 1e300), std::pair(0.0, 1e-44), std::pair(-1e39, 1e36)}) {
      auto const bin = uniform_bins::over(low, high, bins);
      bool same = true;
      std::vector<float> looked_at;
      std::vector<double> beside;
      auto const look = [&](float x) {
        same = same && bin(x) == bin(static_cast<double>(x));
        looked_at.push_back(x);
        beside.insert(beside.end(), {std::nextafter(static_cast<double>(x), -1e308), static_cast<double>(x), std::nextafter(static_cast<double>(x), 1e308)});
      };
      for (int i = 0; i < 3000; ++i) {
        double const edge = low + static_cast<double>(random() % static_cast<unsigned>(bins + 1)) * bin.step;
        float const near = static_cast<float>(edge);
        look(near);
        look(std::nextafter(near, -1e38f));
        look(std::nextafter(near, 1e38f));
        look(static_cast<float>(low + (high - low) * (static_cast<double>(random()) / 4294967296.0)));
      }
      for (float const x : {0.f, -0.f, 1e-45f, -1e30f, 3.4e38f, std::nanf(""), std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()})
        look(x);
      CAPTURE(bins);
      double const least = low;
      CAPTURE(least);
      CHECK(same);
      CHECK(values(run(from(looked_at) | histogram(low, high, bins), on::cpu)) == counted_one_by_one(looked_at, bin, bins)); // a register at a time
      CHECK(values(run(from(beside) | histogram(low, high, bins), on::cpu)) == counted_one_by_one(beside, bin, bins));
    }
}

TEST_CASE("integers, and floats of which many lie on edges, fall where each would alone") {
  std::mt19937_64 random(9);
  auto const check = [&]<class T>(std::vector<T> x) {
    for (T& v : x) v = static_cast<T>(i64(random() % 401) - 60);
    for (std::size_t i = 0; i < x.size(); i += 97) x[i] = std::numeric_limits<T>::max();
    for (auto const& [low, high] : {std::pair(0.0, 256.0), std::pair(-10.0, 300.0), std::pair(0.5, 77.25), std::pair(-1e18, 1e19)})
      for (i64 const bins : {1, 64, 100, 256, 1000})
        CHECK(values(run(from(x) | histogram(low, high, bins), on::cpu)) == counted_one_by_one(x, uniform_bins::over(low, high, bins), bins));
  };
  check(std::vector<u8>(5003));
  check(std::vector<i16>(5003));
  check(std::vector<i32>(5003));
  check(std::vector<u64>(5003));
  check(std::vector<float>(5003));
  check(std::vector<double>(5003));
}

TEST_CASE("any number of threads counts the same, few bins and many, behind filters too") {
  auto const x = numbers(300'000, -1, 11);
  for (i64 const bins : {1, 50, 4096, 200'000}) {
    std::vector<i64> expected(static_cast<std::size_t>(bins)), passing(expected);
    for (double const v : x)
      if (i64 const k = bin_by_edges(v, 0, 10, bins > 4096 ? 1 : bins); k >= 0 && bins <= 4096) {
        ++expected[static_cast<std::size_t>(k)];
        if (v < 5)
          ++passing[static_cast<std::size_t>(k)];
      }
    for (int const threads : {1, 2, 3, 8}) {
      auto const [every, some, total] =
          run(from(x) | reduce(histogram(0, 10, bins), histogram(0, 10, bins).of(count_if(_1 < 5.0)), count_if(_1 >= 0.0 && _1 <= 10.0)),
              on::cpu.threads(threads));
      i64 n = 0;
      for (i64 const c : every)
        n += c;
      CHECK(n == total);
      if (bins <= 4096) {
        CHECK(values(every) == expected);
        CHECK(values(some) == passing);
      }
      CHECK(run(from(x) | filter(_1 < 5.0) | histogram(0, 10, bins), on::cpu.threads(threads)) == some);
    }
  }
}

TEST_CASE("two and three dimensions, the first axis outermost") {
  auto const x = numbers(20'000, 0, 1);
  std::vector<double> y(x.size()), z(x.size());
  std::vector<i64> expected(2 * 3 * 4);
  for (std::size_t i = 0; i < x.size(); ++i) {
    y[i] = std::fmod(x[i] * 17, 1.25);
    z[i] = std::fmod(x[i] * 31, 1.0);
    i64 const a = bin_by_edges(x[i], 0, 1, 2), b = bin_by_edges(y[i], 0, 1, 3), c = bin_by_edges(z[i], 0, 1, 4);
    if (a >= 0 && b >= 0 && c >= 0)
      ++expected[static_cast<std::size_t>((a * 3 + b) * 4 + c)];
  }
  auto const h = run(from(x, y, z) | histogram(even_bins(_1, 0, 1, 2), even_bins(_2, 0, 1, 3), even_bins(_3, 0, 1, 4)));
  static_assert(std::is_same_v<decltype(h), mdarray<i64, 3> const>);
  CHECK(h.extent(0) == 2);
  CHECK(h.extent(2) == 4);
  CHECK(values(h) == expected);
  auto const flat = run(from(x, y) | histogram(even_bins(_1, 0, 1, 2), even_bins(_2, 0, 1, 3)));
  CHECK(flat.rank() == 2);
}

TEST_CASE("axes of keys, of every type, beside each other and beside even bins; keys that name no bin are left out") {
  std::mt19937 random(3);
  constexpr std::size_t n = 20'000;
  constexpr i64 months = 12, shops = 7, bins = 5;
  std::vector<i8> month(n);
  std::vector<u64> shop(n);
  std::vector<i64> far(n);
  std::vector<double> x(n);
  std::vector<i64> counts(months * shops * bins);
  std::vector<double> sums(months * shops);
  for (std::size_t i = 0; i < n; ++i) {
    month[i] = static_cast<i8>(int(random() % 15) - 2);
    shop[i] = random() % 50 == 0 ? ~u64(0) - random() % 9 : random() % 8;
    far[i] = i64(month[i]) + (random() % 40 == 0 ? i64(1) << 32 : 0);
    x[i] = double(random() % 1000) / 256;
    bool const inside = month[i] >= 0 && month[i] < months && shop[i] < u64(shops);
    if (inside) sums[static_cast<std::size_t>(month[i] * shops) + shop[i]] += x[i];
    if (i64 const k = bin_by_edges(x[i], 0, 3, bins); inside && k >= 0 && far[i] == month[i])
      ++counts[static_cast<std::size_t>((month[i] * shops + i64(shop[i])) * bins + k)];
  }
  auto const taken = run(from(month, shop, x) | histogram(key_bins(_1, months), key_bins(_2, shops), sum(_3)));
  static_assert(std::is_same_v<decltype(taken), mdarray<double, 2> const>);
  CHECK(values(taken) == sums); // of multiples of 2^-8
  CHECK(values(run(from(far, shop, x) | histogram(key_bins(_1, months), key_bins(_2, shops), even_bins(_3, 0, 3, bins)))) == counts);
  std::vector<i64> const of_months = values(run(from(month) | histogram(key_bins(_1, months))));
  CHECK(of_months == values(run(from(month) | by_key(_1, months, count).dropping_strays())));
  CHECK(values(run(from(month) | histogram(key_bins(_1 > 3, 2)))) == values(run(from(month) | by_key(_1 > 3, 2, count))));
  CHECK_THROWS_AS(run(from(month) | histogram(key_bins(_1, -1))), extent_mismatch);
  CHECK_THROWS_AS(run(from(month, shop) | histogram(key_bins(_1, i64(1) << 20), key_bins(_2, i64(1) << 20))), too_large);
}

TEST_CASE("any folds in place of the count: weights, means, extremes") {
  std::vector<float> const x{0.1f, 0.2f, 1.5f}, w{1, 2, 4};
  CHECK(values(run(from(x, w) | histogram(0, 2, 2, sum(_2)))) == std::vector<float>{3, 4});
  auto const [sums, least, n] = run(from(x, w) | histogram(0, 3, 3).of(sum(_2), min(_2).or_else(0.f), count));
  CHECK(values(sums) == std::vector<float>{3, 4, 0});
  CHECK(values(least) == std::vector<float>{1, 4, 0});
  CHECK(values(n) == std::vector<i64>{2, 1, 0});
}

TEST_CASE("bounds that make no bins are an error that names them") {
  std::vector<float> const x{1};
  CHECK_THROWS_AS(run(from(x) | histogram(1, 1, 4)), bad_bounds);
  CHECK_THROWS_AS(run(from(x) | histogram(0, 4e-309, 4)), bad_bounds); // four bins in 4e-309 are 1e309 in 1
  CHECK_NOTHROW(run(from(x) | histogram(0, 4e-307, 4)));
  CHECK_THROWS_AS(run(from(x) | histogram(0, std::numeric_limits<double>::infinity(), 4)), bad_bounds);
  CHECK_THROWS_WITH(run(from(x) | histogram(even_bins(_1, 0, 1, 2), even_bins(_1, 3, 2, 2))),
                    "[tally-E21] histogram axis 1 has the bounds 3 and 2; it takes finite ones, the first below the second, a finite number apart, "
                    "and so far that the bins of a distance of 1 are a finite number. "
                    "docs/errors.md#E21");
  CHECK_THROWS_AS(run(from(x) | histogram(0, 1, -1)), extent_mismatch);
  CHECK_THROWS_AS(run(from(x) | histogram(even_bins(_1, 0, 1, i64(1) << 20), even_bins(_1, 0, 1, i64(1) << 20))), too_large);
  CHECK(run(from(x) | histogram(0, 1, 0)).size() == 0);
}
