// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows, columns and total of a matrix in one read on a GPU: bit for bit the answers of the CPU, and the read joined where it can.
#include "gpu/joined.hpp"
#include "gpu/on_device.hpp"

#include <tally/tally.hpp>

#include <cstdint>
#include <random>

using namespace tally::v0;

/// Associative and not commutative: the second of two, unless it is nothing.
TALLY_FUNCTION(mixed_turn, (unsigned a, unsigned b), { return b == 0 ? a : b; });
TALLY_FUNCTION(mixed_bits, (float x), { return static_cast<unsigned>(x > 0 ? x : -x); });
TALLY_FUNCTION(mixed_itself, (unsigned a), { return a; });

namespace {

struct matrix {
  i64 rows, columns;
  whole_from whole;
};
constexpr auto by_rows = whole_from::rows, by_leaves_of_rows = whole_from::leaves_of_rows, by_leaves = whole_from::leaves;
constexpr matrix matrices[] = {{128, 1024, by_rows},   {129, 2048, by_rows},    {1024, 1024, by_rows}, {1000, 4096, by_rows}, {40000, 1024, by_rows},           {2048, 16384, by_rows},
                               {5000, 1028, by_leaves}, {1025, 1500, by_leaves}, {130, 70000, by_leaves}, {300, 2047, by_leaves}, {128, 1025, by_leaves},         {40000, 1031, by_leaves},
                               {17'000, 768, by_leaves}, {17'001, 1000, by_leaves}, {20'000, 1023, by_leaves}, {20'000, 512, by_leaves}, {70'000, 769, by_leaves},
                               {3000, 3072, by_leaves_of_rows}, {2049, 12288, by_leaves_of_rows}, {128, 7168, by_leaves_of_rows}, {200, 131 * 1024, by_leaves_of_rows}};

} // namespace

TEST_CASE("columns, rows and total of matrices of every shape have the bits of the CPU") {
  if (no_kernels()) return;
  for (auto const& m : matrices) {
    CAPTURE(m.rows);
    CAPTURE(m.columns);
    auto const x = uneven_numbers<float>(std::size_t(m.rows * m.columns));
    on_device<float> const d(x);
    auto const on_gpu = from(shaped(d.data(), m.rows, m.columns)) | reduce(over<0>(sum), over<1>(sum), sum);
    auto const on_host = from(shaped(x.data(), m.rows, m.columns)) | reduce(over<0>(sum), over<1>(sum), sum);
    auto const p = plan_of(on_gpu);
    CHECK(p.joins);
    CHECK(p.total_joins());
    CHECK(p.plan.whole == m.whole);
    CHECK(p.plan.begins_anywhere == (m.columns % 4 != 0));
    auto const host = run(on_host, on::cpu);
    CHECK(same_arrays(host, run(on_gpu, on::gpu)));
    CHECK(same_arrays(host, run(on_gpu, on::gpu)));
  }
}

TEST_CASE("columns, rows and total of matrices of random shapes have the bits of the CPU") {
  if (no_kernels()) return;
  std::mt19937_64 next(20261128);
  auto const between = [&](i64 low, i64 high) { return low + i64(next() % u64(high - low + 1)); };
  auto const x = uneven_numbers<float>(2200 * 9000);
  auto const d = uneven_numbers<double>(19'000 * 511);
  on_device<float> const x_there(x);
  on_device<double> const d_there(d);
  for (int i = 0; i < 30; ++i) {
    auto const same = [&](auto const* here, auto const* there, i64 rows, i64 columns) {
      CAPTURE(rows);
      CAPTURE(columns);
      auto const sums = [&](auto const* at) { return from(shaped(at, rows, columns)) | reduce(over<0>(sum), over<1>(sum), sum, mean); };
      CHECK(plan_of(sums(there)).total_joins());
      CHECK(same_arrays(run(sums(here), on::cpu), run(sums(there), on::gpu)));
    };
    if (i % 3 == 0) { // rows shorter than a leaf
      same(x.data(), x_there.data(), between(17'000, 19'000), between(768, 1023));
      same(d.data(), d_there.data(), between(17'000, 19'000), between(384, 511));
    } else {
      i64 const rows = i % 2 == 0 ? between(1024, 2200) : between(100, 128) << between(0, 3);
      same(x.data(), x_there.data(), rows, i % 5 == 0 ? 1024 * between(1, 8) : between(4800, 9000));
      same(d.data(), d_there.data(), rows / 2, i % 5 == 0 ? 512 * between(1, 8) : between(2400, 4500));
    }
  }
}

TEST_CASE("several folds, masks and positions join; what rows and columns say of their places is their own") {
  if (no_kernels()) return;
  i64 const rows = 1100, columns = 2048;
  auto const x = uneven_numbers<float>(std::size_t(rows * columns));
  auto const m = from(shaped(x.data(), rows, columns));
  same_and_joined(m | reduce(over<0>(mean, max, variance), over<1>(sum, min, stddev), variance, argmax, max), true, true);
  same_and_joined(m | reduce(argmin, over<1>(argmax, count_if(_1 > 0)), over<0>(argmin, sum.where(_1 > 0))), true, true);
  same_and_joined(m | filter(_1 > 1) | reduce(over<0>(mean, variance), over<1>(variance, count), mean, count), true, true);
  same_and_joined(m | reduce(over<0>(sum(_1 * _1)), sum(_1)), true, true);
  same_and_joined(m | reduce(over<1>(sum), over<0>(max)), true, false);
}

TEST_CASE("doubles, small floats and integers join by leaves of their own") {
  if (no_kernels()) return;
  auto const f64 = uneven_numbers<double>(1200 * 1024);
  same_and_joined(from(shaped(f64.data(), 1200, 1024)) | reduce(over<0>(sum, variance), over<1>(mean), sum), true, true);
  auto const small = uneven_numbers<bf16>(2500 * 4096);
  same_and_joined(from(shaped(small.data(), 2500, 4096)) | reduce(over<0>(sum, max), over<1>(mean), sum), true, true);
  auto const ints = uneven_numbers<int>(1500 * 2048);
  same_and_joined(from(shaped(ints.data(), 1500, 2048)) | reduce(over<0>(sum, max), over<1>(sum), sum), true, true);
}

TEST_CASE("several columns, padded rows, operands of one axis and outer axes together") {
  if (no_kernels()) return;
  auto const x = uneven_numbers<float>(1300 * 2048, 3), y = uneven_numbers<float>(1300 * 2048, 4);
  same_and_joined(from(shaped(x.data(), 1300, 2048), shaped(y.data(), 1300, 2048)) |
                   reduce(over<0>(sum(_1 * _2)), over<1>(sum(_1 - _2), max(_2)), sum(_1 * _2)),
               true, true);
  same_and_joined(from(shaped(x.data(), {1300, 1024}, {2048, 1})) | reduce(over<0>(sum), over<1>(sum), sum), true, true);
  same_and_joined(from(shaped(x.data(), 1300, 2048), along<1>(shaped(y.data(), 2048))) | reduce(over<0>(sum(_1 * _2)), over<1>(sum(_1 * _2)), sum(_1 * _2)),
               true, true);
  same_and_joined(from(shaped(x.data(), 13, 100, 2048)) | reduce(over<0, 1>(sum), over<2>(sum), sum), true, true);
  same_and_joined(from(shaped(x.data(), 1300, 2048)) | reduce(over<0>(sum), over<1>(sum), sum, count), true, true);
}

TEST_CASE("rows of doubles, small floats and bytes begin anywhere, and tiles hold the pieces around them") {
  if (no_kernels()) return;
  auto const f64 = uneven_numbers<double>(700 * 1029);
  same_and_joined(from(shaped(f64.data(), 700, 1029)) | reduce(over<0>(sum, argmax), over<1>(mean)), true, false);
  auto const f32 = uneven_numbers<float>(2100 * 2050);
  auto const small = uneven_numbers<bf16>(2100 * 2050);
  same_and_joined(from(shaped(small.data(), 2100, 2050)) | reduce(over<0>(sum), over<1>(max)), true, false);
  same_and_joined(from(shaped(small.data(), 2060, 2049), shaped(f32.data(), 2060, 2049)) | reduce(over<0>(sum(_1 * _2)), over<1>(max(_1 - _2))), true, false);
  same_and_joined(from(shaped(small.data(), 500, 6145), along<1>(shaped(small.data(), 6145))) | reduce(over<0>(sum(_1)), over<1>(sum(_1 * _2)), max(_1)), true, true);
  same_and_joined(from(shaped(f32.data() + 1, 1000, 2048), shaped(f64.data(), {1000, 2048}, {1, 0})) | reduce(over<0>(sum(cast<double>(_1) * _2)), over<1>(max(_1)), sum(_1)), true, true);
}

template <class T>
static void begins_anywhere(i64 rows, i64 columns, i64 apart) {
  constexpr i64 most = 16 / i64(sizeof(T));
  auto const x = uneven_numbers<T>(std::size_t((rows - 1) * apart + columns + most - 1));
  for (i64 first = 0; first < most; first += most > 4 ? 3 : 1) {
    CAPTURE(columns);
    CAPTURE(first);
    std::vector<T> const of_first(x.begin() + first, x.begin() + first + (rows - 1) * apart + columns); // ends where its last row does
    on_device<T> const d(std::vector<T>(x.begin(), x.begin() + first + (rows - 1) * apart + columns));
    auto const sums = [&](T const* at, i64 step) { return from(shaped(at, {rows, columns}, {step, 1})) | reduce(over<0>(sum, argmax), over<1>(sum, min)); };
    CHECK(plan_of(sums(d.data() + first, apart)).joins);
    CHECK(same_arrays(run(sums(of_first.data(), apart), on::cpu), run(sums(d.data() + first, apart), on::gpu)));
    i64 const last = (rows - 1) * apart; // rows from the last to the first
    CHECK(same_arrays(run(sums(of_first.data() + last, -apart), on::cpu), run(sums(d.data() + first + last, -apart), on::gpu)));
  }
}

TEST_CASE("the whole of rows of any length joins where its order is free") {
  if (no_kernels()) return;
  auto const pixels = uneven_numbers<std::uint8_t>(1000 * 3071);
  auto const image = from(shaped(pixels.data(), 1000, 3071));
  same_and_joined(image | reduce(over<0>(sum, max), over<1>(sum), sum, argmax, count), true, true);
  same_and_joined(image | filter(_1 > 17) | reduce(over<0>(mean), over<1>(count), sum, min, count), true, true);
  auto const f32 = uneven_numbers<float>(1000 * 5123);
  auto const m = from(shaped(f32.data(), 1000, 5123));
  same_and_joined(m | reduce(over<0>(sum), over<1>(sum), argmin, max), true, true);
  on_device<float> const d(f32);
  auto const on_gpu = from(shaped(d.data(), 1000, 5123)) | reduce(over<0>(sum), over<1>(sum), sum(_1 * _1), variance);
  auto const [columns, rows, squares, spread] = run(on_gpu, on::gpu, fast);
  auto const [columns_of_host, rows_of_host, exact_squares, exact_spread] = run(m | reduce(over<0>(sum), over<1>(sum), sum(_1 * _1), variance), on::cpu, exact);
  CHECK(squares == doctest::Approx(exact_squares).epsilon(1e-5));
  CHECK(spread == doctest::Approx(exact_spread).epsilon(1e-5));
}

TEST_CASE("leaves of rows are those of the whole where rows are whole leaves, but no power of two of them") {
  if (no_kernels()) return;
  auto const x = uneven_numbers<float>(1100 * 6144, 5);
  auto const m = from(shaped(x.data(), 1100, 6144));
  same_and_joined(m | reduce(over<0>(sum), sum), true, true);
  same_and_joined(m | reduce(over<0>(sum, max), over<1>(mean), variance, argmax, mean), true, true);
  same_and_joined(m | filter(_1 > 1) | reduce(over<0>(mean), over<1>(variance), sum, mean, count), true, true);
  same_and_joined(m | reduce(over<0>(sum), over<1>(sum), sum, histogram(even_bins(_1, 0, 100, 64))), true, true);
  same_and_joined(from(shaped(x.data(), {1000, 5120}, {6144, 1}), along<1>(shaped(x.data(), 5120))) | reduce(over<0>(sum(_1)), over<1>(sum(_1 * _2)), sum(_1 * _2)), true, true);
  auto const f64 = uneven_numbers<double>(700 * 1536);
  same_and_joined(from(shaped(f64.data(), 700, 1536)) | reduce(over<0>(sum), over<1>(mean), sum, variance), true, true);
  auto const small = uneven_numbers<bf16>(x.size(), 5);
  same_and_joined(from(shaped(small.data(), 1100, 6144)) | reduce(over<0>(sum), over<1>(max), mean), true, true);
  same_and_joined(from(shaped(small.data(), 1000, 6144), shaped(x.data(), 1000, 6144)) | reduce(over<0>(sum(_1 * _2)), over<1>(max(_1 - _2)), sum(_1 * _2)), true, true);
  same_and_joined(from(shaped(small.data(), 1000, 5123)) | reduce(over<0>(sum), over<1>(max), mean), true, false);
  on_device<bf16> const large(uneven_numbers<bf16>(8000 * 5123, 7)); // more than L2 holds
  auto const rows_and_whole = [](bf16 const* at) { return from(shaped(at, 8000, 5123)) | reduce(over<1>(sum), mean, sum); };
  CHECK(plan_of(rows_and_whole(large.data())).plan.whole == by_leaves);
  std::vector<bf16> const here = large.back();
  CHECK(same_arrays(run(rows_and_whole(here.data()), on::cpu), run(rows_and_whole(large.data()), on::gpu)));
}

TEST_CASE("leaves of the whole are folded where they begin, where rows are no whole leaves") {
  if (no_kernels()) return;
  auto const x = uneven_numbers<float>(1100 * 5123, 5), y = uneven_numbers<float>(1100 * 5123, 6);
  auto const m = from(shaped(x.data(), 1100, 5123));
  same_and_joined(m | reduce(over<0>(sum), sum), true, true);
  same_and_joined(m | reduce(over<0>(sum, max), over<1>(mean), variance, argmax, mean), true, true);
  same_and_joined(m | filter(_1 > 1) | reduce(over<0>(mean), over<1>(variance), sum, mean, count), true, true);
  same_and_joined(from(shaped(x.data(), 1100, 5123), shaped(y.data(), 1100, 5123)) | reduce(over<0>(sum(_1 * _2)), over<1>(sum(_1 - _2)), sum(_1 * _2), min(_2)), true, true);
  same_and_joined(from(shaped(x.data(), 11, 100, 5123)) | reduce(over<0, 1>(sum), over<2>(sum), sum), true, true);
  same_and_joined(m | reduce(over<0>(sum), over<1>(sum), sum, histogram(even_bins(_1, 0, 100, 64))), true, true);
  auto const f64 = uneven_numbers<double>(700 * 1029);
  same_and_joined(from(shaped(f64.data(), 700, 1029)) | reduce(over<0>(sum), over<1>(mean), sum, variance), true, true);
  // not where rows lie apart, an operand stands, elements are small or memory begins where no leaf is aligned
  same_and_joined(from(shaped(x.data(), {1000, 5000}, {5123, 1})) | reduce(over<0>(sum), over<1>(sum), sum), true, false);
  same_and_joined(from(shaped(x.data(), 1100, 5123), along<1>(shaped(y.data(), 5123))) | reduce(over<0>(sum(_1)), over<1>(sum(_1 * _2)), sum(_1)), true, false);
  on_device<float> const d(std::vector<float>(x.begin(), x.begin() + 1 + 1000 * 5123));
  auto const begins_odd = [](float const* at) { return from(shaped(at, 1000, 5123)) | reduce(over<0>(sum), over<1>(sum), sum); };
  CHECK_FALSE(plan_of(begins_odd(d.data() + 1)).total_joins());
  CHECK(same_arrays(run(begins_odd(x.data() + 1), on::cpu), run(begins_odd(d.data() + 1), on::gpu)));
}

TEST_CASE("rows that begin anywhere, padded, reversed, and the last of which ends its memory") {
  if (no_kernels()) return;
  begins_anywhere<float>(1030, 1025, 1025);
  begins_anywhere<float>(500, 1024, 1029);
  begins_anywhere<bf16>(1000, 3001, 3001);
  begins_anywhere<bf16>(2050, 2048, 2048);
  begins_anywhere<std::uint8_t>(1000, 3071, 3071);
  begins_anywhere<double>(600, 1023, 1023);
}

TEST_CASE("what cannot join is read apart, to the same bits") {
  if (no_kernels()) return;
  auto const x = uneven_numbers<float>(1000 * 2048, 5);
  same_and_joined(from(shaped(x.data(), 1000, 510)) | reduce(over<0>(sum), over<1>(sum), sum), false, false);
  same_and_joined(from(shaped(x.data(), 8192, 100)) | reduce(over<0>(sum), over<1>(sum), sum), false, false);
  same_and_joined(from(shaped(x.data(), {2048, 1000}, {1, 2048})) | reduce(over<0>(sum), over<1>(sum), sum), false, false);
  same_and_joined(from(shaped(x.data(), 1000, 2048)) | reduce(over<0>(fold_of(0u, mixed_turn, mixed_bits, mixed_itself, associative)), over<1>(sum), sum), false, false);
}
