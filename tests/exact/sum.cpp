// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums under exact on the hard inputs: what is not finite, at every position; both ends of the range; cancellation; ties;
// sizes around leaves and tiles; any order, any number of threads.
#include "exact/vectors.hpp"

#include <tally/tally.hpp>
#include <tally/testing.hpp>

#include <doctest/doctest.h>

#include <numeric>

namespace {

using namespace tally;
using testing::same_bits;

constexpr auto one_thread = on::cpu.threads(1);

template <class T>
constexpr T infinity = std::numeric_limits<T>::infinity();
template <class T>
constexpr T not_a_number = std::numeric_limits<T>::quiet_NaN();

/// The sum and the mean are the oracle's, on one core and on several.
template <class T>
void check_sum(char const* what, std::vector<T> const& x) {
  CAPTURE(what);
  CAPTURE(x.size());
  oracle::accumulator<T> expected;
  for (T v : x) expected.add(v);
  auto const [total, average] = run(from(x) | reduce(sum, mean), exact, one_thread);
  CHECK(same_bits(total, expected.over(1)));
  if (!x.empty()) CHECK(same_bits(average, expected.over(static_cast<std::int64_t>(x.size()))));
  for (int threads : {2, 3, 8}) CHECK(same_bits(run(from(x) | sum, exact, on::cpu.threads(threads)), total));
}

template <class T>
std::vector<T> between(std::size_t n, int lowest, int highest, std::mt19937_64& random) {
  std::vector<T> x(n);
  for (T& v : x) v = oracle::random_number<T>(random, lowest + static_cast<int>(random() % static_cast<unsigned>(highest - lowest + 1)));
  return x;
}

template <class T>
void check_specials() {
  int wrong = 0;
  for (std::size_t n = 1; n <= 300; ++n) {
    std::vector<T> x(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<T>(i + 1);
    auto const total = static_cast<T>(n * (n + 1) / 2);
    for (std::size_t at = 0; at < n; ++at) {
      T const kept = x[at];
      auto const gives = [&](T special, T expected) {
        x[at] = special;
        wrong += !same_bits(run(from(x) | sum, exact, one_thread), expected);
      };
      gives(not_a_number<T>, not_a_number<T>);
      gives(infinity<T>, infinity<T>);
      gives(-infinity<T>, -infinity<T>);
      gives(-T(0), total - kept);
      x[at] = infinity<T>;
      std::size_t const other = (at + n / 2) % n;
      T const left = x[other];
      x[other] = -infinity<T>;
      if (other != at) wrong += !same_bits(run(from(x) | sum, exact, one_thread), not_a_number<T>);
      x[other] = left;
      x[at] = kept;
    }
  }
  CHECK(wrong == 0);
}

template <class T>
void check_ends(int lowest, int highest, std::mt19937_64& random) {
  for (std::size_t n : {1u, 7u, 511u, 512u, 1023u, 1024u, 1025u, 2049u, 65536u, 70001u}) {
    check_sum("denormals", between<T>(n, lowest, lowest + 20, random));
    check_sum("the smallest", between<T>(n, lowest, lowest + 29, random));
    check_sum("the largest", between<T>(n, highest - 20, highest - 1, random));
    check_sum("around one", between<T>(n, -3, 3, random));
    check_sum("20 binades", between<T>(n, -10, 10, random));
    check_sum("60 binades", between<T>(n, -30, 30, random));
    check_sum("100 binades", between<T>(n, -60, 40, random));
    check_sum("all binades", between<T>(n, lowest, highest - 1, random));
    check_sum("zeros", std::vector<T>(n, T(0)));
    check_sum("zeros below zero", std::vector<T>(n, -T(0)));
    std::vector<T> x(n, std::numeric_limits<T>::max()); // overflows midway, not at the end
    for (std::size_t i = n / 2; i < n; ++i) x[i] = -std::numeric_limits<T>::max();
    check_sum("largest numbers that cancel", x);
    check_sum("largest numbers that do not", std::vector<T>(n, std::numeric_limits<T>::max()));
    x = std::vector<T>(n, T(1));
    x[n / 3] = std::ldexp(T(1), std::numeric_limits<T>::digits);
    check_sum("one large and many small", x);
    x[n / 3] = std::ldexp(T(1), highest - 2);
    check_sum("one huge and many small", x);
  }
}

} // namespace

TEST_CASE("what is not finite, at every position of up to 300") {
  check_specials<float>();
  check_specials<double>();
}

TEST_CASE("both ends of the range, narrow and wide, around leaves and tiles") {
  std::mt19937_64 random(1);
  check_ends<float>(-149, 128, random);
  check_ends<double>(-1074, 1024, random);
}

TEST_CASE("nothing at all is +0, and its mean is NaN") {
  std::vector<float> const nothing;
  CHECK(same_bits(run(from(nothing) | sum, exact, one_thread), 0.f));
  CHECK(std::isnan(run(from(nothing) | mean, exact, one_thread)));
}

TEST_CASE("ties go to the even neighbour, and a bit far below decides") {
  for (std::size_t n : {3u, 1024u, 5000u}) {
    std::vector<float> x(n, 0.f);
    x[0] = 0x1p24f, x[n - 2] = 1.f;
    CHECK(run(from(x) | sum, exact, one_thread) == 0x1p24f);
    x[n - 1] = 0x1p-149f;
    CHECK(run(from(x) | sum, exact, one_thread) == 0x1.000002p24f);
    x[n - 1] = -0x1p-149f;
    CHECK(run(from(x) | sum, exact, one_thread) == 0x1p24f);
    x[0] = 0x1.000002p24f, x[n - 1] = 0.f;
    CHECK(run(from(x) | sum, exact, one_thread) == 0x1.000004p24f);
  }
}

TEST_CASE("a permutation changes no bit") {
  std::mt19937_64 random(2);
  for (int spread : {5, 40, 200}) {
    auto x = between<float>(50000, -spread / 2, spread / 2 > 120 ? 120 : spread / 2, random);
    auto const total = run(from(x) | reduce(sum, mean, sum(_1 * _1)), exact, one_thread);
    for (int i = 0; i < 5; ++i) {
      std::shuffle(x.begin(), x.end(), random);
      CHECK(same_bits(run(from(x) | reduce(sum, mean, sum(_1 * _1)), exact, on::cpu), total));
    }
    std::sort(x.begin(), x.end());
    CHECK(same_bits(run(from(x) | reduce(sum, mean, sum(_1 * _1)), exact, on::cpu), total));
  }
}

TEST_CASE("small floats are summed as floats: past 65504, and where bf16 would stand still") {
  std::vector<f16> const halves(3000, f16(1000.f));
  CHECK(run(from(halves) | sum, exact, one_thread) == 3e6f);
  std::vector<bf16> const ones(100000, bf16(1.f));
  CHECK(run(from(ones) | reduce(sum, mean), exact, one_thread) == std::tuple(100000.f, 1.f));
}
