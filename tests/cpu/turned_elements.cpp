// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements of turned, permuted and reversed sources on the CPU, tile by tile: what a loop over all indices writes.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <array>

using namespace tally;

namespace {

template <class T>
std::vector<T> numbers_of(i64 n) {
  std::vector<T> x(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>((i * 37 + i / 11) % 251);
  return x;
}
/// Whether element [a][b][c] of an array is value(a, b, c).
template <class Array, class Value>
bool is_made_of(Array const& array, std::array<i64, 3> e, Value const& value) {
  i64 at = 0;
  bool same = array.size() == static_cast<std::size_t>(e[0] * e[1] * e[2]);
  for (i64 a = 0; a < e[0]; ++a)
    for (i64 b = 0; b < e[1]; ++b)
      for (i64 c = 0; c < e[2]; ++c) same = same && array.data()[at++] == value(a, b, c);
  return same;
}
template <class T>
void turned(i64 rows, i64 n) {
  CAPTURE(rows);
  CAPTURE(n);
  auto const x = numbers_of<T>(rows * n);
  auto const element = [&](i64, i64 r, i64 c) { return x[std::size_t(c * rows + r)]; };
  for (int const threads : {1, 3})
    CHECK(is_made_of(run(from(shaped(x.data(), {rows, n}, {1, rows})) | collect, on::cpu.threads(threads)), {1, rows, n}, element));
}

} // namespace

TEST_CASE("turned matrices of every size and type on the CPU") {
  for (auto const& [rows, n] : {std::pair{4, 16}, {5, 17}, {63, 65}, {64, 64}, {128, 64}, {129, 130}, {300, 200}, {7, 5000}, {5000, 19}, {3, 40}, {40, 3}}) {
    turned<float>(rows, n);
    turned<u8>(rows, n);
    turned<double>(rows, n);
  }
}

TEST_CASE("permuted axes and reversed columns, beside columns that lie as they are written, and one element a row, on the CPU") {
  auto const x = numbers_of<int>(20 * 30 * 150), y = numbers_of<int>(20 * 30 * 150);
  for (auto const& order : {std::array{0, 1, 2}, std::array{0, 2, 1}, std::array{1, 0, 2}, std::array{1, 2, 0}, std::array{2, 0, 1}, std::array{2, 1, 0}}) {
    i64 const extents[] = {20, 30, 150}, steps[] = {30 * 150, 150, 1};
    auto const e = [&](int k) { return extents[order[std::size_t(k)]]; };
    auto const s = [&](int k) { return steps[order[std::size_t(k)]]; };
    auto const place = [&](i64 a, i64 b, i64 c) { return std::size_t(a * s(0) + b * s(1) + c * s(2)); };
    auto const permuted = shaped(x.data(), {e(0), e(1), e(2)}, {s(0), s(1), s(2)});
    CHECK(is_made_of(run(from(permuted) | map(_1 * 3) | collect, on::cpu), {e(0), e(1), e(2)}, [&](i64 a, i64 b, i64 c) { return x[place(a, b, c)] * 3; }));
    auto const natural = shaped(y.data(), e(0), e(1), e(2));
    auto const beside = from(permuted, natural) | map(_1 - _2, cast<i64>(_1) + index_along<1> * 1000 + index_along<2>) | collect;
    auto const [differences, positions] = run(beside, on::cpu);
    CHECK(is_made_of(differences, {e(0), e(1), e(2)}, [&](i64 a, i64 b, i64 c) { return x[place(a, b, c)] - y[std::size_t((a * e(1) + b) * e(2) + c)]; }));
    CHECK(is_made_of(positions, {e(0), e(1), e(2)}, [&](i64 a, i64 b, i64 c) { return i64(x[place(a, b, c)]) + b * 1000 + c; }));
  }
  i64 const rows = 200, n = 100;
  auto const reversed = run(from(shaped(x.data() + rows - 1, {rows, n}, {-1, rows})) | collect, on::cpu);
  CHECK(is_made_of(reversed, {1, rows, n}, [&](i64, i64 r, i64 c) { return x[std::size_t(c * rows + rows - 1 - r)]; }));
  auto const of_row = numbers_of<int>(rows);
  auto const source = from(shaped(x.data(), {rows, n}, {1, rows}), along<0>(of_row));
  CHECK(is_made_of(run(source | map(_1 * _2) | collect, on::cpu), {1, rows, n}, [&](i64, i64 r, i64 c) { return x[std::size_t(c * rows + r)] * of_row[std::size_t(r)]; }));
  auto const plain = from(shaped(x.data(), {rows, n}, {1, rows}));
  auto const largest = run(plain | over<1>(max), on::cpu);
  CHECK(is_made_of(run(plain | map(_1 - let(plain | over<1>(max))) | collect, on::cpu), {1, rows, n},
                   [&](i64, i64 r, i64 c) { return x[std::size_t(c * rows + r)] - largest[std::size_t(r)]; }));
}
