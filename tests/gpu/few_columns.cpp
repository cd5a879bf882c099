// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrices of few columns in one read on a GPU: threads have whole rows, to the bits of the CPU.
#include "gpu/joined.hpp"

#include <tally/tally.hpp>

using namespace tally;

namespace {

template <class T>
void folds_rows_by_threads(i64 rows, i64 columns, bool whole_too = true) {
  CAPTURE(rows);
  CAPTURE(columns);
  auto const x = uneven_numbers<T>(std::size_t(rows * columns));
  on_device<T> const d(x);
  auto const same = [&](bool total, auto const& domains) {
    auto const p = plan_of_same(x, d, domains);
    CHECK(p.total_joins() == total);
    CHECK(p.plan.few_columns == columns);
  };
  same(whole_too, [&](T const* at) { return from(shaped(at, rows, columns)) | reduce(over<0>(sum), over<1>(sum), sum); });
  if (columns == 60 || columns > 64) return; // the lanes of two words each are more than its threads keep
  same(whole_too, [&](T const* at) { return from(shaped(at, rows, columns)) | filter(_1 > T(1)) | reduce(over<0>(max), over<1>(sum, count), min); });
}

} // namespace

TEST_CASE("matrices of few columns are one read, in which threads have whole rows") {
  if (no_kernels()) return;
  for (i64 const columns : {2, 3, 4, 6, 8, 12, 16, 20, 24, 32, 48, 60, 64, 80, 100, 128}) {
    folds_rows_by_threads<float>(600'000 + 17 * columns, columns, columns != 60); // two tiles of whole leaves of 60 are too much
    folds_rows_by_threads<float>(512 * 1024, columns, columns != 60);
  }
}

TEST_CASE("few columns of other sizes") {
  if (no_kernels()) return;
  for (i64 const columns : {2, 3, 4, 10, 16, 32}) folds_rows_by_threads<double>(300'000 + columns, columns);
  for (i64 const columns : {2, 3, 8, 12, 32}) folds_rows_by_threads<bf16>(900'000 + columns, columns);
  for (i64 const columns : {2, 4, 7, 32}) folds_rows_by_threads<int>(600'000 + columns, columns);
  for (i64 const columns : {3, 16}) folds_rows_by_threads<signed char>(900'000 + columns, columns);
}

TEST_CASE("rows that are no whole leaves leave the whole to a read of its own") {
  if (no_kernels()) return;
  for (i64 const columns : {15, 17, 31, 67, 127}) folds_rows_by_threads<float>(400'001, columns, false);
}

TEST_CASE("several sources of few columns, rows and columns that fold otherwise, and the largest places of each") {
  if (no_kernels()) return;
  i64 const rows = 500'003, columns = 12;
  auto const x = uneven_numbers<float>(std::size_t(rows * columns), 3), y = uneven_numbers<float>(std::size_t(rows * columns), 4);
  same_and_joined(from(shaped(x.data(), rows, columns), shaped(y.data(), rows, columns)) | reduce(over<0>(sum(_1 * _2)), over<1>(sum(_1 - _2), max(_2)), sum(_1 * _2)), true, true);
  same_and_joined(from(shaped(x.data(), rows, columns)) | reduce(over<0>(argmax), over<1>(argmax, first), argmin), true, true);
  same_and_joined(from(shaped(x.data(), rows, columns)) | reduce(over<0>(variance, mean), over<1>(variance)), true, false);
  auto const more = uneven_numbers<float>(std::size_t(3 * rows * columns), 5); // than L2 holds
  same_and_joined(from(shaped(more.data(), 3 * rows, columns)) | reduce(over<1>(norm<2>(_1)), sum), true, true);
  same_and_joined(from(shaped(x.data(), rows, columns)) | reduce(over<0>(max), max), true, true);
}

namespace {

/// Products with vectors: one of a number a row, one of a number a column.
template <class T>
void multiplies_rows_by_threads(i64 rows, i64 columns, bool whole_too) {
  CAPTURE(columns);
  auto const x = uneven_numbers<T>(std::size_t(rows * columns), 3), of_columns = uneven_numbers<T>(std::size_t(columns), 4), of_rows = uneven_numbers<T>(std::size_t(rows), 5);
  auto const products = [&](T const* matrix, T const* w, T const* v) {
    return from(shaped(matrix, rows, columns), along<1>(device(w, columns)), along<0>(device(v, rows))) | reduce(over<0>(sum(_1 * _3)), over<1>(sum(_1 * _2), max(_1)), sum(_1 * _2 * _3));
  };
  on_device<T> const dx(x), dw(of_columns), dv(of_rows);
  auto const there = products(dx.data(), dw.data(), dv.data());
  auto const p = plan_of(there);
  CHECK(p.joins);
  CHECK(p.plan.few_columns == columns);
  CHECK(p.total_joins() == whole_too);
  auto const host = run(products(x.data(), of_columns.data(), of_rows.data()), on::cpu);
  for (int again = 0; again < 2; ++again) CHECK(same_arrays(host, run(there, on::gpu)));
}

} // namespace

TEST_CASE("few columns beside operands: what is the same in every row is beside the tiles, what is the same all along one in them") {
  if (no_kernels()) return;
  for (i64 const columns : {4, 8, 12, 32, 64, 100}) multiplies_rows_by_threads<float>(400'003, columns, true);
  for (i64 const columns : {3, 31}) multiplies_rows_by_threads<float>(400'003, columns, false); // whose neighbours are of two rows
  for (i64 const columns : {4, 16}) multiplies_rows_by_threads<double>(300'003, columns, true);
  for (i64 const columns : {8, 32}) multiplies_rows_by_threads<bf16>(900'003, columns, true);
}
