// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verb from: what is read.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <array>
#include <deque>
#include <numeric>
#include <span>
#include <vector>

using namespace tally;

TEST_CASE("from(x) reads the elements of x, and sum adds them up") {
  std::vector<float> const x{1, 2, 3, 4};
  CHECK(run(from(x) | reduce(sum)) == 10.f);
}

TEST_CASE("a range on the left of | is a source by itself") {
  std::vector<float> const x{1, 2, 3, 4};
  CHECK(run(x | sum) == 10.f);
  CHECK(run(std::span(x).subspan(1) | sum) == 9.f);
}

TEST_CASE("several columns are read side by side: _1 is an element of the first, _2 of the second") {
  std::vector<float> const price{2, 3, 5};
  std::vector<int> const quantity{10, 0, 1};
  CHECK(run(from(price, quantity) | reduce(sum(_1 * _2))) == 25.f);
  CHECK(run(from(quantity, price) | reduce(sum(_1 * _2))) == 25.f);
}

TEST_CASE("a row may have as many as eight columns") {
  std::vector<int> const x{1, 2};
  CHECK(run(from(x, x, x, x, x, x, x, x) | reduce(sum(_1 + _2 + _3 + _4 + _5 + _6 + _7 + _8))) == 24);
}

TEST_CASE("arrays, spans, deques and the bits of std::vector<bool> are columns") {
  int const plain[] = {1, 2, 3};
  std::array<int, 3> const array{1, 2, 3};
  std::deque<int> const deque{1, 2, 3};
  std::vector<bool> const bits{true, false, true};
  CHECK(run(from(plain) | sum) == 6);
  CHECK(run(from(array) | sum) == 6);
  CHECK(run(from(std::span(array)) | sum) == 6);
  CHECK(run(from(deque) | sum) == 6);
  CHECK(run(from(bits) | reduce(sum)) == 2);
  CHECK(run(from(deque, bits) | reduce(sum(_1).where(_2))) == 4);
}

TEST_CASE("elements are read when the pipeline runs, not when it is written") {
  std::vector<int> x{1, 2, 3};
  auto const total = from(x) | reduce(sum);
  CHECK(run(total) == 6);
  x[0] = 100;
  CHECK(run(total) == 105);
}

TEST_CASE("iota(n) is a column of the positions 0 to n - 1 that is never stored") {
  CHECK(run(from(iota(1001)) | sum) == 500500);
  CHECK(run(from(iota(0.f, 4, 0.5f)) | sum) == 3.f);
  CHECK(run(from(iota(10, 3, -4)) | reduce(first, last)) == std::tuple(10, 2));
}

TEST_CASE("iota(start, n, step) takes the type of its start, whatever that of its step") {
  i64 const n = 10;
  auto const [front, back] = run(from(iota(n - 1, n, -1)) | reduce(first, last));
  CHECK(front == 9);
  CHECK(back == 0);
  CHECK(run(from(iota(0.5, 3, 2)) | sum) == 7.5);
}

TEST_CASE("every(pointer, n, stride) takes every stride-th element, backwards when it is negative") {
  std::vector<int> x(100);
  std::iota(x.begin(), x.end(), 0);
  CHECK(run(from(every(x.data(), 10, 10)) | sum) == 450);
  CHECK(run(from(every(x.data() + 99, 100, -1)) | reduce(first, last)) == std::tuple(99, 0));
  CHECK(run(from(every(x.data(), 50, 2), every(x.data() + 1, 50, 2)) | reduce(sum(_2 - _1))) == 50);
}

TEST_CASE("device(pointer, n) names memory by its address, and the driver knows whose it is") {
  std::vector<int> const x{1, 2, 3};
  CHECK(run(from(device(x.data(), 2)) | sum) == 3);
}

TEST_CASE_TEMPLATE("a column may be of any number type, which decides in what it is summed", T, i8, i16, i32, i64) {
  std::vector<T> const x(1000, T(60));
  static_assert(std::is_same_v<decltype(run(from(x) | sum)), i64>);
  CHECK(run(from(x) | sum) == 60000);
}
TEST_CASE_TEMPLATE("unsigned integers and bool are summed in u64", T, u8, u16, u32, u64, bool) {
  std::vector<T> const x(1000, T(1));
  static_assert(std::is_same_v<decltype(run(from(x) | sum)), u64>);
  CHECK(run(from(x) | sum) == 1000);
}
TEST_CASE_TEMPLATE("small floats are summed in f32", T, f16, bf16, f32) {
  std::vector<T> const x(4096, T(1.f)); // f16 itself would stop at 2048, bf16 at 256
  static_assert(std::is_same_v<decltype(run(from(x) | sum)), float>);
  CHECK(run(from(x) | sum) == 4096.f);
}

TEST_CASE("a struct of the user's own is an element too") {
  struct stamped {
    i64 time;
    float value;
  };
  std::vector<stamped> const x{{1, 2.f}, {2, 3.f}};
  auto const [n, earliest, latest] = run(from(x) | reduce(count, first, last));
  CHECK(n == 2);
  CHECK(earliest.time == 1);
  CHECK(latest.value == 3.f);
}

TEST_CASE("columns of different lengths are an error that names both") {
  std::vector<float> const x(3), y(4);
  CHECK_THROWS_WITH_AS(run(from(x, y) | reduce(sum(_1 * _2))),
                       "[tally-E2] column _2 has 4 elements, column _1 has 3. docs/errors.md#E2", extent_mismatch);
}
