// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verb run_into: answers go into memory of the caller, all of them or none.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

using namespace tally::v0;

TEST_CASE("an answer goes into a variable") {
  std::vector<float> const x{1.f, 2.f, 3.f};
  float total = 0;
  run_into(from(x) | sum, total);
  CHECK(total == 6.f);
}

TEST_CASE("several answers go into several outputs, variables and pointers alike, in order") {
  std::vector<float> const x{1.f, 2.f, 3.f, 6.f};
  std::vector<float> totals(2, -1.f);
  i64 n = 0;
  std::optional<float> greatest;
  run_into(from(x) | reduce(sum, count, mean, max.maybe()), totals.data(), n, &totals[1], greatest);
  CHECK(totals == std::vector<float>{12.f, 3.f});
  CHECK(n == 4);
  CHECK(greatest == 6.f);
}

TEST_CASE("a place and a contract may stand among the outputs") {
  std::vector<float> const x(10000, 1.f);
  float total = 0;
  double wide = 0;
  run_into(from(x) | reduce(sum, sum), on::cpu.threads(2), total, wide, reproducible);
  CHECK(total == 10000.f);
  CHECK(wide == 10000.0);
}

TEST_CASE("an output may be wider than its answer, never narrower") {
  using detail::all_taken, detail::output;
  CHECK(all_taken<pack<output<double>>, pack<float>>);
  CHECK(all_taken<pack<output<std::optional<i64>>>, pack<i64>>);
  CHECK_FALSE(all_taken<pack<output<float>>, pack<double>>);
  CHECK_FALSE(all_taken<pack<output<int>>, pack<i64>>);
  CHECK_FALSE(all_taken<pack<output<float>>, pack<i64>>);
  CHECK_FALSE(all_taken<pack<output<float const>>, pack<float>>);
  CHECK_FALSE(all_taken<pack<detail::no_output>, pack<float>>);
  CHECK_FALSE(all_taken<pack<output<float>>, pack<float, float>>);
}

TEST_CASE("nothing is written when anything is wrong") {
  std::vector<float> const x{1.f, 2.f}, y{1.f}, nothing;
  float a = -1.f, b = -2.f;
  SUBCASE("a null output is named") {
    CHECK_THROWS_WITH_AS(run_into(from(x) | reduce(sum, max), a, static_cast<float*>(nullptr)),
                         "[tally-E3] output 2 is a null pointer. docs/errors.md#E3", null_column);
  }
  SUBCASE("columns that do not fit") {
    CHECK_THROWS_AS(run_into(from(x, y) | reduce(sum(_1 * _2), max), a, b), extent_mismatch);
  }
  SUBCASE("the second fold has no answer") { CHECK_THROWS_AS(run_into(from(nothing) | reduce(sum, max), a, b), empty_input); }
  CHECK(a == -1.f);
  CHECK(b == -2.f);
}

TEST_CASE("a GPU that is not there is an error, and the outputs stay") {
  if (gpu::device_count() > 0) return;
  std::vector<float> const x{1.f, 2.f};
  float a = -1.f;
  CHECK_THROWS_AS(run_into(from(x) | sum, a, on::gpu), no_gpu);
  CHECK(a == -1.f);
}

TEST_CASE("every fold of a grouping goes into an output of its own, in order") {
  std::vector<float> const x{1, 2, 3, 4, 5, 6};
  std::vector<float> rows(2, -1.f), greatest(2, -1.f), columns(3, -1.f);
  float total = -1;
  run_into(from(shaped(x, 2, 3)) | reduce(over<0>(sum), over<1>(sum, max), sum), columns, rows.data(), greatest, total);
  CHECK(columns == std::vector<float>{5, 7, 9});
  CHECK(rows == std::vector<float>{6, 15});
  CHECK(greatest == std::vector<float>{3, 6});
  CHECK(total == 21.f);
}

TEST_CASE("arrays, spans, arrays of arrays of answers and wider types take groups") {
  std::vector<float> const x{1, 2, 3, 4, 5, 6};
  std::vector<i32> const key{0, 2, 0, 2, 2, 0}, offsets{0, 1, 6};
  double sums[3] = {-1, -1, -1};
  std::array<i64, 3> counts{-1, -1, -1};
  mdarray<float, 1> segments({2});
  run_into(from(x, key) | reduce(by_key(_2, 3, sum(_1), count), by_segment(offsets, max(_1))), on::cpu.threads(2), sums, std::span(counts), segments);
  CHECK(std::vector<double>(sums, sums + 3) == std::vector<double>{10, 0, 11});
  CHECK(counts == std::array<i64, 3>{3, 0, 3});
  CHECK(segments[0] == 1.f);
  CHECK(segments[1] == 6.f);
}

TEST_CASE("arrays in memory that is read, or that meet each other, are written when all is read") {
  std::vector<float> x(300 * 3);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = float(i % 101) / 7.f;
  auto const rows = from(shaped(x, 300, 3)) | over<1>(sum, max);
  auto const [sums, most] = run(rows, on::cpu);
  std::vector<float> out(301, -1.f);
  run_into(rows, out.data(), out.data() + 1, on::cpu);
  CHECK(out[0] == sums[0]);
  CHECK(std::equal(most.begin(), most.end(), out.begin() + 1));
  std::vector<float> apart(300);
  run_into(rows, x.data() + 2, apart, on::cpu);
  CHECK(std::equal(sums.begin(), sums.end(), x.begin() + 2));
  CHECK(std::equal(most.begin(), most.end(), apart.begin()));
}

TEST_CASE("a host function that throws leaves the arrays as they are") {
  std::vector<float> const x(4000, 1.f);
  std::vector<float> out(1000, -1.f);
  int called = 0;
  auto const rows = from(shaped(x, 1000, 4)) | map([&called](float v) {
    if (++called == 3000) throw std::runtime_error("enough");
    return v;
  });
  CHECK_THROWS_AS(run_into(rows | over<1>(sum), out, on::cpu.threads(1)), std::runtime_error);
  CHECK(std::count(out.begin(), out.end(), -1.f) == 1000);
}

TEST_CASE("a range of another size than its answers is named with both numbers, and nothing is written") {
  std::vector<float> const x{1, 2, 3, 4, 5, 6};
  std::vector<float> columns(3, -1.f), rows(3, -1.f);
  auto const r = from(shaped(x, 2, 3)) | reduce(over<0>(sum), over<1>(sum));
  CHECK_THROWS_WITH_AS(run_into(r, columns, rows), "[tally-E2] output 2 has room for 3 answers, there are 2. docs/errors.md#E2", extent_mismatch);
  CHECK_THROWS_WITH_AS(run_into(r, columns, static_cast<float*>(nullptr)), "[tally-E3] output 2 is a null pointer. docs/errors.md#E3", null_column);
  std::vector<i32> const key{0, 1, 2, 3, 4, 9};
  CHECK_THROWS_AS(run_into(from(x, key) | reduce(sum(_1), by_key(_2, 3, sum(_1))), rows.data(), columns), key_out_of_range);
  CHECK(columns == std::vector<float>{-1, -1, -1});
  CHECK(rows == std::vector<float>{-1, -1, -1});
}

TEST_CASE("an array needs memory, a value needs no range, and neither loses bits") {
  using detail::takes_group;
  CHECK(takes_group<detail::pointer_output<double>, mdarray<float, 2>>);
  CHECK(takes_group<detail::range_output<float>, mdarray<float, 1>>);
  CHECK(takes_group<detail::variable_output<float>, float>);
  CHECK_FALSE(takes_group<detail::variable_output<float>, mdarray<float, 1>>);
  CHECK_FALSE(takes_group<detail::range_output<float>, float>);
  CHECK_FALSE(takes_group<detail::range_output<float>, mdarray<double, 1>>);
  CHECK_FALSE(takes_group<detail::no_output, mdarray<float, 1>>);
  using Rows = decltype(from(shaped(std::declval<std::vector<float> const&>(), 2, 3)) | reduce(over<1>(sum, max)));
  CHECK(detail::runnable_into_grouped<Rows, float*&, std::vector<float>&>);
  CHECK_FALSE(detail::runnable_into_grouped<Rows, float*&>);
  CHECK_FALSE(detail::runnable_into_grouped<Rows, float*&, float&>);
}

TEST_CASE("no group at all is no answer to write") {
  std::vector<float> const nothing;
  std::vector<float> rows;
  float* const nowhere = nullptr;
  run_into(from(shaped(nothing, 0, 3)) | over<1>(sum), rows);
  CHECK(rows.empty());
  CHECK_THROWS_AS(run_into(from(shaped(nothing, 0, 3)) | over<1>(sum), nowhere), null_column);
}
