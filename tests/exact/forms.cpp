// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which folds are exact under exact, and in which shapes: products, means, masks, mapped elements, other accumulators,
// columns that are computed or lie apart, parts, and folds that were free of order before.
#include "exact/vectors.hpp"

#include <tally/tally.hpp>
#include <tally/testing.hpp>

#include <doctest/doctest.h>

#include <deque>

namespace {

using namespace tally;
using testing::same_bits;

constexpr auto one_thread = on::cpu.threads(1);

template <class T>
std::vector<T> uneven(std::size_t n, unsigned seed, int spread = 60) {
  std::mt19937_64 random(seed);
  std::vector<T> x(n);
  for (T& v : x) v = oracle::random_number<T>(random, static_cast<int>(random() % static_cast<unsigned>(spread)) - spread / 2);
  return x;
}

template <class T>
void check_products(std::size_t n, int spread) {
  CAPTURE(n);
  auto const x = uneven<T>(n, 1, spread), y = uneven<T>(n, 2, spread);
  oracle::accumulator<T> dot, squares;
  for (std::size_t i = 0; i < n; ++i) dot.add(x[i], y[i]), squares.add(x[i], x[i]);
  T const expected = dot.over(1), of_squares = squares.over(1);
  CHECK(same_bits(run(from(x, y) | sum(_1 * _2), exact, one_thread), expected));
  CHECK(same_bits(run(from(x, y) | map(_1 * _2) | sum, exact, one_thread), expected));
  CHECK(same_bits(run(from(x, y) | mean(_1 * _2), exact, one_thread), dot.over(static_cast<std::int64_t>(n))));
  CHECK(same_bits(run(from(x) | sum(_1 * _1), exact, one_thread), of_squares));
  CHECK(same_bits(run(from(x) | sum(squared(_1)), exact, one_thread), of_squares));
  CHECK(same_bits(run(from(x) | norm<2>, exact, one_thread), std::sqrt(of_squares)));
}

} // namespace

TEST_CASE("products are not rounded before they are added") {
  for (std::size_t n : {1u, 100u, 1024u, 5000u, 70001u})
    for (int spread : {2, 20, 60, 120}) {
      check_products<float>(n, spread);
      check_products<double>(n, spread);
    }
}

TEST_CASE("products at both ends of the range of floats") {
  for (int end : {-140, 120}) {
    std::mt19937_64 random(3);
    std::vector<float> x, y;
    oracle::accumulator<float> dot;
    for (int i = 0; i < 3000; ++i) {
      x.push_back(oracle::random_number<float>(random, end - static_cast<int>(random() % 9)));
      y.push_back(oracle::random_number<float>(random, (i % 3 - 1) * 60));
      dot.add(x.back(), y.back());
    }
    CHECK(same_bits(run(from(x, y) | sum(_1 * _2), exact, one_thread), dot.over(1)));
  }
  std::vector<float> const large(2000, 0x1p127f);
  CHECK(run(from(large) | sum(_1 * _1), exact, one_thread) == std::numeric_limits<float>::infinity());
  CHECK(run(from(large) | sum.in<double>()(_1 * _1), exact, one_thread) == 2000 * 0x1p254);
}

TEST_CASE("a product with infinity or NaN is what IEEE says") {
  for (std::size_t n : {2u, 1024u, 3000u}) {
    std::vector<float> x(n, 1.f), y(n, 2.f);
    x[n / 2] = std::numeric_limits<float>::infinity();
    CHECK(run(from(x, y) | sum(_1 * _2), exact, one_thread) == std::numeric_limits<float>::infinity());
    y[n / 2] = -1;
    CHECK(run(from(x, y) | sum(_1 * _2), exact, one_thread) == -std::numeric_limits<float>::infinity());
    y[n / 2] = 0;
    CHECK(std::isnan(run(from(x, y) | sum(_1 * _2), exact, one_thread)));
  }
}

TEST_CASE("masks, mapped elements and other accumulators") {
  for (std::size_t n : {10u, 1024u, 70001u}) {
    auto const x = uneven<float>(n, 4);
    oracle::accumulator<float> whole, positive, doubled;
    oracle::accumulator<double> wide;
    std::int64_t count_of = 0;
    for (float v : x) {
      whole.add(v), wide.add(v), doubled.add(v * 3.f);
      if (v > 0) positive.add(v), ++count_of;
    }
    CHECK(same_bits(run(from(x) | filter(_1 > 0.f) | sum, exact, one_thread), positive.over(1)));
    CHECK(same_bits(run(from(x) | sum.where(_1 > 0.f), exact, one_thread), positive.over(1)));
    CHECK(same_bits(run(from(x) | mean.where(_1 > 0.f), exact, one_thread), positive.over(count_of)));
    CHECK(same_bits(run(from(x) | filter([](float v) { return v > 0; }) | sum, exact, one_thread), positive.over(1)));
    CHECK(same_bits(run(from(x) | map([](float v) { return v * 3.f; }) | sum, exact, one_thread), doubled.over(1)));
    CHECK(same_bits(run(from(x) | sum.in<double>(), exact, one_thread), wide.over(1)));
    CHECK(same_bits(run(from(x) | sum.compensated(), exact, one_thread), whole.over(1)));
    std::deque<float> const queue(x.begin(), x.end());
    CHECK(same_bits(run(from(queue) | sum, exact, one_thread), whole.over(1)));
  }
}

namespace {

/// Variance and sample variance by unlimited integers.
template <class T>
void check_variance(std::vector<T> const& x) {
  CAPTURE(x.size());
  oracle::accumulator<T> elements, squares;
  for (T v : x) elements.add(v), squares.add(v, v);
  auto const n = static_cast<std::int64_t>(x.size());
  auto const above = (oracle::integer(n) * squares.sum()).times_two_to(oracle::scale_of<T>) - elements.sum() * elements.sum();
  auto const over = [&](std::int64_t divisor) { return oracle::nearest<T>(above, 2 * oracle::scale_of<T>, divisor); };
  auto const [v, s, d, total] = run(from(x) | reduce(variance, sample_variance, stddev, sum), exact, one_thread);
  CHECK(same_bits(v, over(n * n)));
  CHECK(same_bits(d, std::sqrt(over(n * n))));
  CHECK(same_bits(total, elements.over(1)));
  if (n > 1) CHECK(same_bits(s, over(n * (n - 1))));
}

} // namespace

TEST_CASE("variances are rounded once, also where they nearly vanish") {
  for (std::size_t n : {1u, 2u, 3u, 100u, 1024u, 5000u})
    for (int spread : {1, 20, 100}) {
      check_variance(uneven<float>(n, 8, spread));
      check_variance(uneven<double>(n, 9, spread));
    }
  std::vector<double> near(3000, 1e9); // the usual formula loses all digits here
  for (std::size_t i = 0; i < near.size(); ++i) near[i] += static_cast<double>(i % 7) * 0x1p-20;
  check_variance(near);
  check_variance(std::vector<float>(777, 0.1f));
  check_variance(std::vector<double>(777, 0.)); // no word of any sum
  for (int apart : {40, 100, 190, 240}) { // sums of neighbouring words, and of words that are far from each other
    auto x = uneven<float>(500, 11, 8);
    x[250] *= std::ldexp(1.f, apart / 2 - 10), x[251] *= std::ldexp(1.f, -apart / 2);
    check_variance(x);
    std::vector<double> wide(x.begin(), x.end());
    wide[0] = std::ldexp(1., 2 * apart), wide[1] = -wide[0];
    check_variance(wide);
  }
  std::vector<float> none_of_it, with_infinity(100, 1.f);
  with_infinity[50] = std::numeric_limits<float>::infinity();
  CHECK(std::isnan(run(from(none_of_it) | variance, exact, one_thread)));
  CHECK(std::isnan(run(from(with_infinity) | variance, exact, one_thread)));
  auto const x = uneven<float>(3000, 10);
  std::vector<float> positive;
  for (float v : x)
    if (v > 0) positive.push_back(v);
  CHECK(same_bits(run(from(x) | variance.where(_1 > 0.f), exact, one_thread), run(from(positive) | variance, exact, one_thread)));
  std::vector<f16> const halves{f16(1.f), f16(2.f), f16(4.f)};
  CHECK(run(from(halves) | variance, exact, one_thread) == 14.f / 9);
}

namespace {

/// Sums of n numbers, of others beside them and of the products, times 2^scale, by unlimited integers.
struct sums_of_pairs {
  oracle::integer x, y, products;
  std::int64_t n;
  int scale; ///< of products; half of it of the others
  /// The covariance, divided by n - fewer instead of n.
  template <class To>
  To covariance(std::int64_t fewer = 0) const {
    int const more = scale == 0 ? oracle::scale_of<To> : 0;
    return oracle::nearest<To>((oracle::integer(n) * products - x * y).times_two_to(more), scale + more, n * (n - fewer));
  }
};
template <class T>
sums_of_pairs sums_of(std::vector<T> const& x, std::vector<T> const& y) {
  sums_of_pairs s{oracle::integer(0), oracle::integer(0), oracle::integer(0), static_cast<std::int64_t>(x.size()), 0};
  if constexpr (std::is_integral_v<T>) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      s.x = s.x + oracle::integer(x[i]), s.y = s.y + oracle::integer(y[i]);
      s.products = s.products + oracle::integer(x[i]) * oracle::integer(y[i]);
    }
  } else {
    oracle::accumulator<T> of_x, of_y, of_products;
    for (std::size_t i = 0; i < x.size(); ++i) of_x.add(x[i]), of_y.add(y[i]), of_products.add(x[i], y[i]);
    s.x = of_x.sum(), s.y = of_y.sum(), s.products = of_products.sum().times_two_to(oracle::scale_of<T>);
    s.scale = 2 * oracle::scale_of<T>;
  }
  return s;
}
template <class T>
std::vector<T> any_integers(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> x(n);
  for (T& v : x) v = static_cast<T>(random());
  return x;
}
template <class T>
void check_integers(std::vector<T> x) {
  x[0] = std::numeric_limits<T>::min(), x.back() = std::numeric_limits<T>::max();
  auto const s = sums_of(x, x);
  auto const [v, of_sample, d, in_float] = run(from(x) | reduce(variance, sample_variance, stddev, variance.template in<float>()), exact, one_thread);
  CHECK(same_bits(v, s.template covariance<double>()));
  CHECK(same_bits(of_sample, s.template covariance<double>(1)));
  CHECK(same_bits(d, std::sqrt(s.template covariance<double>())));
  CHECK(same_bits(in_float, s.template covariance<float>()));
}

} // namespace

TEST_CASE("variances of integers are rounded once") {
  for (std::size_t n : {2u, 3u, 100u, 5000u}) {
    CAPTURE(n);
    check_integers(any_integers<i8>(n, 1));
    check_integers(any_integers<u8>(n, 2));
    check_integers(any_integers<i16>(n, 3));
    check_integers(any_integers<u16>(n, 4));
    check_integers(any_integers<i32>(n, 5));
    check_integers(any_integers<u32>(n, 6));
  }
  std::vector<i32> const none, one{7};
  std::vector<u32> const same(1000, ~0u);
  CHECK(std::isnan(run(from(none) | variance, exact, one_thread)));
  CHECK(run(from(one) | variance, exact, one_thread) == 0);
  CHECK(std::isnan(run(from(one) | sample_variance, exact, one_thread)));
  CHECK(run(from(same) | variance, exact, one_thread) == 0);
}

TEST_CASE("covariances are rounded once, of floats and of integers, signs mixed and products that cancel") {
  for (std::size_t n : {1u, 2u, 3u, 100u, 5000u}) {
    CAPTURE(n);
    for (int const spread : {1, 20, 100}) {
      auto const x = uneven<float>(n, 8, spread), y = uneven<float>(n, 9, spread);
      CHECK(same_bits(run(from(x, y) | covariance, exact, one_thread), sums_of(x, y).covariance<float>()));
      auto const a = uneven<double>(n, 10, spread), b = uneven<double>(n, 11, spread);
      CHECK(same_bits(run(from(a, b) | covariance(_2, _1), exact, one_thread), sums_of(a, b).covariance<double>()));
      std::vector<double> const wide(x.begin(), x.end());
      CHECK(same_bits(run(from(x, a) | covariance, exact, one_thread), sums_of(wide, a).covariance<double>()));
      CHECK(same_bits(run(from(x) | covariance(_1, _1), exact, one_thread), run(from(x) | variance, exact, one_thread)));
    }
    auto const i = any_integers<i32>(n, 12), k = any_integers<i32>(n, 13);
    CHECK(same_bits(run(from(i, k) | covariance, exact, one_thread), sums_of(i, k).covariance<double>()));
    auto const u = any_integers<u32>(n, 14);
    CHECK(same_bits(run(from(i, u) | covariance, exact, one_thread),
                    sums_of(std::vector<i64>(i.begin(), i.end()), std::vector<i64>(u.begin(), u.end())).covariance<double>()));
    std::vector<double> const whole(i.begin(), i.end()), a = uneven<double>(n, 15);
    CHECK(same_bits(run(from(i, a) | covariance, exact, one_thread), run(from(whole, a) | covariance, exact, one_thread)));
  }
  std::vector<float> const none;
  CHECK(std::isnan(run(from(none) | covariance(_1, _1), exact, one_thread)));
  std::vector<float> const infinite{1, std::numeric_limits<float>::infinity()};
  CHECK(std::isnan(run(from(infinite) | covariance(_1, _1), exact, one_thread)));
}

TEST_CASE("folds that are free of order are as they were, and share the read") {
  auto const x = uneven<float>(30000, 5);
  oracle::accumulator<float> elements;
  for (float v : x) elements.add(v);
  auto const [total, least, greatest, where, n, average] =
      run(from(x) | reduce(sum, min, max, argmax, count, mean), exact, one_thread);
  CHECK(same_bits(total, elements.over(1)));
  CHECK(same_bits(average, elements.over(30000)));
  CHECK(std::tuple(least, greatest, where, n) == run(from(x) | reduce(min, max, argmax, count), one_thread));
  std::vector<int> const whole(1000, 7);
  CHECK(run(from(whole) | reduce(sum, sum(_1 * _1), mean), exact, one_thread) == std::tuple(i64(7000), i64(49000), 7.0));
}

TEST_CASE("parts of a whole meet anywhere and give the bits of one run") {
  auto const x = uneven<float>(10000, 6, 100);
  auto const r = [&](std::size_t begin, std::size_t end) {
    return from(std::span<float const>(x).subspan(begin, end - begin)) | reduce(sum, mean, sum(_1 * _1));
  };
  auto const whole = run(r(0, x.size()), exact, one_thread);
  for (std::size_t cut : {1u, 17u, 5000u, 9999u}) {
    auto const left = partial(r(0, cut), exact, one_thread);
    auto const right = partial(r(cut, x.size()), exact, one_thread, starting_at(static_cast<i64>(cut)));
    CHECK(same_bits(finish(merge(right, left)), whole));
    CHECK(same_bits(finish(from_bytes(r(0, x.size()), to_bytes(merge(left, right)), exact)), whole));
  }
  CHECK(part_granularity(r(0, 1)) > 1);
  CHECK(part_granularity(r(0, 1), exact) == 1);
}

TEST_CASE("the other verbs take it, too") {
  auto const x = uneven<float>(5000, 7);
  float const expected = run(from(x) | sum, exact, one_thread);
  float out = 0;
  run_into(from(x) | sum, out, exact, one_thread);
  CHECK(same_bits(out, expected));
  CHECK(same_bits(start(from(x) | sum, exact, one_thread).get(), expected));
  CHECK(same_bits(run_timed(from(x) | sum, exact, one_thread).answers, expected));
  CHECK_THROWS_AS(run(from(x) | sum, contract::exact, one_thread), std::logic_error);
}
