// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A hundred thousand ill-conditioned vectors, condition to 1e60 in f32 and to 1e120 in f64: every sum, mean and dot product
// under exact is the correctly rounded one.
#include "exact/vectors.hpp"

#include <tally/tally.hpp>
#include <tally/testing.hpp>

#include <doctest/doctest.h>

namespace {

using namespace tally;

constexpr auto one_thread = on::cpu.threads(1);

/// 1e60 in f32, 1e120 in f64.
template <class T>
constexpr int hardest = sizeof(T) == 4 ? 199 : 398;

template <class T>
int wrong_sums(int vectors, unsigned seed) {
  std::mt19937_64 random(seed);
  int wrong = 0;
  for (int i = 0; i < vectors; ++i) {
    auto const n = 2 + random() % 40;
    auto const x = oracle::ill_conditioned_sum<T>(n, static_cast<int>(random() % (hardest<T> + 1)), random);
    oracle::accumulator<T> expected;
    for (T v : x) expected.add(v);
    auto const [total, average] = run(from(x) | reduce(sum, mean), exact, one_thread);
    wrong += !testing::same_bits(total, expected.over(1));
    wrong += !testing::same_bits(average, expected.over(static_cast<std::int64_t>(n)));
  }
  return wrong;
}

template <class T>
int wrong_dot_products(int vectors, unsigned seed) {
  std::mt19937_64 random(seed);
  int wrong = 0;
  for (int i = 0; i < vectors; ++i) {
    auto const n = 2 + random() % 30;
    auto const f = oracle::ill_conditioned_dot<T>(n, static_cast<int>(random() % (hardest<T> + 1)), random);
    oracle::accumulator<T> expected;
    for (std::size_t k = 0; k < n; ++k) expected.add(f.x[k], f.y[k]);
    wrong += !testing::same_bits(run(from(f.x, f.y) | sum(_1 * _2), exact, one_thread), expected.over(1));
  }
  return wrong;
}

/// Vectors of whole leaves and more, so that the quick way in is taken.
template <class T>
int wrong_long_sums(int vectors, unsigned seed) {
  std::mt19937_64 random(seed);
  int wrong = 0;
  for (int i = 0; i < vectors; ++i) {
    auto const core = oracle::ill_conditioned_sum<T>(20, static_cast<int>(random() % (hardest<T> + 1)), random);
    auto const n = 1 + random() % 5000;
    int const spread = 1 + static_cast<int>(random() % 120);
    std::vector<T> x;
    for (std::size_t k = 0; k < n; ++k) { // what cancels, around what does not
      T const v = oracle::random_number<T>(random, static_cast<int>(random() % static_cast<unsigned>(spread)) - spread / 2);
      x.push_back(v), x.push_back(-v);
    }
    x.insert(x.end(), core.begin(), core.end());
    std::shuffle(x.begin(), x.end(), random);
    oracle::accumulator<T> expected;
    for (T v : core) expected.add(v);
    wrong += !testing::same_bits(run(from(x) | sum, exact, on::cpu.threads(1 + i % 3)), expected.over(1));
  }
  return wrong;
}

} // namespace

TEST_CASE("the vectors are as ill-conditioned as they claim") {
  std::mt19937_64 random(5);
  double worst = 0;
  for (int i = 0; i < 100; ++i) {
    auto const x = oracle::ill_conditioned_sum<double>(30, 398, random);
    oracle::accumulator<double> total, sizes;
    for (double v : x) total.add(v), sizes.add(std::fabs(v));
    worst = std::max(worst, sizes.over(1) / std::fabs(total.over(1)));
  }
  CHECK(worst > 1e110);
}

TEST_CASE("40 000 ill-conditioned sums and means of f32") { CHECK(wrong_sums<float>(40000, 1) == 0); }
TEST_CASE("25 000 ill-conditioned sums and means of f64") { CHECK(wrong_sums<double>(25000, 2) == 0); }
TEST_CASE("25 000 ill-conditioned dot products of f32") { CHECK(wrong_dot_products<float>(25000, 3) == 0); }
TEST_CASE("8 000 ill-conditioned dot products of f64") { CHECK(wrong_dot_products<double>(8000, 4) == 0); }
TEST_CASE("2 000 long ones") {
  CHECK(wrong_long_sums<float>(1000, 5) == 0);
  CHECK(wrong_long_sums<double>(1000, 6) == 0);
}
