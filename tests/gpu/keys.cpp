// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds by key on a GPU: bit for bit the answers of the CPU, whatever the keys, the routes and the kinds of cells.
#include "gpu/on_device.hpp"
#include "gpu/same_on_both.hpp"
#include "gpu/watchdog.hpp"

#include <tally/tally.hpp>

#include <algorithm>
#include <cmath>
#include <random>

using namespace tally::v0;

namespace {

/// Keys below `bins`, one of them for half of all.
std::vector<int> hot_keys(std::size_t n, int bins) {
  std::mt19937 random(11);
  std::vector<int> keys(n);
  for (int& k : keys)
    k = random() % 2 == 0 ? bins / 2 : static_cast<int>(random() % static_cast<unsigned>(bins));
  return keys;
}

std::vector<int> keys_of_all(std::size_t n, int bins) {
  std::mt19937 random(12);
  std::vector<int> keys(n);
  for (int& k : keys)
    k = static_cast<int>(random() % static_cast<unsigned>(bins));
  return keys;
}

constexpr std::size_t sizes[] = {1, 3, 100, 4097, 70'001, 1'000'000};
constexpr int bin_counts[] = {1, 2, 64, 1000, 30'000, 300'000};

} // namespace

TEST_CASE("exact sums, counts and integers by key, of every size and number of bins") {
  if (no_kernels()) return;
  for (auto const n : sizes)
    for (int const bins : bin_counts) {
      CAPTURE(n);
      CAPTURE(bins);
      auto const x = uneven_numbers<float>(n);
      auto const keys = hot_keys(n, bins);
      same_on_both(from(x, keys) | by_key(_2, bins, sum(_1), count));
      same_on_both(from(keys) | by_key(_1, bins, count));
      same_on_both(from(x, keys) | filter(_1 > 0.f) | by_key(_2, bins, mean(_1), sum(_2), max(_1), min(_2).or_else(-1)));
    }
}

TEST_CASE("variances, products, doubles and small floats") {
  if (no_kernels()) return;
  for (int const bins : {1, 64, 5000}) {
    auto const x = uneven_numbers<float>(100'001);
    auto const d = uneven_numbers<double>(100'001);
    std::vector<bf16> b(x.size());
    for (std::size_t i = 0; i < b.size(); ++i)
      b[i] = bf16(x[i]);
    auto const keys = hot_keys(x.size(), bins);
    same_on_both(from(x, keys) | by_key(_2, bins, variance(_1), sum(_1 * _1), stddev(_1).where(_1 < 1.f)));
    same_on_both(from(x, keys) | by_key(_2, bins, moments<4>(_1)), exact);
    same_on_both(from(d, keys) | by_key(_2, bins, moments<4>(_1)), exact);
    same_on_both(from(d, keys) | by_key(_2, bins, sum(_1), mean(_1), max(_1)));
    same_on_both(from(b, keys) | by_key(_2, bins, sum(_1), max(_1)));
  }
}

TEST_CASE("what is not finite, subnormals, and positions") {
  if (no_kernels()) return;
  auto x = uneven_numbers<float>(50'000);
  for (std::size_t i = 0; i < x.size(); i += 997)
    x[i] = i % 2 == 0 ? 1e-45f : -3e38f;
  x[333] = std::numeric_limits<float>::infinity();
  x[777] = std::numeric_limits<float>::quiet_NaN();
  for (int const bins : {3, 500}) {
    auto const keys = hot_keys(x.size(), bins);
    same_on_both(from(x, keys) | by_key(_2, bins, sum(_1), min(_1), max(_1)));
    same_on_both(from(x, keys) | by_key(_2, bins, argmin(_1), argmax(_1), first(_1), last(_1), bit_xor(_2), sum(_2).checked()));
    same_on_both(from(x, keys) | by_key(_2, bins, min(_1).ignoring_nan(), any(_1 > 1.f), all(_1 > -1.f)));
  }
}

TEST_CASE("rows by key, of every width, and keys that differ within a row") {
  if (no_kernels()) return;
  for (i64 const width : {1, 3, 4, 33, 64, 100, 1024})
    for (int const bins : {1, 40, 3000}) {
      CAPTURE(width);
      CAPTURE(bins);
      i64 const rows = 200'000 / width;
      auto const x = uneven_numbers<float>(std::size_t(rows * width));
      auto const keys = hot_keys(std::size_t(rows), bins);
      auto const of_element = hot_keys(x.size(), bins);
      same_on_both(from(shaped(x, rows, width), along<0>(keys)) | by_key<0>(_2, bins, sum(_1), count, max(_1)));
      same_on_both(from(shaped(x, rows, width), shaped(of_element, rows, width)) | by_key<0>(_2, bins, sum(_1)));
      same_on_both(from(shaped(x, rows, width), along<0>(keys)) | filter(_2 != 0) | by_key(_2, bins, sum(_1)));
    }
  auto const x = uneven_numbers<float>(300 * 200);
  auto const keys = hot_keys(300, 9);
  same_on_both(from(shaped(x.data(), {200, 300}, {1, 200}), along<1>(keys)) | by_key<1>(_2, 9, sum(_1), argmax(_1)));
}

TEST_CASE("a matrix by keys of its rows and of its columns, elements along rows wherever they end") {
  struct matrix {
    i64 rows, columns;
  };
  for (matrix const& of : {matrix{700, 1024}, {701, 1023}, {3000, 33}, {5, 70'001}, {40'000, 4}, {30'000, 3}, {1, 5000}, {5000, 1}}) {
    i64 const rows = of.rows, columns = of.columns;
    CAPTURE(rows);
    CAPTURE(columns);
    auto const x = uneven_numbers<float>(std::size_t(rows * columns));
    std::vector<bf16> halves(x.size());
    for (std::size_t i = 0; i < x.size(); ++i)
      halves[i] = bf16(x[i]);
    for (int bins : {61, 200'000}) {
      auto const of_rows = keys_of_all(std::size_t(rows), bins), of_columns = hot_keys(std::size_t(columns), bins);
      auto const source = from(shaped(x, rows, columns), along<0>(of_rows), along<1>(of_columns));
      same_on_both(source | by_key(_2, bins, sum(_1), count));
      same_on_both(source | by_key(_3, bins, sum(_1), max(_1)));
      same_on_both(source | filter(_1 > 0.f) | by_key((_2 + _3) % bins, bins, sum(_1), argmin(_1)));
      same_on_both(from(shaped(halves.data(), rows, columns), along<0>(of_rows)) | by_key(_2, bins, sum(_1)));
    }
    auto const few = keys_of_all(std::size_t(columns), 100);
    auto const [by_gpu, sums_by_gpu] = run(from(shaped(x, rows, columns), along<1>(few)) | group_by(_2, sum(_1)), on::gpu);
    auto const [by_cpu, sums_by_cpu] = run(from(shaped(x, rows, columns), along<1>(few)) | group_by(_2, sum(_1)), on::cpu);
    CHECK(same_arrays(by_gpu, by_cpu));
    CHECK(same_arrays(sums_by_gpu, sums_by_cpu));
  }
  auto const x = uneven_numbers<float>(300 * 400);
  auto const keys = keys_of_all(200, 9);
  same_on_both(from(shaped(x.data(), {300, 200}, {400, 1}), along<1>(keys)) | by_key(_2, 9, sum(_1), argmax(_1))); // rows apart
  same_on_both(from(shaped(x.data(), {300, 200}, {1, 300}), along<1>(keys)) | by_key(_2, 9, sum(_1), argmax(_1))); // turned
  same_on_both(from(shaped(x.data() + 300 * 400 - 1, {300, 200}, {-400, -2}), along<1>(keys)) | by_key(_2, 9, sum(_1), argmax(_1)));
  auto strays = keys;
  strays[150] = 9;
  CHECK_THROWS_WITH_AS(run(from(shaped(x.data(), 300, 200), along<1>(strays)) | by_key(_2, 9, sum(_1)), on::gpu),
                       doctest::Contains("150"), key_out_of_range);
}

TEST_CASE("bits, sums that wrap, and cycles by key") {
  if (no_kernels()) return;
  for (std::size_t const n : {std::size_t(1), std::size_t(4097), std::size_t(1'000'000)})
    for (int const bins : {1, 64, 5000, 300'000}) {
      CAPTURE(n);
      CAPTURE(bins);
      auto const words = uneven_numbers<i32>(n);
      auto const longs = uneven_numbers<u64>(n);
      auto const bytes = uneven_numbers<i8>(n);
      auto const keys = hot_keys(n, bins);
      auto const all = from(words, longs, bytes, keys);
      same_on_both(all | by_key(_4, bins, bit_and(_1), bit_or(_1), bit_xor(_1), bit_and(_2), bit_or(_2), bit_xor(_2)));
      same_on_both(all | by_key(_4, bins, sum(_1).in<i32>(), sum(_1).in<u32>(), sum(_2).in<u32>(), sum(_3).in<i16>(), sum(_2)));
      same_on_both(all | by_key(_4, bins, count_modulo(7), countdown_modulo(1000), count_modulo(1), countdown_modulo(1), count_modulo(4'000'000'000u)));
      same_on_both(all | by_key(_4, bins, min(_1), max(_1), min(_2), max(_2), min(_3), bit_and(_3), bit_xor(_3).where(_3 > 3)));
      same_on_both(all | filter(_1 % 3 == 0) | by_key(_4, bins, bit_or(_3), countdown_modulo(5).where(_2 % 2 == 0), sum(_3).in<i8>()));
      same_on_both(all | group_by(_4, bit_xor(_1), count_modulo(9), sum(_1).in<i32>()));
    }
  for (i64 const width : {2, 33, 64}) {
    auto const words = uneven_numbers<i32>(std::size_t(3000 * width));
    auto const keys = hot_keys(3000, 500);
    same_on_both(from(shaped(words, 3000, width), along<0>(keys)) | by_key<0>(_2, 500, bit_xor(_1), sum(_1).in<i32>(), count_modulo(7), min(_1)));
    same_on_both(from(shaped(words, 3000, width), along<0>(keys)) | by_key<0>(_2, 500, bit_and(_1)));
  }
}

TEST_CASE("tables of blocks meet in that of all by the bulk engine, whatever their words, and beside those that it does not take") {
  if (no_kernels()) return;
  for (std::size_t const n : {std::size_t(3), std::size_t(300'001)})
    for (int const bins : {4097, 9002, 30'003}) { // once in a block, and in ranges
      CAPTURE(n);
      CAPTURE(bins);
      auto const words = uneven_numbers<i32>(n);
      auto const longs = uneven_numbers<u64>(n);
      auto const x = uneven_numbers<float>(n);
      auto const keys = hot_keys(n, bins);
      auto const all = from(words, longs, x, keys);
      same_on_both(from(keys) | by_key(_1, bins, count));
      same_on_both(all | by_key(_4, bins, bit_and(_1), bit_or(_2)));
      same_on_both(all | by_key(_4, bins, bit_xor(_1), bit_and(_2)));
      same_on_both(all | by_key(_4, bins, bit_or(_1), bit_xor(_2), count));
      same_on_both(all | by_key(_4, bins, sum(_1).in<i32>(), sum(_2)));
      same_on_both(all | by_key(_4, bins, sum(_1).in<u32>(), count_modulo(7), sum(_1)));
      same_on_both(all | by_key(_4, bins, min(_1), max(_2)));
      same_on_both(all | by_key(_4, bins, max(_1), sum(_1).checked()));
      same_on_both(all | by_key(_4, bins, min(_2), max(_3)));
      same_on_both(all | by_key(_4, bins, min(_3), min(cast<i64>(_1))));
      same_on_both(all | by_key(_4, bins, max(cast<u32>(_1)), max(cast<i64>(_1))));
      same_on_both(all | by_key(_4, bins, sum(_3)));
      same_on_both(all | filter(_1 % 3 == 0) | by_key(_4, bins, sum(_3), count));
    }
}

namespace {

/// Sums by key kept in floats of 16 bits: of few small whole numbers T a slot, so that none is rounded, whoever comes first.
template <class Half, class T = Half>
void small_sums_are_right(i64 rows, i64 width, int bins) {
  CAPTURE(rows);
  CAPTURE(width);
  CAPTURE(bins);
  std::vector<T> x(std::size_t(rows * width), T(0));
  auto const keys = hot_keys(std::size_t(rows), bins);
  for (std::size_t i = 0; i < x.size(); i += std::size_t(rows / 64 * width + 1)) x[i] = T(float(std::is_unsigned_v<T> ? int(i % 5) : int(i % 5) - 2));
  auto const of = [&](auto fold) { return from(shaped(x, rows, width), along<0>(keys)) | by_key<0>(_2, bins, fold); };
  auto const kept = run(of(sum(_1).template in<Half>()), on::gpu, fast);
  auto const right = run(of(sum(_1)), on::cpu);
  bool same = kept.size() == right.size();
  for (std::size_t i = 0; i < right.size(); ++i) same = same && float(kept[i]) == float(right[i]);
  CHECK(same);
}

} // namespace

namespace {

/// Numbers of 16 bits among NaN and zeros of both signs; slots of NaN alone and of nothing.
template <class Half>
void extremes_are_right(i64 rows, i64 width, int bins) {
  CAPTURE(rows);
  CAPTURE(width);
  CAPTURE(bins);
  auto const x = uneven_numbers<float>(std::size_t(rows * width));
  auto keys = hot_keys(std::size_t(rows), bins);
  std::vector<Half> h(x.size());
  for (std::size_t i = 0; i < h.size(); ++i) {
    bool const nan = keys[i / std::size_t(width)] % 5 == 1 || i % 3 == 0;
    h[i] = i % 7 == 0 ? Half::from_bits(i % 2 == 0 ? 0x8000 : 0) : nan ? Half::from_bits(i % 2 == 0 ? 0xffff : 0x7fc1) : Half(x[i]);
  }
  same_on_both(from(shaped(h, rows, width), along<0>(keys)) | by_key<0>(_2, bins, max(_1).ignoring_nan().or_else(Half(3.f)), min(_1).ignoring_nan().or_else(Half(5.f))));
  same_on_both(from(shaped(h, rows, width), along<0>(keys)) | by_key<0>(_2, bins, max(_1).ignoring_nan().or_else(Half(3.f)), max(_1).or_else(Half(1.f))));
  std::vector<float> const wide(h.begin(), h.end());
  same_on_both(from(shaped(wide, rows, width), along<0>(keys)) |
               by_key<0>(_2, bins, max(cast<Half>(_1)).ignoring_nan().or_else(Half(3.f)), min(cast<Half>(_1)).ignoring_nan().or_else(Half(5.f))));
  auto const bytes = uneven_numbers<u8>(std::size_t(rows * width));
  same_on_both(from(shaped(bytes, rows, width), along<0>(keys)) |
               by_key<0>(_2, bins, max(cast<Half>(_1)).ignoring_nan().or_else(Half(3.f)), min(cast<Half>(_1)).ignoring_nan().or_else(Half(5.f))));
}

} // namespace

TEST_CASE("least and greatest numbers by key, NaN left out, of rows of halves too") {
  if (no_kernels()) return;
  for (i64 const width : {1, 2, 3, 4, 8, 24, 72})
    for (int const bins : {3, 700, 40'000}) {
      extremes_are_right<bf16>(5000, width, bins);
      extremes_are_right<f16>(5000, width, bins);
    }
  extremes_are_right<bf16>(300'000, 16, 100);      // in copies
  extremes_are_right<bf16>(300'000, 64, 200'000);  // sorted
  auto x = uneven_numbers<float>(200'001);
  auto d = uneven_numbers<double>(200'001);
  for (std::size_t i = 0; i < x.size(); i += 3) x[i] = std::numeric_limits<float>::quiet_NaN(), d[i] = -std::numeric_limits<double>::quiet_NaN();
  for (int const bins : {3, 5000, 300'000}) {
    auto const keys = hot_keys(x.size(), bins);
    same_on_both(from(x, d, keys) | by_key(_3, bins, max(_1).ignoring_nan().or_else(-1.f), min(_2).ignoring_nan().or_else(-2.), count));
  }
}

TEST_CASE("integers by many keys meet in clusters and in global memory at once, whatever their words") {
  if (no_kernels()) return;
  std::size_t const n = (std::size_t(1) << 24) + 3;
  std::mt19937 random(23);
  std::vector<i32> words(n);
  for (i32& w : words) w = static_cast<i32>(random());
  std::vector<u32> naturals(words.begin(), words.end());
  std::vector<i64> longs(words.begin(), words.end());
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = std::ldexp(float(words[i] % 1000), words[i] % 40);
  for (int const bins : {300'001, 1'000'000}) {
    CAPTURE(bins);
    auto uniform = keys_of_all(n, bins), hot = hot_keys(n, bins), sorted = uniform;
    std::sort(sorted.begin(), sorted.end());
    for (auto const* keys : {&uniform, &hot, &sorted}) {
      same_on_both(from(*keys) | by_key(_1, bins, count));
      same_on_both(from(words, *keys) | by_key(_2, bins, sum(_1), sum(_1).in<i32>(), sum(_1).in<u32>()));
      same_on_both(from(naturals, *keys) | by_key(_2, bins, min(_1), max(_1)));
      same_on_both(from(words, *keys) | filter(_1 % 3 != 0) | by_key(_2, bins, min(_1), count_if(_1 > 0)));
      same_on_both(from(words, *keys) | by_key(_2, bins, sum(cast<float>(_1 % 2)), count), fast); // no order rounds these
      tally_test_progress();
    }
    same_on_both(from(naturals, uniform) | by_key(_2, bins, bit_and(_1), bit_or(_1), bit_xor(_1)));
    same_on_both(from(uniform) | by_key(_1, bins, count_modulo(7), countdown_modulo(9), count));
    same_on_both(from(x, uniform) | by_key(_2, bins, min(_1), max(_1)));
    same_on_both(from(longs, uniform) | by_key(_2, bins, min(_1), max(_1))); // in global memory alone
    same_on_both(from(longs, uniform) | by_key(_2, bins, sum(_1), bit_xor(_1)));
    same_on_both(from(x) | histogram(-1e6f, 1e6f, bins));
    uniform[n - 5] = bins;
    CHECK_THROWS_AS(run(from(uniform) | by_key(_1, bins, count), on::gpu), key_out_of_range);
    tally_test_progress();
  }
}

TEST_CASE("under fast, sums by key may be kept in halves") {
  if (no_kernels()) return;
  for (i64 const width : {1, 2, 3, 4, 6, 8, 16, 64, 96})
    for (int const bins : {1, 64, 3000, 100'000}) {
      small_sums_are_right<bf16>(400'000 / width, width, bins);
      small_sums_are_right<f16>(400'000 / width, width, bins);
    }
  for (i64 const width : {1, 2, 4, 12, 16, 96})
    for (int const bins : {64, 100'000}) {
      small_sums_are_right<bf16, float>(400'000 / width, width, bins);
      small_sums_are_right<f16, float>(400'000 / width, width, bins);
      small_sums_are_right<bf16, u8>(400'000 / width, width, bins);
      small_sums_are_right<f16, u8>(400'000 / width, width, bins);
    }
}

TEST_CASE("under fast, sums are near, and counts are right") {
  if (no_kernels()) return;
  for (int const bins : {10, 20'000, 200'000})
    for (i64 const width : {1, 64}) {
      i64 const rows = 400'000 / width;
      auto const x = uneven_numbers<float>(std::size_t(rows * width));
      auto const keys = hot_keys(std::size_t(rows), bins);
      auto const r = from(shaped(x, rows, width), along<0>(keys)) | by_key<0>(_2, bins, sum(_1), sum(_1 * _1), count);
      auto const [sums, squares, counts] = run(r, on::gpu, fast);
      auto const [right, right_squares, right_counts] = run(r, on::cpu);
      CHECK(same_arrays(counts, right_counts));
      bool near = true;
      for (std::size_t i = 0; i < sums.size(); ++i)
        near = near && std::abs(double(sums[i]) - double(right[i])) <= 1e-4 * std::sqrt(double(right_squares[i]) * double(right_counts[i])) + 1e-30 &&
               std::abs(double(squares[i]) - double(right_squares[i])) <= 1e-4 * double(right_squares[i]) + 1e-30;
      CHECK(near);
    }
}

namespace {

/// Keys of which the first few are had by most: number k with a probability as 1 / k.
std::vector<int> skewed_keys(std::size_t n, int bins) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> exponent(0, 1);
  std::vector<int> keys(n);
  for (int& k : keys)
    k = std::min(bins, static_cast<int>(std::pow(double(bins), exponent(random)))) - 1;
  return keys;
}
/// Whole numbers, whose sums are those of the CPU in any order, and exact sums, counts and extremes.
template <class T>
void rows_meet(i64 width, int bins, std::vector<int> const& keys) {
  CAPTURE(width);
  CAPTURE(bins);
  auto const rows = static_cast<i64>(keys.size());
  std::vector<T> x(keys.size() * std::size_t(width));
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = T(static_cast<float>(i % 13) - 4.f);
  auto const r = from(shaped(x, rows, width), along<0>(keys)) | by_key<0>(_2, bins, sum(_1));
  CHECK(same_arrays(run(r, on::gpu, fast), run(r, on::cpu)));
  same_on_both(from(shaped(x, rows, width), along<0>(keys)) | by_key<0>(_2, bins, sum(_1), count, max(_1)));
}

} // namespace

TEST_CASE("rows of few keys and of hot ones meet in copies of their slots") {
  if (no_kernels()) return;
  std::size_t const rows = planning::rows_worth_a_sample + 1001;
  for (int const bins : {7, 900, 30'000}) {
    auto const skewed = skewed_keys(rows, bins);
    std::vector<int> const one(rows, bins / 2);
    for (i64 const width : {4, 36, 200}) {
      rows_meet<float>(width, bins, skewed);
      rows_meet<float>(width, bins, one);
    }
    rows_meet<bf16>(64, bins, skewed);
    rows_meet<float>(5, bins, skewed);
  }
  auto keys = skewed_keys(rows, 30'000);
  keys[rows / 2] = 30'000;
  std::vector<float> const x(rows * 8, 1.f);
  auto const r = from(shaped(x, i64(rows), 8), along<0>(keys)) | by_key<0>(_2, 30'000, sum(_1));
  CHECK_THROWS_AS(run(r, on::gpu, fast), key_out_of_range);
  CHECK_THROWS_AS(run(r, on::gpu), key_out_of_range);
}

TEST_CASE("histograms in one to three dimensions, weighted too") {
  if (no_kernels()) return;
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> any_number(-0.5, 1.5);
  std::vector<double> x(300'000), y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = i % 9 == 0 ? double(i % 17) / 16.0 : any_number(random), y[i] = any_number(random);
  for (i64 const bins : {1, 16, 1000, 40'000, 1'000'000})
    same_on_both(from(x) | histogram(0, 1, bins));
  same_on_both(from(x, y) | histogram(even_bins(_1, 0, 1, 50), even_bins(_2, -0.5, 1.5, 70)));
  same_on_both(from(x, y) | histogram(even_bins(_1, 0, 1, 5), even_bins(_2, 0, 1, 7), even_bins(_1 * _2, 0, 1, 9)));
  same_on_both(from(x, y) | histogram(0, 1, 100).of(sum(_2), max(_2), mean(_2)));
  std::vector<i16> month(x.size());
  std::vector<i64> shop(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) month[i] = static_cast<i16>(int(random() % 15) - 2), shop[i] = static_cast<i64>(random() % 3 == 0 ? random() : random() % 500);
  same_on_both(from(x, month, shop) | histogram(key_bins(_2, 12), key_bins(_3, 450), mean(_1), count));
  same_on_both(from(x, month) | histogram(key_bins(_2, 12), even_bins(_1, 0, 1, 50)));
  auto const f = uneven_numbers<float>(100'000);
  same_on_both(from(f) | reduce(histogram(-10, 10, 100), sum, by_key(cast<int>(_1) & 15, 16, count)));
}

TEST_CASE("hot bins among many, ranges of slots, and bins of floats near their edges") {
  if (no_kernels()) return;
  auto const x = uneven_numbers<float>(600'000);
  for (int const bins : {70'000, 150'000, 2'000'000}) {
    CAPTURE(bins);
    auto const keys = hot_keys(x.size(), bins);
    same_on_both(from(keys) | by_key(_1, bins, count));
    same_on_both(from(x, keys) | by_key(_2, bins, sum(_2), max(_1), count));
    std::vector<int> const one(x.size(), bins - 1);
    same_on_both(from(x, one) | by_key(_2, bins, sum(_1), count));
    auto const small = run(from(x, keys) | map(cast<float>(cast<int>(_1) & 7), _2) | by_key(_2, bins, sum(_1)), on::gpu, fast);
    auto const right = run(from(x, keys) | map(cast<float>(cast<int>(_1) & 7), _2) | by_key(_2, bins, sum(_1)), on::cpu);
    CHECK(same_arrays(small, right)); // whole numbers below 2^24 add up in any order
  }
  std::vector<float> near(x.size());
  for (std::size_t i = 0; i < near.size(); ++i)
    near[i] = i % 3 == 0 ? float(i % 1001) / 1000.f : std::nextafter(float(i % 4097) / 4096.f, i % 2 ? 2.f : -2.f);
  for (i64 const bins : {10, 256, 1000, 4096, 32768})
    same_on_both(from(near) | histogram(0, 1, bins));
}

TEST_CASE("under fast, sums of floats by hot keys and by others, in few slots and in many, beside counts") {
  if (no_kernels()) return;
  std::size_t const n = (std::size_t(1) << 20) + 77;
  std::vector<float> whole(n);
  for (std::size_t i = 0; i < n; ++i)
    whole[i] = static_cast<float>(i % 13) - 4.f;
  std::mt19937 random(5);
  for (int const bins : {3, 300, 9000, 40'000, 150'000, 400'000})
    for (bool const zipf : {false, true}) {
      CAPTURE(bins);
      CAPTURE(zipf);
      std::vector<int> keys(n);
      for (int& k : keys)
        k = zipf ? static_cast<int>(std::pow(double(bins), double(random() >> 5) * 0x1p-27)) - 1 : static_cast<int>(random() % unsigned(bins));
      auto const r = from(whole, keys) | filter(_1 != 2.f) | by_key(_2, bins, sum(_1), count, sum(_1).in<double>().where(_1 > 0.f));
      auto const [sums, counts, wide] = run(r, on::gpu, fast); // whole numbers below 2^24 add up in any order
      auto const [right_sums, right_counts, right_wide] = run(r, on::cpu);
      CHECK(same_arrays(sums, right_sums));
      CHECK(same_arrays(counts, right_counts));
      CHECK(same_arrays(wide, right_wide));
      CHECK(same_arrays(run(from(whole, keys) | by_key(_2, bins, sum(_1)), on::gpu, fast), run(from(whole, keys) | by_key(_2, bins, sum(_1)), on::cpu)));
    }
}

TEST_CASE("under fast, folds that a GPU takes exactly, by few keys and by many, found and beside others") {
  if (no_kernels()) return;
  std::size_t const n = (std::size_t(1) << 22) + 77;
  auto const x = uneven_numbers<float>(n);
  for (int const bins : {5, 3000, 60'000}) {
    CAPTURE(bins);
    auto const keys = hot_keys(n, bins);
    auto const same_as_exact = [&](auto const& r) { CHECK(same_arrays(run(r, on::gpu, fast), run(r, on::cpu))); };
    same_as_exact(from(x, keys) | by_key(_2, bins, variance(_1), count));
    same_as_exact(from(x, keys) | filter(_1 > 0.f) | group_by(_2, mean(_1 * _1), sample_variance(_1)));
    same_as_exact(from(x, keys) | reduce(by_key(_2, bins, variance(_1)), max(_1)));
  }
  auto const many = hot_keys(n, 400'000);
  CHECK(same_arrays(run(from(x, many) | by_key(_2, 400'000, sum(_1), count), on::gpu, fast), run(from(x, many) | by_key(_2, 400'000, sum(_1), count), on::cpu)));
}

TEST_CASE("variances of integers and covariances by key") {
  if (no_kernels()) return;
  auto const x = uneven_numbers<float>(300'001);
  std::vector<i32> numbers(x.size());
  std::vector<u8> bytes(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    numbers[i] = static_cast<i32>(i * 2654435761u), bytes[i] = static_cast<u8>(i * i >> 3);
  for (int const bins : {5, 3000, 100'000}) {
    CAPTURE(bins);
    auto const keys = hot_keys(x.size(), bins);
    auto const of_integers = from(numbers, bytes, keys) | by_key(_3, bins, variance(_1), sample_variance(_2), covariance(_1, _2));
    same_on_both(of_integers);
    same_on_both(of_integers, fast);
    same_on_both(from(x, numbers, keys) | by_key(_3, bins, covariance(_1, _1 * 2.f), count));
  }
  same_on_both(from(numbers, bytes) | reduce(variance(_1), covariance(_1, _2)), exact);
  same_on_both(from(x, numbers) | covariance(_1, _1 + 1.f), exact);
}

TEST_CASE("runs of one key, which warps fold by themselves, whole, broken and filtered") {
  if (no_kernels()) return;
  std::size_t const n = 500'003;
  auto const x = uneven_numbers<float>(n);
  std::vector<float> whole(n);
  std::vector<i64> numbers(n);
  for (std::size_t i = 0; i < n; ++i)
    whole[i] = static_cast<float>(i % 13) - 4.f, numbers[i] = static_cast<i64>(i * i % 1009) - 500;
  for (std::size_t const run_of : {1u, 100u, 128u, 1000u, 4096u, 500'003u})
    for (int const bins : {64, 30'000, 150'000, 1'000'000}) {
      CAPTURE(run_of);
      CAPTURE(bins);
      std::vector<int> keys(n);
      for (std::size_t i = 0; i < n; ++i)
        keys[i] = static_cast<int>(i / run_of * 7919 % static_cast<std::size_t>(bins));
      auto const near = from(whole, keys) | by_key(_2, bins, sum(_1), count, sum(_1).where(_1 > 2.f));
      auto const [sums, counts, some] = run(near, on::gpu, fast); // whole numbers below 2^24 add up in any order
      auto const [right, right_counts, right_some] = run(near, on::cpu);
      CHECK(same_arrays(sums, right));
      CHECK(same_arrays(counts, right_counts));
      CHECK(same_arrays(some, right_some));
      same_on_both(from(x, keys) | by_key(_2, bins, sum(_1), max(_1), variance(_1)));
      same_on_both(from(numbers, keys, x) | filter(_3 > 0.f) | by_key(_2, bins, sum(_1), sum(_1).checked(), min(_1).or_else(0)));
    }
}

TEST_CASE("a stray is found, the first of all, and nothing is returned; dropping_strays leaves them out") {
  if (no_kernels()) return;
  for (int const bins : {10, 100'000})
    for (std::size_t const at : {0u, 77'777u, 200'000u, 200'002u}) { // the last three are no whole load
      auto keys = hot_keys(200'003, bins);
      keys[at] = -7;
      keys.back() = -7;
      std::string const first_stray =
          "[tally-E16] the key at position " + std::to_string(at) + " is -7, the bins are [0, " + std::to_string(bins) + "). docs/errors.md#E16";
      CHECK_THROWS_WITH_AS(run(from(keys) | by_key(_1, bins, count), on::gpu), first_stray.c_str(), key_out_of_range);
      same_on_both(from(keys) | by_key(_1, bins, count).dropping_strays());
    }
  std::vector<i64> const large{std::numeric_limits<i64>::max(), 1, 1};
  std::vector<int> const together{0, 0, 1};
  CHECK_THROWS_AS(run(from(large, together) | by_key(_2, 2, sum(_1).checked()), on::gpu), overflow);
}

TEST_CASE("data on the device is used in place, wherever it begins, and found there by on::any") {
  if (no_kernels()) return;
  auto const x = uneven_numbers<float>(100'003);
  auto const keys = hot_keys(x.size(), 50);
  on_device const dx(x);
  on_device const dk(keys);
  auto const n = static_cast<i64>(x.size());
  for (i64 const skip : {0, 1, 2, 3, 5}) {
    std::vector<float> const own_x(x.begin() + skip, x.end());
    std::vector<int> const own_keys(keys.begin() + skip, keys.end());
    auto const host = run(from(own_x, own_keys) | by_key(_2, 50, sum(_1), count), on::cpu);
    CHECK(same_arrays(host, run(from(device(dx.data() + skip, n - skip), device(dk.data() + skip, n - skip)) | by_key(_2, 50, sum(_1), count))));
  }
}
