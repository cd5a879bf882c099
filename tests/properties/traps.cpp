// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where reductions along axes go wrong in silence, one test each: ragged tails, masks, extents 0 and 1, strides that run
// backwards, extents around 2^31, positions. Test layer.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

namespace {

using namespace tally::v0;

template <class T, int R>
std::vector<T> values(mdarray<T, R> const& a) {
  return {a.begin(), a.end()};
}
/// Numbers that are not 0 and not alike.
std::vector<i32> numbers(i64 n) {
  std::vector<i32> x(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<i32>((i * 2654435761u) % 1000003) - 400000;
  return x;
}
std::vector<i64> extents_at_borders() {
  std::vector<i64> n;
  for (i64 k = 1; k <= 300; ++k)
    n.push_back(k);
  for (i64 const border : {512, 1024, 2048, 4096, 65536})
    for (i64 const by : {-17, -1, 0, 1, 5})
      n.push_back(border + by);
  return n;
}

} // namespace

TEST_CASE("ragged tails: rows and columns of every extent around lanes, rows, leaves and tiles") {
  auto const x = numbers(5 * (65536 + 5));
  for (i64 const n : extents_at_borders()) {
    CAPTURE(n);
    i64 total[5]{}, of_columns[5]{};
    for (i64 r = 0; r < 5; ++r)
      for (i64 i = 0; i < n; ++i) {
        total[r] += x[static_cast<std::size_t>(r * n + i)];
        of_columns[r] += x[static_cast<std::size_t>(i * 5 + r)];
      }
    auto const rows = run(from(shaped(x.data(), i64(5), n)) | over<1>(sum), on::cpu);
    auto const columns = run(from(shaped(x.data(), n, i64(5))) | over<0>(sum), on::cpu);
    CHECK(values(rows) == std::vector<i64>(total, total + 5));
    CHECK(values(columns) == std::vector<i64>(of_columns, of_columns + 5));
  }
}

TEST_CASE("masks with an identity that is not zero: what is held back is no 0 for min, product, all and bit_and") {
  for (i64 const n : {1, 15, 16, 17, 127, 1023, 1024, 1025, 3000}) {
    CAPTURE(n);
    std::vector<i32> x(static_cast<std::size_t>(3 * n), 7);
    for (std::size_t i = 0; i < x.size(); i += 2)
      x[i] = -5; // held back
    auto const pipe = from(shaped(x, i64(3), n)) | filter(_1 > 0);
    auto const [least, every_one, bits, multiplied] = run(pipe | over<1>(min, all(_1 == 7), bit_and, product(_1 - 6)), on::cpu);
    auto const [of_columns, greatest] = run(from(shaped(x, n, i64(3))) | filter(_1 < 0) | over<0>(product(_1 + 6), max), on::cpu);
    for (std::size_t r = 0; r < 3; ++r) {
      bool const any_came = n > 1 || r % 2 == 1;
      CHECK(least[r] == (any_came ? 7 : std::numeric_limits<i32>::max()));
      CHECK(every_one[r]);
      CHECK(bits[r] == (any_came ? 7 : -1));
      CHECK(multiplied[r] == 1);
      CHECK(of_columns[r] == 1);
      CHECK(greatest[r] == (n > 1 || r % 2 == 0 ? -5 : std::numeric_limits<i32>::lowest()));
    }
  }
}

TEST_CASE("extents 0 and 1, in every place") {
  auto const x = numbers(64);
  for (int where = 0; where < 27; ++where) {
    i64 const extents[3] = {where % 3, where / 3 % 3, where / 9}, strides[3] = {1, 3, 9};
    CAPTURE(where);
    auto const source = from(shaped(x.data(), extents, strides));
    auto const [outer, middle, ends, n] = run(source | reduce(over<0>(sum, min), over<1>(count), over<0, 2>(sum, max), count), on::cpu);
    CHECK(n == extents[0] * extents[1] * extents[2]);
    CHECK(std::get<0>(outer).size() == static_cast<std::size_t>(extents[1] * extents[2]));
    CHECK(std::get<1>(ends).size() == static_cast<std::size_t>(extents[1]));
    for (i64 const c : values(middle))
      CHECK(c == extents[1]);
    for (i64 b = 0; b < extents[1]; ++b) {
      i64 total = 0;
      for (i64 a = 0; a < extents[0]; ++a)
        for (i64 c = 0; c < extents[2]; ++c)
          total += x[static_cast<std::size_t>(a + 3 * b + 9 * c)];
      CHECK(std::get<0>(ends)(b) == total);
      if (extents[0] * extents[2] == 0)
        CHECK(std::get<1>(ends)(b) == std::numeric_limits<i32>::lowest());
    }
    for (i64 k = 0; k < extents[1] * extents[2]; ++k)
      if (extents[0] == 0)
        CHECK(std::get<1>(outer)[static_cast<std::size_t>(k)] == std::numeric_limits<i32>::max());
  }
}

TEST_CASE("strides that run backwards: rows, columns, both, and positions that still count forwards") {
  i64 const rows = 37, columns = 1100;
  auto const x = numbers(rows * columns);
  for (int signs = 0; signs < 4; ++signs) {
    CAPTURE(signs);
    i64 const down = (signs & 1) != 0 ? -columns : columns, across = (signs & 2) != 0 ? -1 : 1;
    i64 const start = (down < 0 ? (rows - 1) * columns : 0) + (across < 0 ? columns - 1 : 0);
    auto const at = [&](i64 r, i64 c) { return x[static_cast<std::size_t>(start + r * down + c * across)]; };
    auto const [by_row, by_column] =
        run(from(shaped(x.data() + start, {rows, columns}, {down, across})) | reduce(over<1>(sum, first, argmax), over<0>(sum, last, argmin)), on::cpu);
    for (i64 r = 0; r < rows; ++r) {
      i64 total = 0, greatest = 0;
      for (i64 c = 0; c < columns; ++c) {
        total += at(r, c);
        greatest = at(r, c) > at(r, greatest) ? c : greatest;
      }
      CHECK(std::get<0>(by_row)(r) == total);
      CHECK(std::get<1>(by_row)(r) == at(r, 0));
      CHECK(std::get<2>(by_row)(r) == greatest);
    }
    for (i64 c = 0; c < columns; ++c) {
      i64 total = 0, least = 0;
      for (i64 r = 0; r < rows; ++r) {
        total += at(r, c);
        least = at(r, c) < at(least, c) ? r : least;
      }
      CHECK(std::get<0>(by_column)(c) == total);
      CHECK(std::get<1>(by_column)(c) == at(rows - 1, c));
      CHECK(std::get<2>(by_column)(c) == least);
    }
  }
}

TEST_CASE("extents around 2^31 and multiples of 2^31 - 1: every element is met once, and positions do not wrap") {
  i64 const border = i64(1) << 31;
  for (i64 const n : {border + 1, 2 * (border - 1)}) {
    CAPTURE(n);
    i64 const middle = n / 2, extents[] = {3, n}; // three groups, one of which is looked at
    CHECK(run(from(shaped(iota(3 * n), i64(3), n)) | over<1>(count), on::cpu)[2] == n);
    CHECK(extent_along(from(shaped(iota(3 * n), i64(3), n)).source, 1) == extents[1]);
    CHECK(run(from(shaped(iota(n), n, i64(1))) | filter(_1 > middle) | over<0>(count), on::cpu)[0] == n - 1 - middle);
  }
}

TEST_CASE("many short groups around 2^16 x 2^15 elements: groups of a broadcast operand") {
  u8 const one = 1;
  i64 const groups = 65537, n = 32767; // 2^31 + 2^15 - 65536 - 1 elements
  i64 const extents[] = {groups, n}, stays[] = {0, 0};
  auto const sums = run(from(shaped(&one, extents, stays)) | over<1>(sum), on::cpu);
  for (i64 const s : sums)
    REQUIRE(s == n);
}

TEST_CASE("index is the position in the source, argmin the position in the group") {
  i64 const a = 3, b = 1200, c = 5;
  auto const x = numbers(a * b * c);
  auto const [positions, places] = run(from(shaped(x, a, b, c)) | reduce(over<1>(min(tally::index), max(tally::index), sum(tally::index)), over<0, 2>(argmax(tally::index), first(tally::index))), on::cpu);
  for (i64 i = 0; i < a; ++i)
    for (i64 k = 0; k < c; ++k) {
      CHECK(std::get<0>(positions)(i, k) == i * b * c + k);
      CHECK(std::get<1>(positions)(i, k) == i * b * c + (b - 1) * c + k);
      CHECK(std::get<2>(positions)(i, k) == b * (i * b * c + k) + c * (b * (b - 1) / 2));
    }
  for (i64 j = 0; j < b; ++j) {
    CHECK(std::get<0>(places)(j) == a * c - 1);
    CHECK(std::get<1>(places)(j) == j * c);
  }
}

TEST_CASE("offsets that fall are refused and name themselves, whatever is folded beside them") {
  auto const x = numbers(100);
  std::vector<int> const falling{0, 40, 30, 100}, beyond{0, 50, 101}, negative{-1, 50};
  for (auto const& offsets : {falling, beyond, negative})
    CHECK_THROWS_AS(run(from(x) | reduce(sum, by_segment(offsets, sum), over<0>(max)), on::cpu), bad_offsets);
}
