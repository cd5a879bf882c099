// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// collect: the elements of a pipeline, written.
#include "pipeline/uneven.hpp"

#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

using namespace tally;

TEST_CASE("softmax, layer norm and columns of mean zero, element for element") {
  for (i64 const n : {1, 5, 64, 1000, 9000}) {
    i64 const rows = 3;
    auto const x = uneven(std::size_t(rows * n));
    auto const source = from(shaped(x, rows, n));
    auto const greatest = source | over<1>(max);
    auto const total = source | map(exp(_1 - let(greatest))) | over<1>(sum);
    auto const softmax = run(source | map(exp(_1 - let(greatest)) / let(total)) | collect);
    static_assert(std::is_same_v<decltype(softmax), mdarray<float, 2> const>);
    auto const mu = source | over<1>(mean);
    auto const var = source | over<1>(mean(squared(_1 - let(mu))));
    std::vector<float> const weight(std::size_t(n), 1.5f), bias(std::size_t(n), 0.25f);
    auto const norm = run(from(shaped(x, rows, n), along<1>(weight), along<1>(bias)) | map((_1 - let(mu)) / sqrt(let(var) + 1e-5f) * _2 + _3) | collect);
    auto const of_column = source | over<0>(mean);
    auto const centred = run(source | map(_1 - let(of_column)) | collect);
    auto const g = run(greatest), t = run(total), m = run(mu), v = run(var), c = run(of_column);
    for (i64 r = 0; r < rows; ++r)
      for (i64 k = 0; k < n; ++k) {
        float const e = x[std::size_t(r * n + k)];
        REQUIRE(softmax(r, k) == exp(_1 - g(r))(e) / t(r));
        REQUIRE(norm(r, k) == (e - m(r)) / std::sqrt(v(r) + 1e-5f) * 1.5f + 0.25f);
        REQUIRE(centred(r, k) == e - c(k));
      }
  }
}

TEST_CASE("axes of any stride are written row by row, and index is the position") {
  auto const x = uneven(12);
  auto const turned = run(from(shaped(x.data(), {4, 3}, {1, 4})) | map(_1, tally::index) | collect);
  auto const& [values, places] = turned;
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(places)>, mdarray<i64, 2>>);
  for (i64 a = 0; a < 4; ++a)
    for (i64 b = 0; b < 3; ++b) {
      CHECK(values(a, b) == x[std::size_t(b * 4 + a)]);
      CHECK(places(a, b) == a * 3 + b);
    }
  auto const diagonal = run(from(shaped(x, 3, 4)) | map(select(index_along<0> == index_along<1>, _1, 0.f)) | collect);
  CHECK(diagonal(2, 2) == x[10]);
  CHECK(diagonal(2, 1) == 0.f);
  auto const back = run(from(shaped(x.data() + 11, {12}, {-1})) | collect);
  CHECK(back(0) == x[11]);
  CHECK(back(11) == x[0]);
  std::vector<float> const w{1, 2, 3};
  auto const outer = run(from(shaped(x, 3, 4), along<0>(w)) | map(_1 * _2) | collect, on::cpu.threads(2));
  CHECK(outer(2, 1) == x[9] * 3.f);
  CHECK(run(from(iota(5)) | map(_1 * _1) | collect)(4) == 16);
}

TEST_CASE("a plain range is an array of one axis; nothing gives an array of nothing") {
  auto const x = uneven(100000);
  auto const entire = from(x) | sum;
  auto const shares = run(from(x) | map(_1 / let(entire)) | collect);
  static_assert(std::is_same_v<decltype(shares), mdarray<float, 1> const>);
  float const whole = run(entire);
  for (std::size_t i = 0; i < x.size(); i += 977)
    CHECK(shares[i] == x[i] / whole);
  std::vector<float> const nothing;
  CHECK(run(from(nothing) | map(_1 + 1.f) | collect).size() == 0);
}

TEST_CASE("run_into writes into the memory it is given, which may be what is read") {
  auto x = uneven(60);
  auto const before = x;
  auto const mu = from(shaped(x, 6, 10)) | over<1>(mean);
  auto const centred = from(shaped(x, 6, 10)) | map(_1 - let(mu)) | collect;
  auto const expected = run(centred);
  std::vector<float> out(60);
  run_into(centred, out);
  CHECK(std::memcmp(out.data(), expected.data(), 240) == 0);
  run_into(centred, x.data(), on::cpu);
  CHECK(std::memcmp(x.data(), expected.data(), 240) == 0);
  x = before;
  run_into(from(shaped(x.data(), {10, 6}, {1, 10})) | collect, x.data()); // in another order: through other memory
  for (std::size_t a = 0; a < 10; ++a)
    for (std::size_t b = 0; b < 6; ++b)
      CHECK(x[a * 6 + b] == before[b * 10 + a]);
  std::vector<float> y(61);
  std::copy(before.begin(), before.end(), y.begin());
  run_into(from(device(y.data(), 60)) | collect, y.data() + 1); // one further: through other memory
  CHECK(std::memcmp(y.data() + 1, before.data(), 240) == 0);
  std::vector<float> few(59);
  CHECK_THROWS_WITH_AS(run_into(centred, few), "[tally-E2] output 1 holds 59 elements, the source has 60. docs/errors.md#E2", extent_mismatch);
  std::vector<double> doubled(60);
  std::vector<i64> places(60);
  run_into(from(before) | map(cast<double>(_1) * 2.0, tally::index) | collect, doubled, places);
  CHECK(doubled[59] == double(before[59]) * 2);
  CHECK(places[59] == 59);
}

TEST_CASE("a NaN that is written is the one NaN") {
  std::vector<float> const x{-1.f, 0.f, std::numeric_limits<float>::infinity()};
  auto const out = run(from(x) | map(_1 - _1 * 1.f, sqrt(_1)) | collect);
  float const nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(std::memcmp(&std::get<0>(out)[2], &nan, 4) == 0);
  CHECK(std::memcmp(&std::get<1>(out)[0], &nan, 4) == 0);
}
