// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The grouping group_by: the keys that were met, and their folds.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <vector>

using namespace tally;

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
