// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// moments<K> under exact: number, mean and central moments are the correctly rounded ones of the true numbers, held against their
// definition in unlimited integers; ends of the range, cancellation, permutations, parts, groups and keys.
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
std::vector<T> uneven(std::size_t n, unsigned seed, int lowest, int binades) {
  std::mt19937_64 random(seed);
  std::vector<T> x(n);
  for (T& v : x) v = oracle::random_number<T>(random, lowest + static_cast<int>(random() % static_cast<unsigned>(binades)));
  return x;
}

/// The moments of finite numbers by their definition.
template <class To, int K, class T>
moments_result<To, K> expected(std::vector<T> const& x) {
  oracle::accumulator<T> elements;
  for (T v : x) elements.add(v);
  moments_result<To, K> m{static_cast<i64>(x.size()), elements.template over<To>(static_cast<i64>(x.size())), {}};
  for (int k = 2; k <= K; ++k) m.central[k - 2] = oracle::central_moment<To>(x, k);
  return m;
}
template <class T>
void check_moments(std::vector<T> const& x) {
  CAPTURE(x.size());
  auto const [two, three, four] = run(from(x) | reduce(moments<2>, moments<3>, moments<4>), exact, one_thread);
  CHECK(same_bits(four, expected<T, 4>(x)));
  CHECK(same_bits(three, expected<T, 3>(x)));
  CHECK(same_bits(two, expected<T, 2>(x)));
}

} // namespace

TEST_CASE("moments are rounded once, over few binades and over all") {
  for (std::size_t n : {1u, 2u, 3u, 100u, 1024u, 1500u, 4096u})
    for (auto [lowest, binades] : {std::pair(0, 1), std::pair(-3, 6), std::pair(-10, 20), std::pair(-149, 276), std::pair(-149, 12), std::pair(100, 27)})
      check_moments(uneven<float>(n, 1, lowest, binades));
}

TEST_CASE("moments that nearly vanish") {
  std::vector<float> near(3000, 4097.f); // the fourth powers have twelve digits, what is left of them none
  for (std::size_t i = 0; i < near.size(); ++i) near[i] += static_cast<float>(i % 7) * 0x1p-10f;
  check_moments(near);
  check_moments(std::vector<float>(777, 0.1f));
  std::mt19937_64 random(2);
  for (int i = 0; i < 300; ++i)
    check_moments(oracle::ill_conditioned_sum<float>(2 + random() % 40, static_cast<int>(random() % 200), random));
  for (std::size_t n : {2u, 1024u, 2050u}) { // symmetric: the third moment is zero, and +0
    std::vector<float> x = uneven<float>(n / 2, 3, -20, 40);
    for (std::size_t k = 0; k < n / 2; ++k) x.push_back(-x[k]);
    std::shuffle(x.begin(), x.end(), random);
    check_moments(x);
    CHECK(same_bits(run(from(x) | moments<3>, exact, one_thread).central[1], 0.f));
  }
}

TEST_CASE("moments of doubles over a whole source") {
  for (std::size_t n : {1u, 2u, 100u, 1030u})
    for (auto [lowest, binades] : {std::pair(0, 3), std::pair(-20, 40), std::pair(-1074, 2098), std::pair(250, 8)})
      check_moments(uneven<double>(n, 4, lowest, binades));
  std::vector<double> near(500, 1e9);
  for (std::size_t i = 0; i < near.size(); ++i) near[i] += static_cast<double>(i % 7) * 0x1p-20;
  check_moments(near);
}

TEST_CASE("moments of doubles by rows, columns, segments and keys are those of each group alone") {
  constexpr i64 rows = 23, columns = 61, n = rows * columns;
  auto x = uneven<double>(std::size_t(n), 9, -40, 80);
  x[5] = 1e300, x[100] = -1e-300, x[700] = std::numeric_limits<double>::infinity(), x[1300] = std::numeric_limits<double>::quiet_NaN();
  std::vector<int> keys(x.size());
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = int(i * i % 7);
  std::vector<i64> const offsets{0, 0, 1, 90, 900, n};
  auto const of_groups = [&](i64 groups, auto const& answers, auto const& group_of) {
    for (i64 g = 0; g < groups; ++g) {
      std::vector<double> own;
      for (i64 i = 0; i < n; ++i)
        if (group_of(i) == g) own.push_back(x[std::size_t(i)]);
      CAPTURE(g);
      CHECK(same_bits(answers[std::size_t(g)], run(from(own) | moments<4>, exact, one_thread)));
    }
  };
  for (unsigned threads : {1u, 2u}) {
    auto const where = on::cpu.threads(threads);
    auto const [of_rows, of_columns] = run(from(shaped(x, rows, columns)) | reduce(over<1>(moments<4>), over<0>(moments<4>)), exact, where);
    of_groups(rows, of_rows, [&](i64 i) { return i / columns; });
    of_groups(columns, of_columns, [&](i64 i) { return i % columns; });
    of_groups(7, run(from(x, keys) | by_key(_2, 7, moments<4>(_1)), exact, where), [&](i64 i) { return i64(keys[std::size_t(i)]); });
    of_groups(5, run(from(x) | by_segment(offsets, moments<4>), exact, where),
              [&](i64 i) { return std::upper_bound(offsets.begin(), offsets.end(), i) - offsets.begin() - 1; });
  }
}

TEST_CASE("a power that leaves the range of its type comes back, or does not") {
  std::vector<float> x(3000, 0x1p100f);
  x[7] = -0x1p100f;
  check_moments(x);
  auto const m = run(from(x) | moments<4>, exact, one_thread);
  CHECK(m.central[0] == std::numeric_limits<float>::infinity());
  CHECK(m.central[1] == -std::numeric_limits<float>::infinity());
  auto const wide = run(from(x) | moments<4>.in<double>(), exact, one_thread);
  CHECK(same_bits(wide, expected<double, 4>(x)));
  CHECK(std::isfinite(wide.central[2]));
  check_moments(std::vector<float>{0x1p-149f, -0x1p-149f, 0x1p-100f}); // and what is too small
}

TEST_CASE("what is not finite, and nothing at all") {
  for (std::size_t n : {3u, 1024u, 3000u}) {
    std::vector<float> x(n, 0x1p127f);
    for (float const special : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                                std::numeric_limits<float>::quiet_NaN()}) {
      x[n / 2] = special;
      auto const m = run(from(x) | moments<4>, exact, one_thread);
      CHECK(m.n == static_cast<i64>(n));
      CHECK((std::isnan(special) ? std::isnan(m.mean) : m.mean == special));
      CHECK((std::isnan(m.central[0]) && std::isnan(m.central[1]) && std::isnan(m.central[2])));
      CHECK(same_bits(run(from(x) | filter(_1 < 0x1.8p127f && _1 > 0.f) | moments<4>, exact, one_thread),
                      expected<float, 4>(std::vector<float>(n - 1, 0x1p127f))));
    }
  }
  std::vector<float> const nothing;
  CHECK(same_bits(run(from(nothing) | moments<4>, exact, one_thread), run(from(nothing) | moments<4>, one_thread)));
}

TEST_CASE("small floats, masks, mapped elements, and folds that share the read") {
  std::mt19937_64 random(5);
  std::vector<f16> halves(3000);
  std::vector<bf16> brain(3000);
  std::vector<float> of_halves, of_brain, positive, doubled;
  for (std::size_t i = 0; i < halves.size(); ++i) {
    halves[i] = f16(oracle::random_number<float>(random, static_cast<int>(random() % 20) - 10));
    brain[i] = bf16(oracle::random_number<float>(random, static_cast<int>(random() % 200) - 100));
    of_halves.push_back(static_cast<float>(halves[i])), of_brain.push_back(static_cast<float>(brain[i]));
    doubled.push_back(of_halves[i] * 3.f);
    if (of_halves[i] > 0) positive.push_back(of_halves[i]);
  }
  CHECK(same_bits(run(from(halves) | moments<4>, exact, one_thread), expected<float, 4>(of_halves)));
  CHECK(same_bits(run(from(brain) | moments<4>, exact, one_thread), expected<float, 4>(of_brain)));
  CHECK(same_bits(run(from(of_halves) | moments<3>.where(_1 > 0.f), exact, one_thread), expected<float, 3>(positive)));
  CHECK(same_bits(run(from(of_halves) | map([](float v) { return v * 3.f; }) | moments<4>, exact, one_thread), expected<float, 4>(doubled)));
  auto const [third, total, spread, squares] = run(from(of_halves) | reduce(moments<3>, sum, variance, sum(_1 * _1)), exact, one_thread);
  CHECK(same_bits(third, expected<float, 3>(of_halves)));
  CHECK(same_bits(spread, third.central[0]));
  CHECK(same_bits(std::tuple(total, squares), run(from(of_halves) | reduce(sum, sum(_1 * _1)), exact, one_thread)));
}

TEST_CASE("moments of a product are those of the rounded product") {
  auto const x = uneven<float>(2000, 6, -8, 16), y = uneven<float>(2000, 7, -8, 16);
  std::vector<float> products;
  for (std::size_t i = 0; i < x.size(); ++i) products.push_back(x[i] * y[i]);
  auto const of_products = expected<float, 4>(products);
  CHECK(same_bits(run(from(x, y) | moments<4>(_1 * _2), exact, one_thread), of_products));
  CHECK(same_bits(run(from(x, y) | map(_1 * _2) | moments<4>, exact, one_thread), of_products));
  CHECK(same_bits(run(from(x, y) | variance(_1 * _2), exact, one_thread), of_products.central[0]));
  CHECK(same_bits(run(from(x, y) | map(_1 * _2) | stddev, exact, one_thread), std::sqrt(of_products.central[0])));
}

TEST_CASE("no permutation and no number of threads changes a bit") {
  std::mt19937_64 random(8);
  for (auto [lowest, binades] : {std::pair(-3, 6), std::pair(-40, 80), std::pair(-149, 276)}) {
    auto x = uneven<float>(70001, 9, lowest, binades);
    auto const unpermuted = run(from(x) | moments<4>, exact, one_thread);
    for (int threads = 1; threads <= 3; ++threads) {
      std::shuffle(x.begin(), x.end(), random);
      CHECK(same_bits(run(from(x) | moments<4>, exact, on::cpu.threads(threads)), unpermuted));
    }
  }
}

TEST_CASE("parts meet anywhere") {
  auto const x = uneven<float>(5000, 10, -30, 60);
  auto const r = [&](std::size_t begin, std::size_t end) {
    return from(std::span<float const>(x).subspan(begin, end - begin)) | moments<4>;
  };
  auto const whole = run(r(0, x.size()), exact, one_thread);
  for (std::size_t cut : {1u, 17u, 2500u, 4999u}) {
    auto const left = partial(r(0, cut), exact, one_thread), right = partial(r(cut, x.size()), exact, one_thread, starting_at(static_cast<i64>(cut)));
    CHECK(same_bits(finish(merge(right, left)), whole));
    CHECK(same_bits(finish(from_bytes(r(0, x.size()), to_bytes(merge(left, right)), exact)), whole));
  }
}

TEST_CASE("whole leaves leave the integers that single elements leave") {
  for (auto [lowest, binades] : {std::pair(0, 1), std::pair(-6, 10), std::pair(-20, 30), std::pair(-60, 100), std::pair(-149, 276), std::pair(-149, 12), std::pair(110, 17)}) {
    auto const x = uneven<float>(4096, 12, lowest, binades);
    auto const r = [&](std::size_t begin, std::size_t end) {
      return from(std::span<float const>(x).subspan(begin, end - begin)) | reduce(moments<4>, moments<3>.where(_1 > 0.f));
    };
    auto pieces = partial(r(0, 300), exact, one_thread); // shorter than a leaf: element by element
    for (std::size_t begin = 300; begin < x.size(); begin += 300)
      pieces = merge(pieces, partial(r(begin, std::min(begin + 300, x.size())), exact, one_thread, starting_at(static_cast<i64>(begin))));
    CHECK(to_bytes(pieces) == to_bytes(partial(r(0, x.size()), exact, one_thread)));
  }
}

TEST_CASE("groups along axes, between offsets and by key are moments of what is in them") {
  constexpr i64 rows = 37, columns = 1100;
  auto const x = uneven<float>(rows * columns, 11, -9, 18);
  auto const matrix = shaped(std::span<float const>(x), rows, columns);
  auto const by_row = run(from(matrix) | over<1>(moments<4>), exact, one_thread);
  auto const by_column = run(from(matrix) | over<0>(moments<3>), exact, one_thread);
  std::vector<i64> offsets{0};
  std::vector<int> keys(x.size());
  for (i64 r = 0; r < rows; ++r) {
    std::vector<float> const row(x.begin() + r * columns, x.begin() + (r + 1) * columns);
    CHECK(same_bits(by_row(r), expected<float, 4>(row)));
    offsets.push_back((r + 1) * columns);
    std::fill_n(keys.begin() + r * columns, columns, static_cast<int>(r));
  }
  for (i64 c = 0; c < columns; c += 99) {
    std::vector<float> column;
    for (i64 r = 0; r < rows; ++r) column.push_back(x[std::size_t(r * columns + c)]);
    CHECK(same_bits(by_column(c), expected<float, 3>(column)));
  }
  auto const in_segments = run(from(x) | by_segment(offsets, moments<4>), exact, one_thread);
  for (int threads = 1; threads <= 2; ++threads) {
    auto const by_keys = run(from(x, keys) | by_key(_2, rows, moments<4>(_1), sum(_1)), exact, on::cpu.threads(threads));
    for (i64 r = 0; r < rows; ++r) {
      CHECK(same_bits(in_segments(r), by_row(r)));
      CHECK(same_bits(std::get<0>(by_keys)(r), by_row(r)));
    }
  }
  auto const by_sort = run(from(x, keys) | by_key(_2, rows, moments<4>(_1))); // without exact, by a sort, as run alone
  CHECK(same_bits(by_sort(3), run(from(std::span<float const>(x).subspan(3 * columns, columns)) | moments<4>)));
}
