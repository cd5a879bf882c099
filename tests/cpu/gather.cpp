// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds of whole sources whose columns have axes of their own, on the CPU: the bits of the same elements written out one after the other.
#include "gpu/same_arrays.hpp"

#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

using namespace tally;

namespace {

struct shape {
  i64 extents[3];
  i64 elements() const { return extents[0] * extents[1] * extents[2]; }
};
constexpr shape shapes[] = {{{1, 1, 1}},    {{1, 1, 5000}}, {{5000, 1, 1}}, {{7, 1, 3}},     {{1000, 7, 3}},  {{3, 5, 1000}}, {{2, 3, 1024}},
                            {{4, 130, 129}}, {{1, 300, 700}}, {{90000, 1, 2}}, {{1, 2, 70001}}, {{20, 100, 64}}, {{3, 1, 65536}}, {{257, 33, 31}}};

std::vector<float> numbers(i64 n) {
  std::vector<float> x(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = float(std::sin(double(i) * 1.7) * 100) + float(i % 13);
  return x;
}

/// The elements of an operand with these strides, row by row.
std::vector<float> written_out(float const* x, shape const& s, i64 const (&strides)[3]) {
  std::vector<float> out;
  for (i64 i = 0; i < s.extents[0]; ++i)
    for (i64 j = 0; j < s.extents[1]; ++j)
      for (i64 k = 0; k < s.extents[2]; ++k) out.push_back(x[i * strides[0] + j * strides[1] + k * strides[2]]);
  return out;
}

template <class R, class Written>
void same_as_written(R const& r, Written const& written) {
  CAPTURE(text_of(r));
  auto const expected = run(written, on::cpu);
  CHECK(same_arrays(expected, run(r, on::cpu)));
  CHECK(same_arrays(expected, run(r, on::cpu.threads(1))));
  CHECK(same_arrays(run(written, on::cpu, exact), run(r, on::cpu, exact)));
}

} // namespace

TEST_CASE("columns with axes, of every shape and every stride, are folded as if they were written out") {
  for (auto const& s : shapes) {
    i64 const n = s.elements(), e0 = s.extents[0], e1 = s.extents[1], e2 = s.extents[2];
    CAPTURE(e0);
    CAPTURE(e1);
    CAPTURE(e2);
    auto const x = numbers(2 * n + 8);
    i64 const strides[][3] = {{e1 * e2, e2, 1}, {0, 0, 1}, {0, 1, 0}, {1, 0, 0}, {0, 0, 0}, {0, e2, 1}, {e2, 0, 1}, {1, e0, e0 * e1}, {2 * e1 * e2, 2 * e2, 2}, {-e1 * e2, -e2, -1}};
    auto const whole = shaped(x.data(), e0, e1, e2);
    auto const plain = std::vector<float>(x.begin(), x.begin() + n);
    for (auto const& step : strides) {
      float const* const first = x.data() + (step[2] < 0 ? n - 1 : 0);
      auto const operand = shaped(first, {e0, e1, e2}, {step[0], step[1], step[2]});
      auto const written = written_out(first, s, step);
      same_as_written(from(whole, operand) | reduce(sum(_1 * _2), max(_1 - _2), argmin(_2)), from(plain, written) | reduce(sum(_1 * _2), max(_1 - _2), argmin(_2)));
      same_as_written(from(operand) | filter(_1 > 0.f) | reduce(mean, variance, count), from(written) | filter(_1 > 0.f) | reduce(mean, variance, count));
    }
  }
}

TEST_CASE("small floats, bytes and doubles with axes, and segments of them that begin anywhere") {
  i64 const rows = 700, width = 333;
  auto const x = numbers(rows * width);
  std::vector<bf16> const small(x.begin(), x.begin() + width);
  std::vector<u8> bytes;
  for (i64 i = 0; i < rows; ++i) bytes.push_back(u8(i * 7));
  std::vector<double> const wide(x.begin(), x.begin() + width);
  auto const all = from(shaped(x, rows, width), along<1>(small), along<0>(bytes), along<1>(wide));
  std::vector<bf16> small_out;
  std::vector<u8> bytes_out;
  std::vector<double> wide_out;
  for (i64 i = 0; i < rows * width; ++i) {
    small_out.push_back(small[std::size_t(i % width)]);
    bytes_out.push_back(bytes[std::size_t(i / width)]);
    wide_out.push_back(wide[std::size_t(i % width)]);
  }
  auto const folds = reduce(sum(_1 * cast<float>(_2)), sum(_3), max(_4 - cast<double>(_1)), variance(_4));
  same_as_written(all | folds, from(x, small_out, bytes_out, wide_out) | folds);
  std::vector<i64> const offsets{3, 4, 50, 50, 3000, 3001, 60000, rows * width / 2};
  auto const of_segments = by_segment(offsets, sum(_1), argmax(_1));
  auto const every_other = shaped(x.data() + 1, {rows * width / 2}, {2});
  std::vector<float> other_out;
  for (i64 i = 1; i < rows * width; i += 2) other_out.push_back(x[std::size_t(i)]);
  CHECK(same_arrays(run(from(other_out) | reduce(of_segments), on::cpu), run(from(every_other) | reduce(of_segments), on::cpu)));
}
