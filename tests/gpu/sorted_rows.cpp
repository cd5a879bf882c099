// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds of rows by key whose rows are sorted, on a GPU: bit for bit the answers of the CPU, whatever the widths, the number of bins, the
// keys, the folds and where numbers lie.
#include "fold/own_folds.hpp"
#include "gpu/keys_of_kinds.hpp"
#include "gpu/on_device.hpp"
#include "gpu/same_on_both.hpp"
#include "gpu/watchdog.hpp"

#include <tally/tally.hpp>

#include <cmath>
#include <limits>
#include <random>

using namespace tally;

namespace {

constexpr i64 rows = 40'000; // long enough to be sorted

constexpr kind_of_keys all_kinds[] = {kind_of_keys::even, kind_of_keys::hot, kind_of_keys::one, kind_of_keys::zipf};
/// Whether the planner sorts: what is tested here is nothing else.
template <class R, class... Options>
bool sorts(R const& r, Options... options) {
  return explain(r, targets::h200, options...).json().find("sorted_rows_plan") != std::string::npos;
}
template <class R, class... Options>
void sorted_and_same(R const& r, Options... options) {
  tally_test_progress();
  CHECK(sorts(r, options...));
  same_on_both(r, options...);
}
/// Float sums as they come, within what their order may change.
template <class R>
void sorted_and_near(R const& r) {
  tally_test_progress();
  CAPTURE(text_of(r));
  CHECK(sorts(r, fast));
  auto const right = run(r, on::cpu);
  auto const fast_ones = run(r, on::gpu, fast);
  REQUIRE(right.size() == fast_ones.size());
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < right.size(); ++i)
    wrong += std::abs(double(right.data()[i]) - double(fast_ones.data()[i])) > 0.5 ? 1 : 0; // of up to 40 000 numbers below 13
  CHECK(wrong == 0);
}

} // namespace

TEST_CASE("sorted rows: exact sums of every width, number of bins and kind of keys") {
  if (no_kernels()) return;
  for (i64 const width : {32, 33, 64, 130, 257})
    for (i64 const bins : {70, 255, 256, 1000, 70'000})
      for (auto const kind : all_kinds) {
        CAPTURE(width);
        CAPTURE(bins);
        CAPTURE(int(kind));
        auto const x = numbers_for_keys(rows * width);
        auto const keys = keys_of(kind, rows, bins);
        sorted_and_same(from(shaped(x, rows, width), along<0>(keys)) | by_key<0>(_2, bins, sum(_1)));
      }
}

TEST_CASE("sorted rows: fast sums, of floats and small floats") {
  if (no_kernels()) return;
  for (i64 const width : {64, 66, 67, 136, 1024})
    for (i64 const bins : {40, 300, 70'000})
      for (auto const kind : all_kinds) {
        if (width == 67 && bins == 40) continue; // a table of a block
        auto const keys = keys_of(kind, rows, bins);
        auto const x = numbers_for_keys(rows * width);
        auto const small = numbers_for_keys<bf16>(rows * width);
        sorted_and_near(from(shaped(x, rows, width), along<0>(keys)) | by_key<0>(_2, bins, sum(_1)));
        sorted_and_near(from(shaped(small, rows, width), along<0>(keys)) | by_key<0>(_2, bins, sum(_1)));
      }
  auto const x = numbers_for_keys(rows * 64);
  auto const keys = keys_of(kind_of_keys::hot, rows, 500);
  auto const [sums, means, spreads] = run(from(shaped(x, rows, 64), along<0>(keys)) | by_key<0>(_2, 500, sum(_1), mean(_1), variance(_1)), on::gpu, fast);
  auto const [right_sums, right_means, right_spreads] = run(from(shaped(x, rows, 64), along<0>(keys)) | by_key<0>(_2, 500, sum(_1), mean(_1), variance(_1)), on::cpu);
  for (i64 k = 0; k < 500; ++k)
    for (i64 c = 0; c < 64; ++c) {
      CHECK(sums(k, c) == doctest::Approx(right_sums(k, c)).scale(100).epsilon(1e-3));
      CHECK(means(k, c) == doctest::Approx(right_means(k, c)).scale(1).epsilon(1e-3));
      CHECK(spreads(k, c) == doctest::Approx(right_spreads(k, c)).epsilon(1e-3));
    }
}

TEST_CASE("sorted rows: every kind of fold, with masks and filters, and elements of every width") {
  if (no_kernels()) return;
  i64 const width = 36, bins = 700;
  for (auto const kind : all_kinds) {
    auto const keys = keys_of<i32>(kind, rows, bins);
    auto const x = numbers_for_keys(rows * width);
    auto const wide = numbers_for_keys<double>(rows * width);
    auto const whole = numbers_for_keys<i32>(rows * width);
    auto const bytes = numbers_for_keys<i8>(rows * width);
    auto const of_rows = [&](auto const& v) { return from(shaped(v, rows, width), along<0>(keys)); };
    sorted_and_same(of_rows(x) | by_key<0>(_2, bins, sum(_1), mean(_1), variance(_1), max(_1), min(_1).where(_1 > 3.f), count_if(_1 > 1.f)));
    sorted_and_same(of_rows(x) | filter(_2 % 3 != 0) | by_key<0>(_2, bins, sum(_1 * _1), argmin(_1), sum(_1).where(_1 < 3.f)));
    sorted_and_same(of_rows(wide) | by_key<0>(_2, bins, sum(_1), sum(_1 * _1), max(_1)));
    sorted_and_same(of_rows(whole) | by_key<0>(_2, bins, sum(_1), sum(_1).checked(), min(_1), count, argmax(_1)));
    sorted_and_same(of_rows(bytes) | by_key<0>(_2, bins, sum(_1), max(_1)));
    sorted_and_same(of_rows(numbers_for_keys<u32>(rows * width)) | by_key<0>(_2, bins, own_records(_1)));
    sorted_and_same(of_rows(x) | by_key<0>(_2 - 100, bins, sum(_1)).dropping_strays());
  }
}

TEST_CASE("sorted rows: numbers far from each other, and those that are none") {
  if (no_kernels()) return;
  i64 const width = 40, bins = 900;
  auto const [x, wide] = far_numbers_for_keys(rows * width);
  for (auto const kind : all_kinds) {
    auto const keys = keys_of(kind, rows, bins);
    sorted_and_same(from(shaped(x, rows, width), along<0>(keys)) | by_key<0>(_2, bins, sum(_1), sum(_1 * _1), max(_1)));
    sorted_and_same(from(shaped(wide, rows, width), along<0>(keys)) | by_key<0>(_2, bins, sum(_1), mean(_1), min(_1)));
  }
}

TEST_CASE("sorted rows: few and many rows, device memory at every place, columns that are rows, strays and overflow") {
  if (no_kernels()) return;
  for (i64 const n : {32'768, 32'769, 32'800, 65'535, 131'073, 1'000'001})
    for (i64 const bins : {90, 50'000}) {
      auto const keys = keys_of(kind_of_keys::even, n, bins);
      auto const x = numbers_for_keys(n * 32);
      sorted_and_same(from(shaped(x, n, 32), along<0>(keys)) | by_key<0>(_2, bins, sum(_1), max(_1)));
    }
  i64 const width = 48, bins = 60;
  auto const x = numbers_for_keys(rows * width + 8);
  auto keys = keys_of(kind_of_keys::zipf, rows + 8, bins);
  on_device const dx(x);
  on_device const dk(keys);
  for (i64 const skip : {0, 1, 2, 4}) {
    auto const r = [&](float const* v, i64 const* k) { return from(shaped(v + skip, rows, width), along<0>(device(k + skip, rows))) | by_key<0>(_2, bins, sum(_1)); };
    std::vector<i64> const own_keys(keys.begin() + skip, keys.begin() + skip + rows);
    auto const host = run(from(shaped(x.data() + skip, rows, width), along<0>(own_keys)) | by_key<0>(_2, bins, sum(_1)), on::cpu);
    CHECK(same_arrays(host, run(r(dx.data(), dk.data()), on::gpu)));
  }
  keys.resize(std::size_t(rows));
  sorted_and_same(from(shaped(x.data(), {width, rows}, {1, width}), along<1>(keys)) | by_key<1>(_2, bins, sum(_1), max(_1)));
  for (std::size_t const at : {0u, 33'333u, 39'999u}) {
    auto strays = keys;
    strays[39'999] = bins;
    strays[at] = -7;
    std::string const first_stray = "[tally-E16] the key at position " + std::to_string(at * std::size_t(width)) + " is -7, the bins are [0, 60). docs/errors.md#E16";
    CHECK_THROWS_WITH_AS(run(from(shaped(x.data(), rows, width), along<0>(strays)) | by_key<0>(_2, bins, sum(_1)), on::gpu), first_stray.c_str(), key_out_of_range);
    sorted_and_same(from(shaped(x.data(), rows, width), along<0>(strays)) | by_key<0>(_2, bins, sum(_1)).dropping_strays());
  }
  std::vector<i64> large(std::size_t(rows * width), 1);
  large[7] = std::numeric_limits<i64>::max();
  for (auto const kind : {kind_of_keys::one, kind_of_keys::even}) {
    auto const some = keys_of(kind, rows, 900);
    auto const r = from(shaped(large, rows, width), along<0>(some)) | by_key<0>(_2, 900, sum(_1).checked());
    CHECK(sorts(r));
    CHECK_THROWS_AS(run(r, on::gpu), overflow);
  }
}
