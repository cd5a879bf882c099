// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The grouping group_by: the keys that were met, and their folds.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <vector>

using namespace tally::v0;

namespace {
template <class T>
std::vector<T> values(mdarray<T, 1> const& a) {
  return {a.begin(), a.end()};
}
} // namespace

TEST_CASE("keys come sorted, each once, with an answer for every fold") {
  std::vector<float> const x{1, 2, 4, 8};
  std::vector<i64> const year{1999, -5, 1999, i64(1) << 40};
  auto const [keys, sums, counts] = run(from(x, year) | group_by(_2, sum(_1), count));
  static_assert(std::is_same_v<decltype(keys), mdarray<i64, 1> const>);
  CHECK(values(keys) == std::vector<i64>{-5, 1999, i64(1) << 40});
  CHECK(values(sums) == std::vector<float>{2, 5, 8});
  CHECK(values(counts) == std::vector<i64>{1, 2, 1});
}

TEST_CASE("only what passes the filter has a key") {
  std::vector<int> const x{3, 9, 3, 4};
  auto const [keys, counts] = run(from(x) | filter(_1 < 9) | group_by(_1, count));
  CHECK(values(keys) == std::vector<int>{3, 4});
  CHECK(values(counts) == std::vector<i64>{2, 1});
  auto const nothing = run(from(x) | filter(_1 > 9) | group_by(_1, count));
  CHECK(std::get<0>(nothing).size() == 0);
  CHECK(std::get<1>(nothing).size() == 0);
}

TEST_CASE("many keys, any number of threads: the same as a map, and the bits of exact sums") {
  std::mt19937_64 random(1);
  std::vector<u64> key(300'000);
  std::vector<float> x(key.size());
  std::map<u64, std::vector<float>> groups;
  for (std::size_t i = 0; i < key.size(); ++i) {
    key[i] = (random() % 5000) * 0x9e3779b97f4a7c15u;
    x[i] = static_cast<float>(random() >> 40) * 0.37f;
    groups[key[i]].push_back(x[i]);
  }
  std::vector<u64> expected_keys;
  std::vector<float> expected_sums, expected_logs;
  for (auto const& [k, of] : groups) {
    expected_keys.push_back(k);
    expected_sums.push_back(run(of | sum, exact));
  }
  for (int const threads : {1, 2, 3}) {
    auto const [keys, sums, logs] = run(from(x, key) | group_by(_2, sum(_1), logsumexp(_1)), on::cpu.threads(threads));
    CHECK(values(keys) == expected_keys);
    CHECK(values(sums) == expected_sums);
    if (threads == 1)
      expected_logs = values(logs);
    CHECK(values(logs) == expected_logs);
  }
  auto const quick = run(from(x, key) | group_by(_2, sum(_1)), fast);
  CHECK(values(std::get<0>(quick)) == expected_keys);
  CHECK(std::get<1>(quick)(0) == doctest::Approx(expected_sums[0]));
}

TEST_CASE("several keys: an array of each, sorted by the first, then by the second") {
  std::vector<int> const town{3, -1, 3, -1, 3, 7};
  std::vector<unsigned char> const day{2, 200, 1, 200, 2, 0};
  std::vector<float> const x{1, 2, 3, 4, 5, 6};
  auto const by_both = from(town, day, x) | group_by(_1, _2, sum(_3), count);
  auto const [towns, days, sums, counts] = run(by_both);
  static_assert(std::is_same_v<decltype(towns), mdarray<int, 1> const> && std::is_same_v<decltype(days), mdarray<unsigned char, 1> const>);
  CHECK(values(towns) == std::vector<int>{-1, 3, 3, 7});
  CHECK(values(days) == std::vector<unsigned char>{200, 1, 2, 0});
  CHECK(values(sums) == std::vector<float>{6, 3, 6, 6});
  CHECK(values(counts) == std::vector<i64>{2, 1, 2, 1});
  CHECK(text_of(by_both) == "from(i32[6], u8[6], f32[6]) | reduce(group_by(_1, _2, sum(_3), count))");

  std::mt19937 random(2);
  std::vector<i16> one(20'000);
  std::vector<i32> other(one.size());
  std::map<std::tuple<i16, bool, i32>, i64> groups;
  for (std::size_t i = 0; i < one.size(); ++i) {
    one[i] = static_cast<i16>(random() % 40 * 1600 - 32000);
    other[i] = static_cast<i32>(random() % 30 * 140'000'000 - 2'100'000'000);
    ++groups[{one[i], i % 3 == 0, other[i]}];
  }
  auto const [k1, k2, k3, met] = run(from(one, other) | group_by(_1, tally::index % 3 == 0, _2, count));
  REQUIRE(k1.size() == groups.size());
  bool same = true;
  std::size_t k = 0;
  for (auto const& [key, n] : groups) {
    same = same && key == std::tuple(k1.data()[k], k2.data()[k], k3.data()[k]) && met.data()[k] == n;
    ++k;
  }
  CHECK(same);
  CHECK(run(from(one, other) | filter(_2 == 1) | group_by(_1, _2, count)) == std::tuple(mdarray<i16, 1>({0}), mdarray<i32, 1>({0}), mdarray<i64, 1>({0})));
}

TEST_CASE("a GPU takes what it takes by keys of a known range") {
  std::vector<float> const x{1, 2, 4};
  std::vector<int> const key{7, -7, 7};
  auto sums = from(x, key) | filter(_1 > 0.f) | group_by(_2 / 2, sum(_1), argmin(_1), variance(_1));
  auto logs = from(x, key) | group_by(_2, logsumexp(_1));
  auto of_host = from(x, key) | map([](float v, int k) { return v < 3 ? k : 0; }) | group_by(_1, count);
  static_assert(detail::runnable_grouped<decltype(sums), on::gpu_place>);
  static_assert(detail::runnable_grouped<decltype(logs), on::gpu_place>);
  static_assert(!detail::runnable_grouped<decltype(of_host), on::gpu_place>);
  static_assert(detail::runnable_grouped<decltype(of_host), on::cpu_place>);
  if (gpu::device_count() == 0)
    CHECK_THROWS_AS(run(sums, on::gpu), no_gpu);
  CHECK(values(std::get<0>(run(sums))) == std::vector<i64>{-3, 3});
}
