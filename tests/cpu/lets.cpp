// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows beside earlier answers, and what is written behind them: the bits of every row alone, and of every element alone, however long rows
// are and however they lie.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <random>
#include <vector>

using namespace tally;

namespace {

constexpr i64 lengths[] = {1, 2, 3, 7, 8, 10, 15, 16, 17, 31, 33, 100, 128, 129, 1000, 1024, 1025, 5000, 16384, 16385, 20001};

template <class T>
std::vector<T> numbers(i64 n) {
  std::mt19937 random(6);
  std::vector<T> x(static_cast<std::size_t>(n));
  for (T& v : x) v = static_cast<T>(int(random() % 4001) - 2000) / T(300);
  return x;
}
template <class T>
bool same_bits(T const& a, T const& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

/// Rows of n, `step` apart: folds beside the greatest of the row, of the column and of all are those of the row alone.
template <class T>
void rows_beside_answers(i64 rows, i64 n, i64 step) {
  CAPTURE(rows);
  CAPTURE(n);
  CAPTURE(step);
  auto const x = numbers<T>(rows * step);
  auto const source = from(shaped(x.data(), {rows, n}, {step, 1}));
  auto const of_row = source | over<1>(max);
  auto const of_column = source | over<0>(max);
  auto const greatest = run(of_row, on::cpu), columns = run(of_column, on::cpu);
  auto const sums = run(source | over<1>(sum(exp(_1 - let(of_row)))), on::cpu);
  auto const several = run(source | map(_1 - let(of_row)) | over<1>(min, mean(squared(_1)), argmax(_1 * _1)), on::cpu);
  auto const moving = run(source | over<1>(sum(_1 / (let(of_column) + T(9)))), on::cpu);
  auto const masked = run(source | filter(_1 > let(of_row) - T(2)) | over<1>(sum(_1 - let(of_row)), count), on::cpu);
  bool same = true;
  for (i64 r = 0; r < rows; ++r) {
    T const m = greatest(r);
    auto const row = from(std::span<T const>(x.data() + r * step, static_cast<std::size_t>(n)));
    same = same && same_bits(sums(r), run(row | sum(exp(_1 - m)), on::cpu));
    auto const alone = run(row | map(_1 - m) | reduce(min, mean(squared(_1)), argmax(_1 * _1)), on::cpu);
    same = same && same_bits(std::get<0>(several)(r), std::get<0>(alone)) && same_bits(std::get<1>(several)(r), std::get<1>(alone)) &&
           std::get<2>(several)(r) == std::get<2>(alone);
    same = same && same_bits(moving(r), run(from(std::span<T const>(x.data() + r * step, static_cast<std::size_t>(n)), columns) | sum(_1 / (_2 + T(9))), on::cpu));
    auto const passed = run(row | filter(_1 > m - T(2)) | reduce(sum(_1 - m), count), on::cpu);
    same = same && same_bits(std::get<0>(masked)(r), std::get<0>(passed)) && std::get<1>(masked)(r) == std::get<1>(passed);
  }
  CHECK(same);
}

/// Elements of the same rows, also where they were read.
template <class T>
void elements_beside_answers(i64 rows, i64 n) {
  CAPTURE(rows);
  CAPTURE(n);
  auto x = numbers<T>(rows * n);
  x[x.size() / 2] = std::numeric_limits<T>::quiet_NaN();
  auto const source = from(shaped(x.data(), rows, n));
  auto const of_row = source | over<1>(max.ignoring_nan());
  auto const of_column = source | over<0>(max.ignoring_nan());
  auto const greatest = run(of_row, on::cpu), columns = run(of_column, on::cpu);
  auto const written = run(source | map(exp(_1 - let(of_row)) / (let(of_column) + T(9)), cast<i64>(tally::index) * 3, cast<float>(_1)) | collect, on::cpu);
  auto const f = exp(_1 - _2) / (_3 + T(9));
  bool same = true;
  for (i64 r = 0; r < rows; ++r)
    for (i64 e = 0; e < n; ++e) {
      T const v = x[static_cast<std::size_t>(r * n + e)];
      same = same && same_bits(std::get<0>(written)(r, e), v == v ? f(v, greatest(r), columns(e)) : std::numeric_limits<T>::quiet_NaN()) &&
             std::get<1>(written)(r, e) == 3 * (r * n + e) && same_bits(std::get<2>(written)(r, e), v == v ? static_cast<float>(v) : std::numeric_limits<float>::quiet_NaN());
    }
  auto const expected = run(source | map(exp(_1 - let(of_row)) + T(1)) | collect, on::cpu);
  run_into(source | map(exp(_1 - let(of_row)) + T(1)) | collect, x.data(), on::cpu);
  CHECK(std::memcmp(x.data(), expected.data(), x.size() * sizeof(T)) == 0);
  CHECK(same);
}

} // namespace

TEST_CASE("rows beside answers have the bits of each alone, whatever their length and lie") {
  for (i64 const n : lengths)
    for (i64 const rows : {3, 19}) {
      rows_beside_answers<float>(rows, n, n);
      rows_beside_answers<float>(rows, n, n + 5);
    }
  for (i64 const n : {1, 9, 40, 1025, 9000}) rows_beside_answers<double>(20, n, n);
}

TEST_CASE("elements beside answers are those of each alone, also where they were read") {
  for (i64 const n : lengths)
    for (i64 const rows : {1, 3, 19}) elements_beside_answers<float>(rows, n);
  for (i64 const n : {1, 9, 40, 1025, 9000}) elements_beside_answers<double>(20, n);
}

TEST_CASE("a host function is called once an element, in their order, whatever is written beside answers") {
  for (i64 const n : {5, 16, 37, 130}) {
    auto const x = numbers<float>(11 * n);
    auto const source = from(shaped(x, 11, n));
    std::vector<float> seen;
    auto const noted = run(source | map([&](float v) { return seen.push_back(v), v; }) | collect, on::cpu.threads(1));
    CHECK(seen == x);
    CHECK(noted.size() == x.size());
  }
}
