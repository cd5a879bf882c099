// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands that are the same along an axis, and operands with strides of their own, beside a matrix on a GPU: bit for bit the answers of the CPU.
#include "gpu/on_device.hpp"
#include "gpu/same_on_both.hpp"

#include <tally/tally.hpp>

#include <cstdint>
#include <initializer_list>

using namespace tally;

namespace {

struct shape {
  i64 rows, columns;
};
constexpr shape shapes[] = {{1, 1},       {1, 5000},    {5000, 1},    {3000, 3},    {4097, 4},      {129, 1000},   {1024, 1024}, {1000, 1028},
                            {1025, 1027}, {300, 16384}, {70000, 33},  {40, 70001},  {2048, 4096},   {262144, 8}};

template <class T>
void every_grouping_of(shape const& s) {
  CAPTURE(s.rows);
  CAPTURE(s.columns);
  auto const a = uneven_numbers<T>(std::size_t(s.rows * s.columns)), x = uneven_numbers<T>(std::size_t(s.columns), 5),
             w = uneven_numbers<T>(std::size_t(s.rows), 6);
  on_device<T> const da(a), dx(x), dw(w);
  auto const host = from(shaped(a.data(), s.rows, s.columns), along<1>(shaped(x.data(), s.columns)), along<0>(shaped(w.data(), s.rows)));
  auto const device = from(shaped(da.data(), s.rows, s.columns), along<1>(shaped(dx.data(), s.columns)), along<0>(shaped(dw.data(), s.rows)));
  auto const both = [&](auto const& folds, auto... options) {
    auto const of_host = host | folds;
    CAPTURE(text_of(of_host));
    CHECK(same_arrays(run(of_host, on::cpu, options...), run(device | folds, on::gpu, options...)));
    tally_test_progress();
  };
  both(over<1>(sum(_1 * _2), argmax(_1 - _3)));
  both(over<0>(sum(_1 * _3), variance(_1 - _2)));
  both(reduce(sum(_1 * _2 * _3), argmin(_1 * _3), max(_2 - _3)));
  both(reduce(over<1>(sum(_1 * _2)), over<0>(sum(_1 * _3)), sum(_1 * _2 * _3)));
  both(reduce(over<0>(sum((_1 - _2) * (_1 - _2))), over<1>(mean(_1), max(_1 * _3))));
}

/// Rows of a matrix that is `late` elements wider, which begin at any element of memory, as do operands that are the same for all.
template <class T>
void begin_anywhere(std::initializer_list<i64> extents) {
  for (i64 const columns : extents)
    for (i64 const late : {0, 1, 6}) {
      i64 const rows = 20000 / columns + 3, pitch = columns + late;
      CAPTURE(columns);
      CAPTURE(late);
      auto const a = uneven_numbers<T>(std::size_t(rows * pitch + 1), 1), x = uneven_numbers<T>(std::size_t(pitch), 5);
      on_device<T> const da(a), dx(x);
      for (i64 const first : {0, 1}) {
        auto const of = [&](T const* matrix, T const* operand) {
          return from(shaped(matrix + first, {rows, columns}, {pitch, 1}), along<1>(shaped(operand + late, columns))) |
                 reduce(over<1>(sum(_1 * _2), argmax(_1 - _2)));
        };
        CHECK(same_arrays(run(of(a.data(), x.data()), on::cpu), run(of(da.data(), dx.data()), on::gpu)));
        tally_test_progress();
      }
    }
}

/// Folds of a whole matrix beside an operand whose every element is the last or the first of its column once, of memory that ends there.
template <class T>
void whole_beside_small(std::initializer_list<i64> extents) {
  for (i64 const columns : extents)
    for (i64 const late : {0, 1, 3}) {
      i64 const rows = 60000 / columns + 3;
      CAPTURE(columns);
      CAPTURE(late);
      auto const a = uneven_numbers<T>(std::size_t(rows * columns), 1), x = uneven_numbers<T>(std::size_t(columns + late), 5), w = uneven_numbers<T>(std::size_t(rows), 6);
      on_device<T> const da(a), dx(x), dw(w);
      auto const of = [&](T const* matrix, T const* operand, T const* of_row) {
        return from(shaped(matrix, rows, columns), along<1>(shaped(operand + late, columns)), along<0>(shaped(of_row, rows))) |
               reduce(sum(_1 * _2 * _3), argmax(_1 - _2), sum(_2 * cast<float>(tally::index)));
      };
      CHECK(same_arrays(run(of(a.data(), x.data(), w.data()), on::cpu), run(of(da.data(), dx.data(), dw.data()), on::gpu)));
      auto const turned = [&](T const* operand) { return from(shaped(operand + late + columns - 1, {rows, columns}, {0, -1})) | reduce(sum, argmin); };
      CHECK(same_arrays(run(turned(x.data()), on::cpu), run(turned(dx.data()), on::gpu)));
      tally_test_progress();
    }
}

} // namespace

TEST_CASE("operands that are the same for all rows or all columns, of matrices of every shape: floats") {
  if (no_kernels()) return;
  for (auto const& s : shapes) every_grouping_of<float>(s);
}
TEST_CASE("operands that are the same for all rows or all columns, of matrices of every shape: small floats and doubles") {
  if (no_kernels()) return;
  for (auto const& s : {shapes[3], shapes[6], shapes[7], shapes[9], shapes[10]}) {
    every_grouping_of<bf16>(s);
    every_grouping_of<double>(s);
  }
}

TEST_CASE("rows that begin anywhere beside operands that begin elsewhere: small floats") {
  if (no_kernels()) return;
  begin_anywhere<bf16>({257, 511, 2048, 2049, 5001, 16387});
}
TEST_CASE("rows that begin anywhere beside operands that begin elsewhere: floats, doubles and integers") {
  if (no_kernels()) return;
  begin_anywhere<float>({255, 1025, 2051, 16387});
  begin_anywhere<std::int16_t>({511});
  begin_anywhere<std::int8_t>({4099});
  begin_anywhere<double>({1025});
}

TEST_CASE("folds of the whole beside operands of small elements that begin anywhere") {
  if (no_kernels()) return;
  whole_beside_small<bf16>({7, 17, 33, 101, 255, 511, 1023, 4099});
  whole_beside_small<std::int16_t>({17, 1025});
  whole_beside_small<std::int8_t>({31, 33, 1025, 4099});
  whole_beside_small<float>({3, 5, 101, 1023});
}

TEST_CASE("operands under exact and fast, behind a filter, and written for every element") {
  if (no_kernels()) return;
  for (auto const& s : {shape{1300, 2048}, shape{1000, 999}}) {
    auto const a = uneven_numbers<float>(std::size_t(s.rows * s.columns)), x = uneven_numbers<float>(std::size_t(s.columns), 5),
               w = uneven_numbers<float>(std::size_t(s.rows), 6);
    auto const all = from(shaped(a.data(), s.rows, s.columns), along<1>(shaped(x.data(), s.columns)), along<0>(shaped(w.data(), s.rows)));
    same_on_both(all | reduce(sum(_1 * _2), sum(_1 * _3)), exact);
    same_on_both(all | over<0>(sum(_1 * _3), sum(_1 * _2)), exact);
    same_on_both(all | over<1>(sum(_1 * _2)), exact);
    same_on_both(all | filter(_1 * _2 > _3) | reduce(over<0>(sum(_1), count), over<1>(mean(_2), count), sum(_3)));
    same_on_both(all | filter(_2 > 0.f) | reduce(sum(_1 * _3), variance(_1), histogram(_1, -100, 100, 64)));
    same_on_both(all | map((_1 - _2) * _3) | collect);
    CHECK(double(run(all | reduce(sum(_2)), on::gpu, fast)) == doctest::Approx(double(run(all | reduce(sum(_2)), on::cpu))).epsilon(1e-3));
  }
}

TEST_CASE("slices, transposed and reversed operands of up to four axes, folded whole") {
  if (no_kernels()) return;
  auto const x = uneven_numbers<float>(2 * 24 * 30 * 40 * 50 / 10);
  for (i64 const inner : {1, 3, 4, 8, 31, 32, 100, 128, 1000}) {
    CAPTURE(inner);
    i64 const n = i64(x.size()) / 2, middle = n / inner / 12, outer = 12;
    if (middle == 0) continue;
    i64 const whole = middle * inner;
    auto const sliced = shaped(x.data(), {outer / 2, middle, inner}, {2 * whole, inner, 1});
    auto const turned = shaped(x.data(), {outer / 2, middle, inner}, {1, outer / 2 * inner, outer / 2});
    auto const reversed = shaped(x.data() + n - 1, {outer / 2, middle, inner}, {-whole, -inner, -1});
    auto const of_middle = shaped(x.data() + 1, {outer / 2, middle, inner}, {0, 1, 0});
    auto const of_ends = shaped(x.data() + 4, {outer / 2, middle, inner}, {inner, 0, 1});
    auto const same = shaped(x.data() + 7, {outer / 2, middle, inner}, {0, 0, 0});
    same_on_both<2>(from(sliced) | reduce(sum, argmax));
    same_on_both(from(sliced, of_middle, of_ends, same) | reduce(sum(_1 * _2 + _3 * _4), max(_3)));
    same_on_both(from(shaped(x.data(), outer / 2, middle, inner), of_ends) | reduce(sum(_1 * _2)));
    same_on_both(from(turned, of_middle) | reduce(sum(_1 * _2), argmin(_1)));
    same_on_both(from(reversed, of_ends) | reduce(sum(_1 * _2), mean(_1)));
    auto const four = shaped(x.data(), {2, outer / 4, middle, inner}, {0, whole, inner, 1});
    same_on_both(from(four) | reduce(sum, variance, min));
  }
}

TEST_CASE("operands of reductions that are queued, of segments and in a batch") {
  if (no_kernels()) return;
  i64 const rows = 2000, columns = 1500;
  auto const a = uneven_numbers<float>(std::size_t(rows * columns)), x = uneven_numbers<float>(std::size_t(columns), 5);
  on_device<float> const da(a), dx(x);
  auto const host = from(shaped(a.data(), rows, columns), along<1>(shaped(x.data(), columns)));
  auto const device = from(shaped(da.data(), rows, columns), along<1>(shaped(dx.data(), columns)));
  auto const expected = run(host | reduce(sum(_1 * _2)), on::cpu);
  on_device<float> out(std::vector<float>(3));
  for (int k = 0; k < 3; ++k) enqueue(device | reduce(sum(_1 * _2)), out.data() + k, on::gpu(0));
  for (float const answer : out.back()) CHECK(answer == expected);
  std::vector<i64> const offsets{5, 7, 7, 1501, 100000, 1000003, rows * columns / 2};
  same_on_both(from(shaped(a.data() + 1, {rows * columns / 2}, {2})) | reduce(by_segment(offsets, sum(_1), argmax(_1)), sum(_1)));
  auto const [first, second] = run(batch(device | reduce(sum(_1 * _2)), device | reduce(max(_2))), on::gpu);
  CHECK(first == expected);
  CHECK(second == run(host | reduce(max(_2)), on::cpu));
}
