// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows, columns and the whole of a batch of matrices in one read on a GPU, and of matrices of few rows: bit for bit the answers of the CPU.
#include "gpu/joined.hpp"
#include "gpu/on_device.hpp"

#include <tally/tally.hpp>

#include <cstdint>
#include <random>
#include <vector>

using namespace tally;

namespace {

/// Sums of the columns, the rows and all of `matrices`, one behind the other.
template <class T>
auto behind(T const* x, i64 matrices, i64 rows, i64 columns) {
  return from(shaped(x, matrices, rows, columns)) | reduce(over<1>(sum), over<2>(sum, argmax), sum);
}
/// The same of matrices whose rows lie in turn.
template <class T>
auto in_turn(T const* x, i64 matrices, i64 rows, i64 columns) {
  return from(shaped(x, rows, matrices, columns)) | reduce(over<0>(sum, argmax), over<2>(mean));
}

} // namespace

TEST_CASE("batches of random shapes have the bits of the CPU") {
  if (no_kernels()) return;
  std::mt19937_64 next(20261129);
  auto const between = [&](i64 low, i64 high) { return low + i64(next() % u64(high - low + 1)); };
  i64 const most = 5 * 1300 * 2048;
  auto const x = uneven_numbers<float>(std::size_t(most));
  auto const d = uneven_numbers<double>(std::size_t(most / 2));
  on_device<float> const x_there(x);
  on_device<double> const d_there(d);
  auto const same = [&](auto const* here, auto const* there, i64 matrices, i64 rows, i64 columns) {
    CAPTURE(matrices);
    CAPTURE(rows);
    CAPTURE(columns);
    CHECK(plan_of(behind(there, matrices, rows, columns)).total_joins());
    CHECK(same_arrays(run(behind(here, matrices, rows, columns), on::cpu), run(behind(there, matrices, rows, columns), on::gpu)));
    CHECK(plan_of(in_turn(there, matrices, rows, columns)).joins);
    CHECK(same_arrays(run(in_turn(here, matrices, rows, columns), on::cpu), run(in_turn(there, matrices, rows, columns), on::gpu)));
    tally_test_progress();
  };
  for (int i = 0; i < 12; ++i) {
    i64 const rows = i % 4 == 0 ? between(64, 128) : i % 4 == 1 ? between(350, 512) : between(800, 1300), columns = i % 3 == 0 ? 512 * between(2, 4) : between(1700, 2048);
    same(x.data(), x_there.data(), between(2, 5), rows, columns);
    same(d.data(), d_there.data(), between(2, 5), rows / 2, columns / 2);
  }
}

TEST_CASE("matrices of few rows, of which tiles hold several lanes") {
  if (no_kernels()) return;
  auto const x = uneven_numbers<float>(512 * 40'000);
  auto const of = [&](i64 rows, i64 columns) { return from(shaped(x.data(), rows, columns)) | reduce(over<0>(sum, variance), over<1>(mean, min), sum, variance); };
  for (i64 const rows : {64, 65, 127, 128, 200, 256, 300, 512}) {
    CHECK(plan_of(of(rows, 40'000)).plan.lanes_of_tile == (rows <= 128 ? 8 : rows <= 256 ? 4 : 2));
    same_and_joined(of(rows, 40'000), true, true);
    same_and_joined(of(rows, 4096), true, true);
  }
  same_and_joined(of(100, 20'001), true, true);
  same_and_joined(of(500, 2060), true, true);
}

TEST_CASE("many folds, masks, positions and keys of a batch") {
  if (no_kernels()) return;
  i64 const matrices = 6, rows = 300, columns = 2048;
  auto const x = uneven_numbers<float>(std::size_t(matrices * rows * columns));
  auto const batch = from(shaped(x.data(), matrices, rows, columns));
  same_and_joined(batch | reduce(over<1>(mean, argmax, variance), over<2>(sum, argmin), variance, argmax, max), true, true);
  same_and_joined(batch | filter(_1 > 1) | reduce(over<1>(mean, variance), over<2>(variance, count), mean, count), true, true);
  same_and_joined(batch | reduce(over<1>(sum(_1 * cast<float>(tally::index))), over<2>(sum(_1 * cast<float>(tally::index)))), true, false);
  same_and_joined(batch | reduce(histogram(even_bins(_1, 0, 100, 64)), over<2>(sum), over<1>(sum), sum), true, true);
  same_on_both(from(shaped(x.data(), rows, matrices, columns)) | reduce(over<0>(mean, argmax), over<2>(variance, argmin), histogram(even_bins(_1, 0, 100, 64))));
  same_and_joined(from(shaped(x.data(), rows, matrices, columns)) | reduce(over<2>(max), over<0>(max)), true, false);
}

TEST_CASE("operands of a batch stand, rows and matrices are padded and reversed, and axes that follow each other are one") {
  if (no_kernels()) return;
  auto const x = uneven_numbers<float>(5 * 310 * 2100, 3), y = uneven_numbers<float>(5 * 310 * 2100, 4);
  auto const batch = shaped(x.data(), 5, 300, 2048);
  same_and_joined(from(batch, along<2>(shaped(y.data(), 2048))) | reduce(over<1>(sum(_1 * _2)), over<2>(sum(_1 * _2)), sum(_1 * _2)), true, true);
  same_and_joined(from(batch, along<1>(shaped(y.data(), 300))) | reduce(over<1>(sum(_1 * _2)), over<2>(sum(_1 * _2))), true, false);
  same_and_joined(from(batch, along<0>(shaped(y.data(), 5))) | reduce(over<1>(sum(_1 * _2)), over<2>(sum(_1 * _2))), true, false);
  same_and_joined(from(batch, along<0, 2>(shaped(y.data(), 5, 2048))) | reduce(over<1>(sum(_1 * _2)), over<2>(sum(_1 * _2))), true, false);
  same_and_joined(from(batch, shaped(y.data(), 5, 300, 2048)) | reduce(over<1>(sum(_1 * _2)), over<2>(max(_1 - _2)), sum(_1 * _2)), true, true);
  for (i64 const apart : {2052, 2049}) {
    same_and_joined(from(shaped(x.data(), {5, 300, 2048}, {310 * apart, apart, 1})) | reduce(over<1>(sum), over<2>(sum), sum), true, true);
    same_and_joined(from(shaped(x.data() + 299 * apart, {5, 300, 2048}, {310 * apart, -apart, 1})) | reduce(over<1>(sum), over<2>(sum)), true, false);
    same_and_joined(from(shaped(x.data() + 4 * 310 * apart, {5, 300, 2048}, {-310 * apart, apart, 1})) | reduce(over<1>(sum), over<2>(sum)), true, false);
    same_and_joined(from(shaped(x.data() + 299 * 5 * apart, {300, 5, 2048}, {-5 * apart, apart, 1})) | reduce(over<0>(sum), over<2>(sum)), true, false);
  }
  same_and_joined(from(shaped(x.data(), 2, 2, 3, 100, 2048)) | reduce(over<2, 3>(sum), over<4>(sum), sum), true, true);
  same_and_joined(from(shaped(x.data(), 5, 300, 2, 1024)) | reduce(over<1>(sum), over<2, 3>(sum), sum), true, true);
  same_and_joined(from(shaped(x.data(), 1, 300, 2048)) | reduce(over<1>(sum), over<2>(sum), sum), true, true);
}

TEST_CASE("the whole of every matrix of a batch is in the same read") {
  if (no_kernels()) return;
  auto const x = uneven_numbers<float>(7 * 600 * 3072, 5);
  auto const of = [&](i64 matrices, i64 rows, i64 columns) { return from(shaped(x.data(), matrices, rows, columns)); };
  auto const in_turn_of = [&](i64 matrices, i64 rows, i64 columns) { return from(shaped(x.data(), rows, matrices, columns)); };
  same_and_joined(of(7, 600, 2048) | reduce(over<1>(sum), over<2>(sum), over<1, 2>(mean, variance, argmax)), true, true);
  same_and_joined(of(3, 1100, 3072) | reduce(over<1, 2>(sum), over<1>(sum), over<2>(max, argmin)), true, true);
  same_and_joined(of(5, 256, 1100) | reduce(over<1>(sum), over<2>(sum), over<1, 2>(mean, argmax)), true, true);
  same_and_joined(of(2, 1080, 1920) | filter(_1 > 1) | reduce(over<1>(mean), over<2>(count), over<1, 2>(variance), sum), true, true);
  same_and_joined(of(5, 257, 1100) | reduce(over<1>(sum), over<2>(sum), over<1, 2>(mean)), true, false);
  same_and_joined(of(5, 257, 1100) | reduce(over<1>(sum), over<2>(sum), over<1, 2>(max, argmax, count), histogram(even_bins(_1, 0, 100, 64))), true, true);
  same_and_joined(in_turn_of(7, 600, 2048) | reduce(over<0>(sum), over<2>(sum), over<0, 2>(mean, argmax)), true, true);
  same_and_joined(in_turn_of(3, 500, 3072) | reduce(over<0>(sum), over<2>(sum), over<0, 2>(variance, argmin)), true, true);
  same_and_joined(of(1, 600, 2048) | reduce(over<1>(sum), over<2>(sum), over<1, 2>(mean)), true, true);
  same_on_both(of(7, 600, 2048) | reduce(over<1>(sum), over<2>(sum), over<1, 2>(sum), over<0>(sum), sum, over<1, 2>(max)));
}

TEST_CASE("columns of a batch beside the whole of every matrix or of all, and rows beside that of every matrix") {
  if (no_kernels()) return;
  auto const x = uneven_numbers<float>(9 * 1300 * 2048);
  auto const of = [&](i64 matrices, i64 rows, i64 columns) { return from(shaped(x.data(), matrices, rows, columns)); };
  same_and_joined(of(7, 600, 2048) | reduce(over<1>(sum, argmax), sum, variance), true, true);
  same_and_joined(of(5, 1257, 1101) | filter(_1 > 1) | reduce(mean, over<1>(mean, count)), true, true);
  same_and_joined(of(7, 600, 2048) | reduce(over<1>(sum), over<1, 2>(mean, variance, argmin)), true, true);
  same_and_joined(of(5, 256, 1100) | reduce(over<1, 2>(sum), over<1>(sum)), true, true);
  same_and_joined(of(9, 1300, 2048) | reduce(over<2>(sum, argmin), over<1, 2>(mean)), true, true);
  same_and_joined(from(shaped(x.data(), 2, 3, 300, 2, 1024)) | reduce(over<2>(sum), over<2, 3, 4>(max)), true, true);
  same_on_both(of(9, 1300, 2048) | reduce(histogram(even_bins(_1, 0, 100, 64)), over<1>(sum)));
  same_on_both(of(9, 1300, 2048) | reduce(over<1>(sum), over<1, 2>(sum), sum));
}

TEST_CASE("batches of small floats and bytes, whose rows begin anywhere") {
  if (no_kernels()) return;
  auto const small = uneven_numbers<bf16>(4 * 600 * 4100);
  same_and_joined(behind(small.data(), 4, 256, 4096), true, true);
  same_and_joined(behind(small.data(), 4, 500, 4801), true, false);
  same_and_joined(in_turn(small.data(), 4, 250, 4099), true, false);
  auto const pixels = uneven_numbers<std::uint8_t>(3 * 520 * 5001);
  same_and_joined(from(shaped(pixels.data(), 3, 520, 4096)) | reduce(over<1>(sum, max), over<2>(sum), sum, argmax, count), true, true);
  same_and_joined(from(shaped(pixels.data(), 500, 3, 5001)) | reduce(over<0>(sum, max), over<2>(sum)), true, false);
}

TEST_CASE("axis sets that make no batch, or one that is not worth it, are read apart, to the same bits") {
  if (no_kernels()) return;
  auto const x = uneven_numbers<float>(64 * 300 * 1024);
  same_and_joined(from(shaped(x.data(), 64, 50, 1024)) | reduce(over<1>(sum), over<2>(sum), sum), false, false);
  same_and_joined(from(shaped(x.data(), {20, 300, 1024}, {300 * 1024, 1, 300})) | reduce(over<1>(sum), over<2>(sum), sum), false, false);
  same_and_joined(from(shaped(x.data(), {4, 5, 300, 1024}, {300 * 1024, 4 * 300 * 1024, 1024, 1})) | reduce(over<2>(sum), over<3>(sum)), false, false);
  same_on_both(from(shaped(x.data(), 64, 300, 1024)) | reduce(over<0>(sum), over<1>(sum), over<2>(sum), over<1, 2>(mean), sum));
}
