// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks that take turns on the host: the answers of each alone, whatever the sizes of segments and the number of threads.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <random>
#include <span>
#include <vector>

using namespace tally;

namespace {

std::vector<float> some_numbers(std::size_t n) {
  std::mt19937 random(3);
  std::vector<float> x(n);
  for (auto& v : x) v = static_cast<float>(random() % 20001) * 0.37f - 3000;
  return x;
}
/// Offsets of segments of at most so many elements, of any size below; then one that is as long as what is left, where there is.
std::vector<int> some_offsets(std::size_t n, int longest, std::size_t behind) {
  std::mt19937 random(4);
  std::vector<int> offsets{7};
  while (std::size_t(offsets.back()) + behind < n) offsets.push_back(int(std::min(n - behind, std::size_t(offsets.back()) + random() % std::size_t(longest + 1))));
  offsets.push_back(int(n));
  return offsets;
}
template <class A, class B>
bool same(A const& a, B const& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](auto x, auto y) { return std::bit_cast<unsigned>(x) == std::bit_cast<unsigned>(y); });
}

} // namespace

TEST_CASE("segments and the whole in turn have the answers that they have alone") {
  for (std::size_t const n : {10u, 1000u, 70'000u, 3'000'001u})
    for (int const longest : {3, 900, 400'000})
      for (std::size_t const behind : {0u, 2'000'000u}) {
        if (behind >= n) continue;
        auto const x = some_numbers(n);
        auto const offsets = some_offsets(n, longest, behind), others = some_offsets(n, longest / 2 + 1, 0);
        auto const sums = run(from(x) | by_segment(offsets, sum(_1)), on::cpu.threads(1));
        auto const greatest = run(from(x) | by_segment(others, max(_1)), on::cpu.threads(1));
        float const whole = run(from(x) | sum(_1), on::cpu.threads(1));
        for (int const threads : {1, 2, 5}) {
          CAPTURE(n);
          CAPTURE(longest);
          CAPTURE(behind);
          CAPTURE(threads);
          auto const [total, by, most, count_of_all] = run(from(x) | reduce(sum(_1), by_segment(offsets, sum(_1)), by_segment(others, max(_1)), count), on::cpu.threads(threads));
          CHECK(std::bit_cast<unsigned>(total) == std::bit_cast<unsigned>(whole));
          CHECK(same(by, sums));
          CHECK(same(most, greatest));
          CHECK(count_of_all == i64(n));
          auto const [one, two] = run(from(x) | reduce(by_segment(others, max(_1)), by_segment(offsets, sum(_1))), on::cpu.threads(threads));
          CHECK(same(one, greatest));
          CHECK(same(two, sums));
        }
      }
}

TEST_CASE("a giant segment is cut at the same places whoever folds its parts") {
  std::size_t const n = 5'000'000;
  auto const x = some_numbers(n);
  std::vector<int> const one{3, int(n) - 5}, between{0, 100, 100, 2'500'000, 2'500'001, 2'500'001, int(n)};
  float const alone = run(from(std::span(x).subspan(3, n - 8)) | sum(_1), on::cpu);
  for (int const threads : {1, 2, 3, 7}) {
    CAPTURE(threads);
    CHECK(run(from(x) | by_segment(one, sum(_1)), on::cpu.threads(threads))[0] == alone);
    auto const [by, total, many] = run(from(x) | reduce(by_segment(one, sum(_1)), mean(_1), by_segment(between, variance(_1))), on::cpu.threads(threads));
    CHECK(by[0] == alone);
    CHECK(same(many, run(from(x) | by_segment(between, variance(_1)), on::cpu.threads(1))));
  }
}

TEST_CASE("wrong offsets are told before anything is folded, and segments of nothing take no turn") {
  auto const x = some_numbers(5000);
  std::vector<int> const right{0, 10, 5000}, falling{0, 100, 50}, beyond{0, 5001}, one_offset{5}, empty{0, 0};
  CHECK_THROWS_AS(run(from(x) | reduce(sum(_1), by_segment(right, max(_1)), by_segment(falling, max(_1))), on::cpu), bad_offsets);
  CHECK_THROWS_AS(run(from(x) | reduce(by_segment(beyond, max(_1)), sum(_1)), on::cpu), bad_offsets);
  auto const [total, nothing, some] = run(from(x) | reduce(sum(_1), by_segment(one_offset, sum(_1)), by_segment(right, count, max(_1))), on::cpu);
  CHECK(nothing.size() == 0);
  CHECK(std::get<0>(some)[1] == 4990);
  CHECK(total == run(from(x) | sum(_1), on::cpu));
  std::vector<float> const none_there;
  auto const [zero, of_nothing] = run(from(none_there) | reduce(sum(_1), by_segment(empty, sum(_1))), on::cpu);
  CHECK(zero == 0);
  CHECK(of_nothing[0] == 0);
}

TEST_CASE("checked sums of segments that overflow are told, and functions of the user are folded in turn") {
  std::vector<i64> const big{i64(1) << 62, i64(1) << 62, i64(1) << 62, 5};
  std::vector<int> const offsets{0, 1, 4}, halves{0, 2, 4};
  CHECK_THROWS_AS(run(from(big) | reduce(max(_1), by_segment(offsets, sum(_1).checked())), on::cpu), overflow);
  auto const [most, by, least] =
      run(from(big) | map([](i64 v) { return v / 2; }) | reduce(max(_1), by_segment(offsets, sum(_1)), by_segment(halves, min(_1))), on::cpu.threads(2));
  CHECK(most == i64(1) << 61);
  CHECK(by[1] == (i64(1) << 62) + 2);
  CHECK(least[1] == 2);
}
