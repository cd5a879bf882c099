// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verb filter: which rows take part.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

using namespace tally;

TEST_CASE("filter lets through the rows for which its condition holds") {
  std::vector<int> const x{3, -1, 4, -1, 5};
  auto const [total, n, least_one] = run(from(x) | filter(_1 > 0) | reduce(sum, count, min));
  CHECK(total == 12);
  CHECK(n == 3);
  CHECK(least_one == 3);
}

TEST_CASE("a condition may look at every column of the row") {
  std::vector<float> const price{1, 2, 3};
  std::vector<bool> const sold{true, false, true};
  CHECK(run(from(price, sold) | filter(_2) | reduce(sum(_1))) == 4.f);
  CHECK(run(from(price, sold) | filter(_2 && _1 > 1.f) | reduce(sum(_1))) == 3.f);
}

TEST_CASE("several filters are one conjunction") {
  std::vector<int> const x{1, 2, 3, 4, 5, 6};
  CHECK(run(from(x) | filter(_1 > 2) | filter(_1 < 6) | sum) == 12);
  CHECK(run(from(x) | filter(_1 > 2 && _1 < 6) | sum) == 12);
}

TEST_CASE("a filter before map sees the old elements, one behind it the new") {
  std::vector<int> const x{-2, 1, 3};
  CHECK(run(from(x) | filter(_1 > 0) | map(_1 * _1) | sum) == 10);
  CHECK(run(from(x) | map(_1 * _1) | filter(_1 > 2) | sum) == 13);
  CHECK(run(from(x) | filter(_1 < 3) | map(_1 * _1) | filter(_1 > 2) | sum) == 4);
}

TEST_CASE("a filter moves nothing: positions stay those of the source") {
  std::vector<int> const x{9, 1, 7, 2, 8};
  auto const [where, at, sum_of_positions] = run(from(x) | filter(_1 < 8) | reduce(argmax, argmin, sum(tally::index)));
  CHECK(where == 2);
  CHECK(at == 1);
  CHECK(sum_of_positions == 1 + 2 + 3);
}

TEST_CASE("a filter and a mask on every fold are the same") {
  std::vector<float> const x{0.1f, 0.7f, 0.4f, 0.9f};
  auto const big = _1 > 0.3f;
  CHECK(run(from(x) | filter(big) | reduce(sum, count, mean)) ==
        run(from(x) | reduce(sum.where(big), count.where(big), mean.where(big))));
}

TEST_CASE("a comparison with NaN is false, so a filter drops it unless asked") {
  float const nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> const x{1, nan, 3};
  CHECK(run(from(x) | filter(_1 == _1) | sum) == 4.f);
  CHECK(run(from(x) | filter(!is_nan(_1)) | sum) == 4.f);
  CHECK(run(from(x) | filter(!(_1 < 2.f)) | reduce(count)) == 2);
}

TEST_CASE("when nothing passes, folds with an identity answer it and the others have no answer") {
  std::vector<float> const x{1, 2, 3};
  auto const none_pass = from(x) | filter(_1 > 9.f);
  CHECK(run(none_pass | reduce(sum, product, count)) == std::tuple(0.f, 1.f, 0));
  CHECK(std::isnan(run(none_pass | mean)));
  CHECK_THROWS_AS(run(none_pass | min), empty_input);
  CHECK(run(none_pass | reduce(min.or_else(-1.f), max.maybe())) == std::tuple(-1.f, std::optional<float>()));
}

TEST_CASE("a host lambda is a condition too, on the CPU") {
  std::vector<int> const x{1, 2, 3, 4}, y{4, 3, 2, 1};
  CHECK(run(from(x, y) | filter([](int a, int b) { return a > b; }) | reduce(sum(_1))) == 7);
}

TEST_CASE("a filter that lets everything through changes no bit") {
  std::vector<float> x(100'000);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = std::sin(float(i)) * float(1 << (i % 20));
  auto const p = from(x);
  CHECK(run(p | filter(_1 == _1) | reduce(sum, mean, variance)) == run(p | reduce(sum, mean, variance)));
}

TALLY_FUNCTION(filter_ratio, (int a, int b), { return a / b; });

TEST_CASE("the user's functions are asked for what passes, and for nothing else: a division by what the filter holds back") {
  for (std::size_t const n : {100u, 4096u, 300'000u}) {
    std::vector<int> const a(n, 6), key(n, 0);
    std::vector<int> b(n, 2);
    b[5] = b[n - 1] = 0;
    i64 const expected = static_cast<i64>(n - 2) * 3;
    auto const whole = from(a, b, key) | filter(_2 != 0);
    CHECK(run(whole | sum(filter_ratio(_1, _2))) == expected);
    CHECK(run(whole | map(filter_ratio(_1, _2)) | sum) == expected);
    CHECK(run(from(a, b) | sum(filter_ratio(_1, _2)).where(_2 != 0)) == expected);
    CHECK(run(whole | filter(filter_ratio(_1, _2) > 0) | count) == static_cast<i64>(n - 2));
    CHECK(run(from(a, b) | filter(_2 != 0 && filter_ratio(_1, _2) > 0) | count) == static_cast<i64>(n - 2));
    CHECK(run(from(a, b) | filter(!(_2 == 0 || filter_ratio(_1, _2) == 0)) | count) == static_cast<i64>(n - 2));
    CHECK(run(whole | by_key(_3, 1, sum(filter_ratio(_1, _2))))[0] == expected);
    CHECK(run(whole | by_key(_3, 1, sum(cast<float>(filter_ratio(_1, _2)))))[0] == static_cast<float>(expected));
    auto const [total, greatest] = run(whole | by_key(_3, 1, sum(cast<double>(filter_ratio(_1, _2))), max(filter_ratio(_1, _2))));
    CHECK(total[0] == static_cast<double>(expected));
    CHECK(greatest[0] == 3);
    CHECK(run(whole | by_key(filter_ratio(_1, _2), 4, count))[3] == static_cast<i64>(n - 2));
    std::vector<int> const offsets{0, static_cast<int>(n)};
    CHECK(run(whole | by_segment(offsets, sum(filter_ratio(_1, _2))))[0] == expected);
    auto const i = static_cast<i64>(n / 4);
    auto const rows = from(shaped(a, 4, i), shaped(b, 4, i)) | filter(_2 != 0);
    CHECK(run(rows | over<1>(sum(filter_ratio(_1, _2))))[1] == 3 * i);
    CHECK(run(rows | over<0>(sum(filter_ratio(_1, _2))))[0] == (i > 1 ? 12 : 3));
  }
}
