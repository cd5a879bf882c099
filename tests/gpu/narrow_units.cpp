// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrices with a chunk of few columns in one read on a GPU: its units fold their lanes in shares, to the bits of the CPU.
#include "gpu/joined.hpp"
#include "gpu/on_device.hpp"

#include <tally/tally.hpp>

#include <random>

using namespace tally;

namespace {

template <class T>
void folds_in_shares(i64 rows, i64 columns, int shares) {
  CAPTURE(rows);
  CAPTURE(columns);
  auto const x = uneven_numbers<T>(std::size_t(rows * columns));
  on_device<T> const d(x);
  auto const same = [&](auto const& domains) { CHECK(plan_of_same(x, d, domains).plan.shares_of_last_chunk == shares); };
  same([&](T const* at) { return from(shaped(at, rows, columns)) | reduce(over<0>(sum), over<1>(sum)); });
  same([&](T const* at) { return from(shaped(at, rows, columns)) | reduce(over<0>(mean, argmax), over<1>(max, min)); });
  same([&](T const* at) { return from(shaped(at, rows, columns)) | filter(_1 > T(1)) | reduce(over<0>(sum, count), over<1>(mean), max); });
}

} // namespace

TEST_CASE("matrices of fewer columns than a tile has fold lanes in shares") {
  if (no_kernels()) return;
  for (auto const& [columns, shares] : {std::pair<i64, int>{512, 2}, {511, 2}, {257, 2}, {256, 4}, {255, 4}, {192, 4}, {129, 4}, {128, 8}})
    folds_in_shares<float>(17'000 + columns, columns, shares);
  folds_in_shares<float>(20 * 1024, 300, 2);
  folds_in_shares<bf16>(80'000, 1000, 2);
  folds_in_shares<bf16>(80'001, 512, 4);
  folds_in_shares<double>(20'000, 255, 2);
  folds_in_shares<double>(20'001, 64, 8);
  folds_in_shares<int>(17'003, 500, 2);
}

TEST_CASE("matrices whose last chunk has few columns fold its lanes in shares") {
  if (no_kernels()) return;
  for (auto const& [columns, shares] : {std::pair<i64, int>{1025, 8}, {1152, 8}, {1153, 4}, {2048 + 300, 2}, {4096 + 500, 2}, {4097, 8}})
    folds_in_shares<float>(1025 + columns % 7, columns, shares);
  folds_in_shares<bf16>(2048, 2049, 8);
  folds_in_shares<bf16>(3001, 2048 + 520, 2);
  folds_in_shares<double>(513, 1024 + 100, 4);
  auto const x = uneven_numbers<float>(1100 * 1060);
  same_and_joined(from(shaped(x.data(), 1100, 1060)) | reduce(over<0>(variance), over<1>(mean, stddev)), true, false);
}

TEST_CASE("the whole beside narrow chunks, of rows and of leaves that begin anywhere") {
  if (no_kernels()) return;
  std::mt19937_64 next(20261129);
  for (int i = 0; i < 12; ++i) {
    i64 const columns = i % 3 == 0 ? 1024 + 1 + i64(next() % 128) : 192 + i64(next() % 321), rows = (columns > 1000 ? 1024 : 17'000) + i64(next() % 2000);
    CAPTURE(rows);
    CAPTURE(columns);
    auto const x = uneven_numbers<float>(std::size_t(rows * columns));
    on_device<float> const d(x);
    auto const sums = [&](float const* at) { return from(shaped(at, rows, columns)) | reduce(over<0>(sum), over<1>(sum), sum, mean); };
    CHECK(plan_of(sums(d.data())).total_joins());
    CHECK(plan_of(sums(d.data())).plan.shares_of_last_chunk > 1);
    CHECK(same_arrays(run(sums(x.data()), on::cpu), run(sums(d.data()), on::gpu)));
    auto const without_rows = [&](float const* at) { return from(shaped(at, rows, columns)) | reduce(over<0>(sum), variance); };
    CHECK(same_arrays(run(without_rows(x.data()), on::cpu), run(without_rows(d.data()), on::gpu)));
  }
}

TEST_CASE("several columns, operands of one axis, padded rows, batches and keys beside narrow chunks") {
  if (no_kernels()) return;
  i64 const rows = 18'000, columns = 300;
  auto const x = uneven_numbers<float>(std::size_t(rows * columns), 3), y = uneven_numbers<float>(std::size_t(rows * columns), 4);
  same_and_joined(from(shaped(x.data(), rows, columns), shaped(y.data(), rows, columns)) | reduce(over<0>(sum(_1 * _2)), over<1>(sum(_1 - _2), max(_2)), sum(_1 * _2)), true, true);
  same_and_joined(from(shaped(x.data(), rows, columns), along<1>(shaped(y.data(), columns)), along<0>(shaped(y.data(), rows))) |
                    reduce(over<0>(sum(_1 * _3)), over<1>(sum(_1 * _2))),
                  true, false);
  same_and_joined(from(shaped(x.data(), {rows, 257}, {columns, 1})) | reduce(over<0>(sum), over<1>(sum)), true, false);
  same_and_joined(from(shaped(x.data() + 1, {rows - 1, 257}, {columns, 1})) | reduce(over<0>(sum), over<1>(sum)), true, false);
  same_and_joined(from(shaped(x.data(), 9, 2000, columns)) | reduce(over<1>(sum), over<2>(sum)), true, false);
  same_and_joined(from(shaped(x.data(), rows, columns)) | reduce(over<0>(sum), over<1>(sum), sum, histogram(even_bins(_1, 0, 100, 64))), true, true);
}
