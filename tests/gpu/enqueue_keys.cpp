// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// enqueue and prepare of histograms and folds by key: tables in device memory that nobody waited for, with the bits of run, and the same
// from a graph that is launched again over other data.
#include "gpu/captured_stream.hpp"
#include "gpu/room_for.hpp"

#include <tally/tally.hpp>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

using namespace tally::v0;

namespace {

/// Whether an array of run has the bits of the first answers there.
template <class Array, class T>
bool begins(std::vector<T> const& there, Array const& expected) {
  return expected.size() <= there.size() && std::equal(expected.begin(), expected.end(), there.begin(), [](T a, T b) { return same_bits(a, b); });
}
/// n keys, most of them below `bins`, some of them strays.
std::vector<int> some_keys(std::size_t n, int bins, unsigned turn = 0) {
  std::vector<int> keys(n);
  for (std::size_t i = 0; i < n; ++i)
    keys[i] = i % 97 == 5 ? -1 - int(i) : i % 89 == 7 ? bins + int(i % 3) : int((i + turn) * 2654435769u % unsigned(bins));
  return keys;
}

/// Small integers, whose sums floats have exactly, in any order.
std::vector<float> small_integers(std::size_t n) {
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = float(int(i * 7 % 17) - 8);
  return x;
}

} // namespace

TEST_CASE("histograms and folds by key go to device memory with the bits of run, by every route") {
  if (no_kernels()) return;
  for (std::size_t const n : {1u, 1000u, 3'000'001u})
    for (int const bins : {1, 100, 40'000, 300'000}) {
      CAPTURE(n);
      CAPTURE(bins);
      auto const numbers = uneven_numbers<float>(n);
      auto const keys = some_keys(n, bins);
      on_device const x(numbers);
      on_device const k(keys);
      auto const there = from(device(static_cast<float const*>(x.data()), i64(n)), device(static_cast<int const*>(k.data()), i64(n)));
      auto const here = from(numbers, keys);
      auto const counts = room_for<i64>(std::size_t(bins));
      auto const sums = room_for<float>(std::size_t(bins)), greatest = room_for<float>(std::size_t(bins));
      enqueue(there | histogram(_1, -2.f, 2.f, bins), counts.data());
      CHECK(begins(after({}, counts), run(here | histogram(_1, -2.f, 2.f, bins), on::cpu)));
      auto const folds = by_key(_2, bins, sum(_1), max(_1), count).dropping_strays();
      enqueue(there | folds, sums.data(), greatest.data(), counts.data());
      auto const [of_sum, of_max, of_count] = run(here | folds, on::cpu);
      CHECK(begins(after({}, sums), of_sum));
      CHECK(begins(after({}, greatest), of_max));
      CHECK(begins(after({}, counts), of_count));
      auto const in_order = by_key(_2, bins, logsumexp(_1)).dropping_strays();
      enqueue(there | in_order, sums.data());
      CHECK(begins(after({}, sums), run(here | in_order, on::cpu)));
      auto const small = small_integers(n);
      on_device const s(small);
      auto const quick = by_key(_2, bins, sum(_1)).dropping_strays();
      enqueue(from(device(static_cast<float const*>(s.data()), i64(n)), device(static_cast<int const*>(k.data()), i64(n))) | quick, sums.data(), on::gpu, fast);
      CHECK(begins(after({}, sums), run(from(small, keys) | quick, on::cpu)));
    }
}

TEST_CASE("rows by key go to device memory with the bits of run, added up in tables or sorted") {
  if (no_kernels()) return;
  i64 const rows = 40'000, width = 64;
  auto const numbers = uneven_numbers<float>(std::size_t(rows * width));
  on_device const x(numbers);
  auto const small = small_integers(numbers.size());
  on_device const s(small);
  for (int const bins : {10, 3000, 9000}) {
    CAPTURE(bins);
    auto const keys = some_keys(std::size_t(rows), bins);
    on_device const k(keys);
    auto const sums = room_for<float>(std::size_t(bins * width)), off_by_one = room_for<float>(std::size_t(bins * width + 1));
    auto const of_rows = [&](auto const& numbers_of, auto const& keys_of) { return from(shaped(numbers_of, rows, width), along<0>(keys_of)) | by_key<0>(_2, bins, sum(_1)).dropping_strays(); };
    auto const keys_there = device(static_cast<int const*>(k.data()), rows);
    for (i64 again = 0; again < 2; ++again) {
      enqueue(of_rows(static_cast<float const*>(x.data()), keys_there), sums.data());
      CHECK(begins(after({}, sums), run(of_rows(numbers, keys), on::cpu)));
      enqueue(of_rows(static_cast<float const*>(s.data()), keys_there), sums.data(), fast);
      CHECK(begins(after({}, sums), run(of_rows(small, keys), on::cpu)));
      enqueue(of_rows(static_cast<float const*>(s.data()), keys_there), off_by_one.data() + 1, fast); // at no multiple of 16 bytes
      auto const there = after({}, off_by_one);
      CHECK(begins(std::vector<float>(there.begin() + 1, there.end()), run(of_rows(small, keys), on::cpu)));
    }
  }
}

TEST_CASE("several threads queue folds by key on one stream, each with the bits of run") {
  if (no_kernels()) return;
  constexpr std::size_t n = 20'000, threads = 4;
  constexpr int bins = 700;
  auto const numbers = uneven_numbers<float>(n);
  on_device const x(numbers);
  auto const folds = by_key(_2, bins, sum(_1), count).dropping_strays();
  std::vector<std::vector<int>> keys;
  for (unsigned t = 0; t < threads; ++t) keys.push_back(some_keys(n, bins, t * 1000 + 1));
  std::vector<std::thread> all;
  std::atomic<int> right{0};
  for (std::size_t t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      on_device const k(keys[t]);
      auto const there = from(device(static_cast<float const*>(x.data()), i64(n)), device(static_cast<int const*>(k.data()), i64(n)));
      auto const [of_sum, of_count] = run(from(numbers, keys[t]) | folds, on::cpu);
      for (int again = 0; again < 50; ++again) {
        auto const sums = room_for<float>(bins);
        auto const counts = room_for<i64>(bins);
        enqueue(there | folds, sums.data(), counts.data());
        right += begins(after({}, sums), of_sum) && begins(after({}, counts), of_count);
      }
    });
  for (auto& t : all) t.join();
  CHECK(right == 50 * threads);
}

TEST_CASE("tables behind each other and beside folds of the whole, and what they wrote is read") {
  if (no_kernels()) return;
  std::size_t const n = 2'000'000;
  int const bins = 5000;
  auto const numbers = uneven_numbers<float>(n);
  on_device const x(numbers);
  auto const counts = room_for<i64>(std::size_t(bins)), others = room_for<i64>(100), total = room_for<i64>(1);
  auto const sum_of_all = room_for<float>(1);
  captured_stream stream;
  auto const where = on::gpu.stream(stream.handle());
  auto const column = from(device(static_cast<float const*>(x.data()), i64(n)));
  for (unsigned turn = 0; turn < 8; ++turn) {
    CAPTURE(turn);
    auto const keys = some_keys(n, bins, turn);
    on_device const k(keys);
    enqueue(from(device(static_cast<int const*>(k.data()), i64(n))) | by_key(_1, bins, count).dropping_strays(), counts.data(), where);
    enqueue(from(device(static_cast<i64 const*>(counts.data()), bins)) | sum, total.data(), where);
    enqueue(column | reduce(histogram(-1.f, 1.f, 100), sum), others.data(), sum_of_all.data(), where);
    auto const expected = run(from(keys) | by_key(_1, bins, count).dropping_strays(), on::cpu);
    CHECK(begins(after(stream.ref(), counts), expected));
    CHECK(total.back()[0] == run(from(expected) | sum, on::cpu));
    auto const [of_bins, all] = run(from(numbers) | reduce(histogram(-1.f, 1.f, 100), sum), on::cpu);
    CHECK(begins(others.back(), of_bins));
    CHECK(same_bits(sum_of_all.back()[0], all));
  }
}

TEST_CASE("a graph of tables captured after prepare computes again over other keys") {
  if (no_kernels()) return;
  std::size_t const n = 500'000;
  int const bins = 70'000;
  auto const numbers = uneven_numbers<float>(n);
  on_device const x(numbers);
  on_device k(some_keys(n, bins));
  auto const sums = room_for<float>(std::size_t(bins));
  auto const counts = room_for<i64>(10);
  captured_stream stream;
  auto const where = on::gpu.stream(stream.handle());
  auto const there = from(device(static_cast<float const*>(x.data()), i64(n)), device(static_cast<int const*>(k.data()), i64(n)));
  auto const folds = by_key(_2, bins, sum(_1)).dropping_strays();
  auto const few = histogram(cast<float>(_2), 0.f, float(bins), 10);
  auto const queue = [&](auto const& verb) { verb(there | reduce(folds, few), sums.data(), counts.data(), where); };
  queue([](auto const&... all) { prepare(all...); });
  CHECK(after(stream.ref(), counts) == std::vector<i64>(10, -77));
  stream.capture(captured_stream::global, [&] { queue([](auto const&... all) { enqueue(all...); }); });
  for (unsigned turn = 0; turn < 5; ++turn) {
    CAPTURE(turn);
    auto const keys = some_keys(n, bins, turn);
    gpu::copy(k.data(), keys.data(), n * sizeof(int), 0, stream.ref());
    stream.launch();
    auto const [of_keys, of_bins] = run(from(numbers, keys) | reduce(folds, few), on::cpu);
    CHECK(begins(after(stream.ref(), sums), of_keys));
    CHECK(begins(after(stream.ref(), counts), of_bins));
  }
}

TEST_CASE("no elements give the answers of the identity by key, and a run under capture is refused") {
  if (no_kernels()) return;
  on_device const x(std::vector<float>{1.f, 2.f});
  on_device const k(std::vector<int>{0, 1});
  auto const nothing = from(device(static_cast<float const*>(x.data()), 0), device(static_cast<int const*>(k.data()), 0));
  auto const sums = room_for<float>(3), least = room_for<float>(3);
  auto const counts = room_for<i64>(3);
  auto const folds = by_key(_2, 3, sum(_1), min(_1), count).dropping_strays();
  enqueue(nothing | folds, sums.data(), least.data(), counts.data());
  auto const [of_sum, of_min, of_count] = run(nothing | folds, on::gpu);
  CHECK(begins(after({}, sums), of_sum));
  CHECK(begins(after({}, least), of_min));
  CHECK(begins(after({}, counts), of_count));
  captured_stream stream;
  auto const rows = from(shaped(static_cast<float const*>(x.data()), 2, 1));
  stream.capture(captured_stream::relaxed, [&] { CHECK_THROWS_AS((void)run(rows | over<1>(sum), on::gpu.stream(stream.handle())), not_prepared); });
}
