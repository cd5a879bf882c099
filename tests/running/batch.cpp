// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Many reductions at once: each has the answers it has alone.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <span>
#include <vector>

using namespace tally;

namespace {
std::vector<float> rough(std::size_t n, std::size_t seed) {
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i)
    x[i] = float(((i + seed) * 2654435761u) >> 8 & 0xffff) / 977.f - 11.f;
  return x;
}
bool same_bits(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; }

/// Columns of sizes around the borders of leaves, some empty, one large.
std::vector<std::vector<float>> table() {
  std::vector<std::vector<float>> columns;
  for (std::size_t k = 0; k < 300; ++k)
    columns.push_back(rough(k % 11 == 0 ? 0 : k * 37 % 5000, k));
  columns.push_back(rough(1300001, 5));
  columns.push_back(rough(1, 9));
  return columns;
}
} // namespace

TEST_CASE("a batch of different reductions gives a tuple of what each gives alone") {
  auto const x = rough(5000, 1);
  std::vector<int> const y{3, 1, 2};
  std::vector<int> const offsets{0, 1, 3};
  auto const big = rough(1500000, 2);
  auto const [total, ends, parts, of_big] =
      run(batch(from(x) | sum, from(y) | reduce(min, max), from(y) | by_segment(offsets, sum), from(big) | reduce(variance)));
  CHECK(same_bits(total, run(x | sum)));
  CHECK(ends == std::tuple(1, 3));
  CHECK(std::vector<i64>(parts.begin(), parts.end()) == std::vector<i64>{3, 3});
  CHECK(same_bits(of_big, run(big | variance)));
}

TEST_CASE("a vector of reductions of one type gives a vector of answers, on any number of threads") {
  auto const columns = table();
  std::vector<decltype(from(columns[0]) | filter(_1 > 0.f) | reduce(sum, count, max.or_else(-1.f)))> reductions;
  for (auto const& c : columns)
    reductions.push_back(from(c) | filter(_1 > 0.f) | reduce(sum, count, max.or_else(-1.f)));
  for (int const threads : {1, 2, 3, 8}) {
    auto const answers = run(reductions, on::cpu.threads(threads));
    static_assert(std::is_same_v<decltype(answers), std::vector<std::tuple<float, i64, float>> const>);
    REQUIRE(answers.size() == columns.size());
    for (std::size_t k = 0; k < columns.size(); ++k) {
      INFO("column ", k, " on ", threads, " threads");
      auto const [s, n, m] = run(reductions[k], on::cpu);
      CHECK(same_bits(std::get<0>(answers[k]), s));
      CHECK(std::get<1>(answers[k]) == n);
      CHECK(same_bits(std::get<2>(answers[k]), m));
    }
  }
}

TEST_CASE("a span of reductions, captured numbers, bools, arrays and contracts are no exception") {
  auto const columns = table();
  std::vector<decltype(from(columns[0]) | sum(_1 * 2.f))> scaled;
  std::vector<decltype(from(columns[0]) | any(_1 > 2.f))> questions;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    scaled.push_back(from(columns[k]) | sum(_1 * float(k)));
    questions.push_back(from(columns[k]) | any(_1 > float(k)));
  }
  auto const some = run(std::span(scaled).subspan(3, 40), exact);
  auto const found = run(std::span<decltype(scaled)::value_type const>(scaled), fast, on::cpu);
  for (std::size_t k = 0; k < some.size(); ++k)
    CHECK(same_bits(some[k], run(columns[3 + k] | sum(_1 * float(3 + k)), exact)));
  CHECK(found.size() == columns.size());
  auto const yes = run(questions);
  for (std::size_t k = 0; k < columns.size(); ++k)
    CHECK(yes[k] == run(questions[k]));
  std::vector<decltype(from(shaped(columns[1], 1, 1)) | over<0>(sum))> arrays;
  for (std::size_t k = 1; k < 9; ++k)
    arrays.push_back(from(shaped(columns[k], i64(columns[k].size()) / 37, 37)) | over<0>(sum));
  auto const rows = run(arrays);
  for (std::size_t k = 0; k < arrays.size(); ++k)
    CHECK(rows[k] == run(arrays[k]));
}

TEST_CASE("an empty batch has no answers, and a fault in one reduction is an error before any has run") {
  std::vector<decltype(from(std::declval<std::vector<float> const&>()) | sum)> nothing;
  CHECK(run(nothing).empty());
  std::vector<float> const x{1, 2}, y{1, 2, 3}, none_at_all;
  CHECK_THROWS_AS(run(batch(from(x) | sum, from(x, y) | sum(_1 * _2))), extent_mismatch);
  CHECK_THROWS_AS(run(batch(from(x) | sum, from(none_at_all) | max)), empty_input);
}
