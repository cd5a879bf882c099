// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The grouping over: an answer for every index of the axes that stay.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <cuda/std/mdspan>

#include <numeric>
#include <vector>

using namespace tally::v0;

namespace {
std::vector<float> numbers(std::size_t n) {
  std::vector<float> x(n);
  std::iota(x.begin(), x.end(), 0.f);
  return x;
}
template <class T, int R>
std::vector<T> values(mdarray<T, R> const& a) {
  return {a.begin(), a.end()};
}
} // namespace

TEST_CASE("over<0> of a matrix answers for every column, over<1> for every row") {
  auto const x = numbers(12);
  auto const columns = run(from(shaped(x, 3, 4)) | over<0>(sum));
  static_assert(std::is_same_v<decltype(columns), mdarray<float, 1> const>);
  CHECK(values(columns) == std::vector<float>{12, 15, 18, 21});
  CHECK(values(run(from(shaped(x, 3, 4)) | over<1>(max))) == std::vector<float>{3, 7, 11});
}

TEST_CASE("arrays and values stand side by side in one reduce, in the order they were written") {
  auto const x = numbers(12);
  auto const [columns, rows, total] = run(from(shaped(x, 3, 4)) | reduce(over<0>(sum), over<1>(mean, max), sum));
  CHECK(columns(3) == 21.f);
  auto const& [means, greatest] = rows;
  CHECK(values(means) == std::vector<float>{1.5f, 5.5f, 9.5f});
  CHECK(values(greatest) == std::vector<float>{3, 7, 11});
  CHECK(total == 66.f);
}

TEST_CASE("a group's answer is bit for bit that of its elements alone, in row-major order") {
  std::vector<float> x(3 * 1500 * 5);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = float((i * 2654435761u) >> 8 & 0xffff) / 977.f;
  auto const middle = run(from(shaped(x, 3, 1500, 5)) | over<1>(sum));
  auto const outer = run(from(shaped(x, 3, 1500, 5)) | over<0, 2>(sum, argmax));
  for (int a = 0; a < 3; ++a)
    for (int c = 0; c < 5; ++c)
      CHECK(middle(a, c) == run(every(x.data() + a * 7500 + c, 1500, 5) | sum));
  for (int b = 0; b < 1500; b += 77) {
    std::vector<float> alone;
    for (int a = 0; a < 3; ++a)
      alone.insert(alone.end(), x.begin() + a * 7500 + b * 5, x.begin() + a * 7500 + b * 5 + 5);
    CHECK(std::get<0>(outer)(b) == run(alone | sum));
    CHECK(std::get<1>(outer)(b) == run(alone | argmax));
  }
}

TEST_CASE("transposed, reversed and broadcast operands are read as they lie") {
  auto const x = numbers(12);
  CHECK(values(run(from(shaped(x.data(), {4, 3}, {1, 4})) | over<0>(sum))) == std::vector<float>{6, 22, 38});
  CHECK(values(run(from(shaped(x.data() + 11, {3, 4}, {-4, -1})) | over<1>(first))) == std::vector<float>{11, 7, 3});
  std::vector<float> const weights{1, 10, 100, 1000};
  CHECK(values(run(from(shaped(x, 3, 4), along<1>(weights)) | over<1>(sum(_1 * _2)))) == std::vector<float>{3210, 7654, 12098});
  cuda::std::mdspan<float const, cuda::std::dextents<int, 2>> const m(x.data(), 3, 4);
  CHECK(values(run(from(m) | over<0>(sum))) == std::vector<float>{12, 15, 18, 21});
}

TEST_CASE("masks narrow groups; an empty group has the fold's identity, or what or_else says") {
  auto const x = numbers(12);
  auto const [n, least, chosen] =
      run(from(shaped(x, 3, 4)) | filter(_1 > 5.f) | over<1>(count, min, min.or_else(-1.f)));
  CHECK(values(n) == std::vector<i64>{0, 2, 4});
  CHECK(values(least) == std::vector<float>{std::numeric_limits<float>::infinity(), 6, 8});
  CHECK(values(chosen) == std::vector<float>{-1, 6, 8});
}

TEST_CASE("all axes folded away leave one value; no elements leave identities") {
  auto const x = numbers(12);
  CHECK(run(from(shaped(x, 3, 4)) | over<0, 1>(sum)) == 66.f);
  CHECK(run(from(x) | over<0>(sum)) == 66.f);
  CHECK(values(run(from(shaped(x.data(), 3, 0)) | over<1>(sum))) == std::vector<float>{0, 0, 0});
  CHECK(run(from(shaped(x.data(), 3, 0)) | over<0>(sum)).size() == 0);
}

TEST_CASE("extents that disagree are named") {
  auto const x = numbers(12);
  CHECK_THROWS_WITH_AS(run(from(shaped(x, 3, 5)) | over<0>(sum)),
                       "[tally-E2] column _1 has 12 elements, its axes take 15. docs/errors.md#E2", extent_mismatch);
  CHECK_THROWS_AS(run(from(shaped(x, 3, 4), shaped(x, 4, 3)) | over<0>(sum(_1 * _2))), extent_mismatch);
  CHECK_THROWS_AS(run(from(shaped(x, 3, 4), along<1>(x)) | over<0>(sum(_1 * _2))), extent_mismatch);
}

TEST_CASE("its text names axes and extents") {
  std::vector<float> const x(12), w(4);
  CHECK(text_of(from(shaped(x, 3, 4), along<1>(w)) | filter(_1 > 0.f) | reduce(over<0, 1>(sum), over<1>(mean, max(_2)), count)) ==
        "from(f32[3 x 4], along<1>(f32[4])) | filter(_1 > 0) | reduce(over<0, 1>(sum(_1)), over<1>(mean(_1), max(_2)), count)");
}

TEST_CASE("an array of answers is a source with its axes") {
  std::vector<int> numbers(24);
  for (int i = 0; i < 24; ++i) numbers[std::size_t(i)] = i;
  auto const matrix = run(from(shaped(numbers, 2, 3, 4)) | over<0>(sum), on::cpu);
  static_assert(column_like<decltype((matrix))> && !column_like<std::remove_const_t<decltype(matrix)>>); // a temporary one would be gone
  auto const row = run(from(matrix) | over<0>(sum), on::cpu);
  REQUIRE(row.size() == 4);
  for (std::size_t j = 0; j < 4; ++j) CHECK(row[j] == matrix(0, j) + matrix(1, j) + matrix(2, j));
  CHECK(run(from(matrix) | sum, on::cpu) == 276);
  CHECK(run(from(row) | sum, on::cpu) == 276);
}

TEST_CASE("a checked sum that leaves its range is an overflow along any axis, alone and beside others, and nothing is written") {
  i64 const most = std::numeric_limits<i64>::max();
  std::vector<i64> x{1, 2, 3, most, 1, 5};
  auto const rows = from(shaped(x, 2, 3));
  CHECK_THROWS_AS(run(rows | over<1>(sum.checked())), overflow);
  CHECK_THROWS_AS(run(rows | over<0>(sum.checked())), overflow);
  CHECK_THROWS_AS(run(rows | over<0, 1>(sum.checked())), overflow);
  CHECK_THROWS_AS(run(rows | reduce(over<1>(sum.checked() / count), over<0>(max), sum)), overflow);
  std::vector<i64> out(2, -7);
  CHECK_THROWS_AS(run_into(rows | over<1>(sum.checked()), out), overflow);
  CHECK(out == std::vector<i64>{-7, -7});
  CHECK(run(rows | filter(_1 < 100) | over<1>(sum.checked()))[1] == 6);
  std::vector<i64> many(std::size_t(2048 * 1024), 1);
  many[1'000'000] = most;
  auto const matrix = from(shaped(many, 2048, 1024));
  CHECK_THROWS_AS(run(matrix | reduce(over<0>(sum.checked()), over<1>(sum), sum)), overflow);
  CHECK_THROWS_AS(run(matrix | reduce(over<0>(sum), over<1>(sum.checked()), sum)), overflow);
}

TEST_CASE("extents below zero are errors, whatever their product") {
  std::vector<float> const one{42};
  CHECK_THROWS_AS(run(from(shaped(one, -1, -1)) | count), extent_mismatch);
  CHECK_THROWS_AS(run(from(shaped(one.data(), -1, -1)) | count), extent_mismatch);
  CHECK_THROWS_AS(run(from(shaped(one.data(), i64(1) << 40, i64(1) << 40)) | count), too_large);
}
