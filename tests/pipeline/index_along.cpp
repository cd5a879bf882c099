// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// index_along<k>: where an element is along an axis of its source.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <numeric>
#include <vector>

using namespace tally;

namespace {
template <class T, int R>
std::vector<T> values(mdarray<T, R> const& a) {
  return {a.begin(), a.end()};
}
} // namespace

TEST_CASE("index_along<k> counts along axis k, in folds, maps and filters") {
  std::vector<i32> x(3 * 4 * 5);
  std::iota(x.begin(), x.end(), 0);
  i64 outer = 0, middle = 0, inner = 0, chosen = 0;
  for (i64 a = 0; a < 3; ++a)
    for (i64 b = 0; b < 4; ++b)
      for (i64 c = 0; c < 5; ++c) {
        i64 const v = x[static_cast<std::size_t>((a * 4 + b) * 5 + c)];
        outer += a * v, middle += b * v, inner += c * v;
        chosen += a < b && c != 2 ? v : 0;
      }
  auto const cube = from(shaped(x, 3, 4, 5));
  CHECK(run(cube | reduce(sum(index_along<0> * _1), sum(index_along<1> * _1), sum(index_along<2> * _1)), on::cpu) ==
        std::tuple(outer, middle, inner));
  CHECK(run(cube | filter(index_along<0> < index_along<1>) | filter(index_along<2> != 2) | sum, on::cpu) == chosen);
  CHECK(run(cube | map(index_along<2> * _1) | sum, on::cpu) == inner);
  CHECK(run(cube | sum(_1).where(index_along<1> == 3 && index_along<0> > 1), on::cpu) == 55 + 56 + 57 + 58 + 59);
}

TEST_CASE("a group sees the indices of the source, whatever its axes and strides") {
  std::vector<float> const x(12, 1.f);
  auto const [rows, columns] =
      run(from(shaped(x.data(), {4, 3}, {-0, 4})) | reduce(over<1>(max(index_along<0>), sum(index_along<1>)), over<0>(min(index_along<1>))), on::cpu);
  CHECK(values(std::get<0>(rows)) == std::vector<i64>{0, 1, 2, 3});
  CHECK(values(std::get<1>(rows)) == std::vector<i64>{3, 3, 3, 3});
  CHECK(values(columns) == std::vector<i64>{0, 1, 2});
}

TEST_CASE("along one axis it is index; a pipeline that is only named keeps its name") {
  std::vector<float> const x(7, 2.f);
  CHECK(run(from(x) | max(index_along<0>), on::cpu) == 6);
  CHECK(text_of(from(shaped(x, 7, 1)) | sum(index_along<1>)).find("index_along<1>") != std::string::npos);
}

TEST_CASE("a lower triangle of a matrix") {
  i64 const n = 300;
  std::vector<float> const ones(static_cast<std::size_t>(n * n), 1.f);
  auto const by_row = run(from(shaped(ones, n, n)) | filter(index_along<0> >= index_along<1>) | over<1>(sum), on::cpu);
  for (i64 i = 0; i < n; ++i)
    CHECK(by_row(i) == float(i + 1));
}

TEST_CASE("keys may be made of indices: sums of diagonals") {
  std::vector<i32> x(4 * 4);
  std::iota(x.begin(), x.end(), 0);
  auto const square = from(shaped(x, 4, 4));
  CHECK(values(run(square | by_key(index_along<0> - index_along<1> + 3, 7, sum(_1)), on::cpu)) == std::vector<i64>{3, 9, 18, 30, 27, 21, 12});
  CHECK(values(run(square | filter(index_along<0> == index_along<1>) | by_key(index_along<0>, 4, count), on::cpu)) == std::vector<i64>{1, 1, 1, 1});
  auto const [anti, totals] = run(square | group_by(index_along<0> + index_along<1>, sum(_1)), on::cpu);
  CHECK(values(anti) == std::vector<i64>{0, 1, 2, 3, 4, 5, 6});
  CHECK(values(totals) == std::vector<i64>{0, 5, 15, 30, 30, 25, 15});
}
