// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every line of docs/tutorial/groupings.md, and the groupings on README's first screens, compiled and checked.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <sstream>
#include <tuple>
#include <vector>

using namespace tally;

namespace {
std::vector<float> const pixels{1, 2, 3, 4, 5, 6};
std::vector<float> const price{4, 10, 2.5f, 0, 8};
std::vector<int> const shop{0, 2, 0, 2, 2};
template <class Array>
auto list(Array const& a) {
  return std::vector(a.begin(), a.end());
}
} // namespace

TEST_CASE("one read, three shapes of answer") {
  auto const [columns, rows, total] = run(from(shaped(pixels, 2, 3)) | reduce(over<0>(sum), over<1>(mean), sum));
  CHECK(list(columns) == std::vector<float>{5, 7, 9});
  CHECK(list(rows) == std::vector<float>{2, 5});
  CHECK(total == 21.f);
}

TEST_CASE("axes") {
  auto const image = shaped(pixels, 2, 3);
  auto const columns = run(from(image) | reduce(over<0>(sum)));
  CHECK(columns.extent(0) == 3);
  CHECK(columns(1) == 7.f);
  auto const [least, most] = run(from(image) | reduce(over<1>(min, max)));
  CHECK(list(least) == std::vector<float>{1, 4});
  CHECK(list(most) == std::vector<float>{3, 6});
}

TEST_CASE("an operand of fewer axes") {
  std::vector<float> const weight{1, 0, 2};
  auto const weighted = run(from(shaped(pixels, 2, 3), along<1>(weight)) | reduce(over<1>(sum(_1 * _2))));
  CHECK(list(weighted) == std::vector<float>{7, 16});
  std::vector<float> const share{2, 1};
  auto const [of_rows, of_columns] = run(from(shaped(pixels, 2, 3), along<1>(weight), along<0>(share)) | reduce(over<1>(sum(_1 * _2)), over<0>(sum(_1 * _3))));
  CHECK(list(of_columns) == std::vector<float>{6, 9, 12});
  CHECK(list(of_rows) == std::vector<float>{7, 16});
  auto const [columns_of_each, rows_of_each, each] = run(from(shaped(pixels, 3, 2, 1)) | reduce(over<1>(sum), over<2>(sum), over<1, 2>(mean)));
  CHECK(rows_of_each(2, 1) == 6.f);
  CHECK(list(each) == std::vector<float>{1.5f, 3.5f, 5.5f});
  CHECK(list(columns_of_each) == std::vector<float>{3, 7, 11});
}

TEST_CASE("keys") {
  auto const [takings, sales] = run(from(price, shop) | reduce(by_key(_2, 3, sum(_1), count)));
  CHECK(list(takings) == std::vector<float>{6.5f, 0, 18});
  CHECK(list(sales) == std::vector<i64>{2, 0, 3});
  auto const [shops, dearest] = run(from(price, shop) | reduce(group_by(_2, max(_1))));
  CHECK(list(shops) == std::vector<int>{0, 2});
  CHECK(list(dearest) == std::vector<float>{4, 10});
}

TEST_CASE("bins") {
  auto const bins = run(from(price) | reduce(histogram(0, 10, 5)));
  CHECK(list(bins) == std::vector<i64>{1, 1, 1, 0, 2});
}

TEST_CASE("segments") {
  std::vector<int> const offsets{0, 2, 2, 5};
  auto const sums = run(from(price) | reduce(by_segment(offsets, sum)));
  CHECK(list(sums) == std::vector<float>{14, 0, 10.5f});

  auto const mu = from(price) | by_segment(offsets, mean);
  CHECK(list(run(from(price) | map(_1 - let(mu)) | collect)) == std::vector<float>{-3, 3, -1, -3.5f, 4.5f});
}

TEST_CASE("all together, under a filter") {
  auto const [by_shop, dearest, n] = run(from(price, shop)
                                         | filter(_1 > 0.f)
                                         | reduce(by_key(_2, 3, sum(_1)), max(_1), count));
  CHECK(list(by_shop) == std::vector<float>{6.5f, 0, 18});
  CHECK(std::tuple(dearest, n) == std::tuple(10.f, 4));
}

TEST_CASE("groups of nothing") {
  auto const most = run(from(price, shop) | reduce(by_key(_2, 3, max(_1).or_else(-1.f))));
  CHECK(list(most) == std::vector<float>{4, -1, 10});
}

TEST_CASE("into memory of the caller") {
  std::vector<float> columns(3), rows(2);
  float total;
  run_into(from(shaped(pixels, 2, 3)) | reduce(over<0>(sum), over<1>(sum), sum), columns, rows, total);
  CHECK(columns == std::vector<float>{5, 7, 9});
  CHECK(rows == std::vector<float>{6, 15});
  CHECK(total == 21.f);
}

TEST_CASE("why") {
  std::ostringstream out;
  out << explain(from(shaped(pixels, 2, 3)) | reduce(over<0>(sum), over<1>(sum)), targets::h200);
  CHECK(out.str().find("threads_across_groups") != std::string::npos);
}
