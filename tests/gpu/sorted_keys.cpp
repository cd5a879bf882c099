// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds by key that need the order of their elements, on a GPU: bit for bit the answers of the CPU, whatever the sizes, the number of bins,
// the keys and what stands beside them.
#include "fold/own_folds.hpp"
#include "gpu/on_device.hpp"
#include "gpu/same_on_both.hpp"

#include <tally/tally.hpp>

#include <cmath>
#include <random>

using namespace tally;

namespace {

/// Keys below `bins`: one of them for half of all, or each as often, or lengths of all kinds side by side.
enum class kind_of_keys { hot, even, runs };
std::vector<int> keys_of(kind_of_keys kind, std::size_t n, int bins) {
  std::mt19937 random(11);
  std::vector<int> keys(n);
  int run = 0, left = 0;
  for (int& k : keys) {
    int const any = static_cast<int>(random() % static_cast<unsigned>(bins));
    if (left-- == 0)
      run = any, left = static_cast<int>(random() % 3 == 0 ? random() % 3000 : random() % 10);
    k = kind == kind_of_keys::runs ? run : kind == kind_of_keys::hot && random() % 2 == 0 ? bins / 2 : any;
  }
  return keys;
}
constexpr kind_of_keys all_kinds[] = {kind_of_keys::hot, kind_of_keys::even, kind_of_keys::runs};
std::vector<float> small_numbers(std::size_t n) {
  std::mt19937 random(3);
  std::vector<float> x(n);
  for (auto& v : x)
    v = float(int(random() % 20001) - 10000) / 777.f;
  return x;
}

} // namespace

TEST_CASE("sorted: logsumexp and folds of any order, of every size and number of bins") {
  if (no_kernels()) return;
  for (std::size_t const n : {1u, 2u, 31u, 100u, 4095u, 4096u, 4097u, 70'001u, 1'000'000u})
    for (int const bins : {1, 2, 255, 256, 1000, 65'536, 300'000})
      for (auto const kind : all_kinds) {
        if (n > 100'000 && kind == kind_of_keys::even && bins < 1000) continue;
        CAPTURE(n);
        CAPTURE(bins);
        CAPTURE(int(kind));
        auto const x = small_numbers(n);
        auto const keys = keys_of(kind, n, bins);
        same_on_both<2>(from(x, keys) | by_key(_2, bins, logsumexp(_1), own_rows_in_order(_1)));
      }
}

TEST_CASE("sorted: moments, states of every width, and folds without an order beside them") {
  if (no_kernels()) return;
  for (int const bins : {1, 7, 3000})
    for (auto const kind : all_kinds) {
      CAPTURE(bins);
      auto const x = small_numbers(200'003);
      std::vector<double> d(x.begin(), x.end());
      auto const keys = keys_of(kind, x.size(), bins);
      same_on_both(from(x, keys) | by_key(_2, bins, moments<4>(_1), logsumexp(_1)));
      same_on_both(from(d, keys) | by_key(_2, bins, moments<3>(_1)));
      same_on_both(from(d, keys) | by_key(_2, bins, moments<4>(_1), logsumexp(_1)));
      same_on_both(from(x, keys) | by_key(_2, bins, own_recurrence(_1), sum(_1), mean(_1), count, max(_1), argmin(_1), first(_1), last(_2)));
      same_on_both(from(x, keys) | by_key(_2, bins, logsumexp(_1), sum(_2).checked(), variance(_1), min(_1).or_else(4.f), bit_xor(_2)));
      same_on_both(from(keys) | map(cast<u32>(_1)) | by_key(cast<int>(_1), bins, own_matrices(_1)));
      auto const host = run(from(x, keys) | by_key(_2, bins, moments<3>(_1)), on::cpu), there = run(from(x, keys) | by_key(_2, bins, moments<3>(_1)), on::gpu);
      bool same = host.size() == there.size();
      for (std::size_t i = 0; same && i < host.size(); ++i) // member by member: there is a gap behind the last
        same = host[i].n == there[i].n && std::memcmp(&host[i].mean, &there[i].mean, 4) == 0 &&
               std::memcmp(host[i].central, there[i].central, sizeof host[i].central) == 0;
      CHECK(same);
    }
}

TEST_CASE("sorted: filters, masks, strays left out, bins of histograms, and numbers of every type") {
  if (no_kernels()) return;
  auto const x = small_numbers(150'000);
  auto const keys = keys_of(kind_of_keys::hot, x.size(), 1200);
  std::vector<bf16> b(x.size());
  std::vector<double> d(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    b[i] = bf16(x[i]), d[i] = double(x[i]) * 1.1;
  same_on_both(from(x, keys) | filter(_1 > 0.f) | by_key(_2, 1200, logsumexp(_1), own_rows_in_order(_1), logsumexp(_1).where(_1 > 2.f), argmax(_1)));
  same_on_both(from(x, keys) | filter(_1 > 1000.f) | by_key(_2, 1200, logsumexp(_1), count));
  same_on_both(from(x, keys) | by_key(_2 - 600, 700, logsumexp(_1), own_rows_in_order(_1)).dropping_strays());
  same_on_both(from(b, d, keys) | by_key(_3, 1200, logsumexp(_1), logsumexp(_2), sum(_1), first(_2)));
  same_on_both(from(x, d) | histogram(-5, 5, 333).of(logsumexp(_2), own_rows_in_order(_1), count));
  same_on_both(from(every(x.data(), 50'000, 3), iota(50'000)) |
               by_key(_2 % 77, 80, logsumexp(_1), own_rows_in_order(cast<float>(_2)), logsumexp(cast<float>(tally::index)), max(tally::index)));
  same_on_both(from(x, keys) | reduce(by_key(_2, 1200, logsumexp(_1)), by_key(_2, 1200, sum(_1)), logsumexp(_1)));
}

TEST_CASE("sorted: rows by key, keys that differ within a row, and columns") {
  if (no_kernels()) return;
  for (i64 const width : {1, 3, 33, 64, 1024})
    for (int const bins : {1, 40, 3000}) {
      CAPTURE(width);
      CAPTURE(bins);
      i64 const rows = 200'000 / width;
      auto const x = small_numbers(std::size_t(rows * width));
      auto const keys = keys_of(kind_of_keys::hot, std::size_t(rows), bins);
      auto const of_element = keys_of(kind_of_keys::even, x.size(), bins);
      same_on_both(from(shaped(x, rows, width), along<0>(keys)) | by_key<0>(_2, bins, logsumexp(_1), argmin(_1), own_rows_in_order(_1)));
      same_on_both(from(shaped(x, rows, width), shaped(of_element, rows, width)) | by_key<0>(_2, bins, logsumexp(_1)));
      same_on_both(from(shaped(x, rows, width), along<0>(keys)) | filter(_2 != 0) | by_key(_2, bins, own_rows_in_order(_1), sum(_1)));
    }
  auto const x = small_numbers(300 * 200);
  auto const keys = keys_of(kind_of_keys::hot, 300, 9);
  same_on_both(from(shaped(x.data(), {200, 300}, {1, 200}), along<1>(keys)) | by_key<1>(_2, 9, logsumexp(_1), own_rows_in_order(_1), argmax(_1)));
}

TEST_CASE("sorted: keys that are found, and fast where a fold does not commute") {
  if (no_kernels()) return;
  for (std::size_t const n : {1u, 5000u, 300'000u})
    for (int const bins : {1, 100, 50'000}) {
      auto const x = small_numbers(n);
      auto const keys = keys_of(kind_of_keys::runs, n, bins);
      same_on_both(from(x, keys) | group_by(_2 * 7 - 1000, logsumexp(_1), own_rows_in_order(_1), count));
      same_on_both(from(x, keys) | filter(_1 < 3.f) | group_by(_2, own_recurrence(_1), argmin(_1)));
      same_on_both(from(x, keys) | by_key(_2, bins, own_rows_in_order(_1)), fast);
      same_on_both(from(x, keys) | group_by(_2, own_rows_in_order(_1), max(_1)), fast);
    }
  auto const x = small_numbers(100'000);
  auto const keys = keys_of(kind_of_keys::hot, x.size(), 90);
  auto const [sums, logs] = run(from(x, keys) | by_key(_2, 90, sum(_1), logsumexp(_1)), on::gpu, fast);
  auto const [right_sums, right_logs] = run(from(x, keys) | by_key(_2, 90, sum(_1), logsumexp(_1)), on::cpu);
  for (int k = 0; k < 90; ++k) {
    CHECK(sums(k) == doctest::Approx(right_sums(k)).epsilon(1e-3).scale(100));
    CHECK(logs(k) == doctest::Approx(right_logs(k)));
  }
}

TEST_CASE("sorted: the first stray is reported, an overflow too, and what is in device memory is used there") {
  if (no_kernels()) return;
  auto const x = small_numbers(200'000);
  for (int const bins : {10, 100'000})
    for (std::size_t const at : {0u, 77'777u, 199'999u}) {
      auto keys = keys_of(kind_of_keys::hot, x.size(), bins);
      keys[at] = -7;
      keys[199'999] = -7;
      std::string const first_stray =
          "[tally-E16] the key at position " + std::to_string(at) + " is -7, the bins are [0, " + std::to_string(bins) + "). docs/errors.md#E16";
      CHECK_THROWS_WITH_AS(run(from(x, keys) | by_key(_2, bins, logsumexp(_1)), on::gpu), first_stray.c_str(), key_out_of_range);
      same_on_both(from(x, keys) | by_key(_2, bins, logsumexp(_1), own_rows_in_order(_1)).dropping_strays());
    }
  std::vector<i64> const large{std::numeric_limits<i64>::max(), 1, 1};
  std::vector<int> const together{0, 0, 1};
  CHECK_THROWS_AS(run(from(large, together) | by_key(_2, 2, sum(_1).checked(), logsumexp(cast<float>(_1))), on::gpu), overflow);
  auto const keys = keys_of(kind_of_keys::even, x.size(), 50);
  on_device const dx(x);
  on_device const dk(keys);
  auto const n = static_cast<i64>(x.size());
  for (i64 const skip : {0, 1, 5}) {
    std::vector<float> const own_x(x.begin() + skip, x.end());
    std::vector<int> const own_keys(keys.begin() + skip, keys.end());
    auto const host = run(from(own_x, own_keys) | by_key(_2, 50, logsumexp(_1), own_rows_in_order(_1)), on::cpu);
    CHECK(same_arrays(host, run(from(device(dx.data() + skip, n - skip), device(dk.data() + skip, n - skip)) | by_key(_2, 50, logsumexp(_1), own_rows_in_order(_1)))));
  }
}

TEST_CASE("sorted: states that no atomic combines, of many elements by few keys and by one") {
  if (no_kernels()) return;
  for (int const bins : {1, 100, 50'000})
    for (auto const kind : all_kinds) {
      CAPTURE(bins);
      auto const x = small_numbers(3'000'001);
      auto const keys = keys_of(kind, x.size(), bins);
      auto const places = from(x, keys) | by_key(_2, bins, argmax(_1), first(_1), last(_1), logsumexp(_1));
      CHECK(explain(places, targets::h200).details().domains[0].route == "sorted");
      same_on_both(places);
      auto const [sums, spreads] = run(from(x, keys) | by_key(_2, bins, sum(cast<double>(_1)), variance(cast<double>(_1))), on::gpu, fast);
      auto const [right_sums, right_spreads] = run(from(x, keys) | by_key(_2, bins, sum(cast<double>(_1)), variance(cast<double>(_1))), on::cpu);
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < right_sums.size(); ++i) {
        double const far = std::abs(double(sums.data()[i]) - double(right_sums.data()[i])), wide = double(right_spreads.data()[i]);
        wrong += far > 2. || std::abs(double(spreads.data()[i]) - wide) > 1e-3 * (1 + wide) ? 1 : 0;
      }
      CHECK(wrong == 0);
    }
}
