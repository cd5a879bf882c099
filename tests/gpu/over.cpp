// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups along axes on a GPU: bit for bit the answers of the CPU, whatever the shape, the strides and the folds.
#include "gpu/on_device.hpp"
#include "gpu/same_on_both.hpp"

#include <tally/tally.hpp>

using namespace tally;

namespace over_on_gpu {
/// x -> times x + plus, modulo 2^32: composition is associative, has an identity and does not commute.
TALLY_STRUCT(affine, { unsigned times, plus; });
TALLY_FUNCTION(then, (affine a, affine b), { return affine{a.times * b.times, b.times * a.plus + b.plus}; });
TALLY_FUNCTION(affine_of, (unsigned x), { return affine{2 * x + 1, x ^ 0x9e3779b9u}; });
TALLY_FUNCTION(bits_of, (affine a), { return a.plus ^ (a.times << 7); });
} // namespace over_on_gpu

namespace {

struct shape {
  i64 outer, middle, inner;
};
constexpr shape shapes[] = {{1, 1, 1},      {1, 5, 1},       {3, 1, 7},       {2, 31, 33},    {5, 128, 3},     {1, 129, 4},    {2, 1024, 8},
                            {1, 1025, 33},  {3, 1023, 64},   {1, 5000, 260},  {4000, 3, 5},   {1, 70001, 4},   {1, 300000, 1}, {1, 8, 100000},
                            {33, 2049, 12}, {1, 2048, 1024}, {1024, 64, 16},  {7, 4096, 128}, {1, 200000, 33}, {65537, 2, 1},   {16, 5, 128},    {4, 3, 1024},
                            {8, 2, 128},    {1, 3, 40000},   {2, 1, 600000}, {1, 2, 16387},   {3, 2, 17000}};

} // namespace

TEST_CASE("sums, extremes and positions along every axis set of arrays of every shape") {
  if (no_kernels()) return;
  for (auto const& s : shapes) {
    CAPTURE(s.outer);
    CAPTURE(s.middle);
    CAPTURE(s.inner);
    auto const x = uneven_numbers<float>(std::size_t(s.outer * s.middle * s.inner));
    auto const whole = shaped(x, s.outer, s.middle, s.inner);
    same_on_both(from(whole) | over<0>(sum, max, argmin));
    same_on_both(from(whole) | over<1>(sum, max, argmin));
    same_on_both(from(whole) | over<2>(sum, max, argmin));
    same_on_both(from(whole) | over<0, 1>(sum, max, argmin));
    same_on_both(from(whole) | over<0, 2>(sum, max, argmin));
    same_on_both(from(whole) | over<1, 2>(sum, max, argmin));
    same_on_both(from(whole) | reduce(over<0, 1, 2>(sum), over<1>(mean), sum));
  }
}

TEST_CASE("sums of rows of many leaves, whose last has one element, some or all") {
  if (no_kernels()) return;
  for (i64 row : {1025, 2049, 5001, 16383, 16385, 16387, 17500, 20000, 28001, 31745, 32767, 32768, 65537}) {
    CAPTURE(row);
    auto const x = uneven_numbers<float>(std::size_t(9 * row));
    std::vector<bf16> b(x.size());
    for (std::size_t i = 0; i < x.size(); ++i)
      b[i] = bf16(x[i]);
    same_on_both(from(shaped(x, 9, row)) | over<1>(sum));
    same_on_both(from(shaped(b, 9, row)) | over<1>(sum));
    same_on_both(from(shaped(b, 9, row)) | filter(_1 > bf16(0.f)) | over<1>(max));
  }
}

TEST_CASE("outer and inner axes folded away, the inner one of every length") {
  if (no_kernels()) return;
  auto const ordered = fold_of(over_on_gpu::affine{1, 0}, over_on_gpu::then, over_on_gpu::affine_of, over_on_gpu::bits_of, associative);
  for (i64 const run : {8, 9, 12, 16, 31, 33, 49, 64, 100, 127, 130, 196, 200, 784, 1001, 3136}) {
    CAPTURE(run);
    for (i64 const outer : {300 / run + 1, 1024 / run + 1, 9000 / run + 3, 120000 / run + 1}) {
      CAPTURE(outer);
      auto const x = uneven_numbers<float>(std::size_t(outer * 5 * run + outer));
      std::vector<bf16> b(x.size());
      for (std::size_t i = 0; i < x.size(); ++i)
        b[i] = bf16(x[i]);
      auto const bits = uneven_numbers<unsigned>(x.size());
      auto const whole = shaped(x.data(), outer, 5, run);
      auto const small = shaped(b.data(), outer, 5, run);
      same_on_both(from(whole) | over<0, 2>(sum, argmax));
      same_on_both(from(small) | over<0, 2>(mean, variance));
      same_on_both(from(small, whole) | filter(_2 > 0.f) | over<0, 2>(sum(_1 * _2), count, sum(_1 * cast<float>(tally::index))));
      auto const of_outer = shaped(x.data(), {outer, i64(5), run}, {1, 0, 0}); // the same all along a run
      same_on_both(from(whole, of_outer) | over<0, 2>(sum(_1 * _2)));
      same_on_both(from(shaped(bits.data(), outer, 5, run)) | over<0, 2>(ordered));
    }
  }
}

TEST_CASE("rows whose warps go on from leaf to leaf, each at another address") {
  if (no_kernels()) return;
  struct rows {
    i64 count, length;
  };
  for (auto const& r : {rows{1700, 17000}, rows{1700, 40001}, rows{800, 70003}, rows{5, 300001}, rows{200, 530001}}) {
    CAPTURE(r.count);
    CAPTURE(r.length);
    auto const x = uneven_numbers<float>(std::size_t(r.count + r.length));
    std::vector<bf16> b(x.size());
    for (std::size_t i = 0; i < x.size(); ++i)
      b[i] = bf16(x[i]);
    same_on_both(from(shaped(x.data(), {r.count, r.length}, {1, 1})) | over<1>(sum));
    same_on_both(from(shaped(b.data(), {r.count, r.length}, {1, 1})) | over<1>(sum));
    same_on_both(from(shaped(x.data(), {r.count, r.length}, {1, 1})) | over<1>(variance, argmin));
  }
}

TEST_CASE("odd rows in aligned pieces: places, orders, several columns, integers") {
  if (no_kernels()) return;
  auto const ordered = fold_of(over_on_gpu::affine{1, 0}, over_on_gpu::then, over_on_gpu::affine_of, over_on_gpu::bits_of, associative);
  for (i64 n : {257, 300, 511, 769, 1023, 1025, 2047, 2049, 3001, 5001, 40001}) {
    CAPTURE(n);
    i64 const rows = 37;
    auto const x = uneven_numbers<float>(std::size_t(rows * n));
    std::vector<bf16> b(x.size()), c(x.size());
    std::vector<i16> small(x.size());
    for (std::size_t i = 0; i < x.size(); ++i)
      b[i] = bf16(x[i]), c[i] = bf16(float(i % 61) - 30.f), small[i] = i16(i * 37 + i / 251);
    auto const source = from(shaped(b, rows, n));
    same_on_both(source | over<1>(argmax, first, last, count_if(_1 > bf16(0.f))));
    same_on_both(source | over<1>(variance, sum(cast<float>(tally::index) * cast<float>(_1))));
    same_on_both(from(shaped(b, rows, n), shaped(c, rows, n)) | over<1>(sum(cast<float>(_1) * cast<float>(_2)), argmin(_2)));
    same_on_both(from(shaped(small, rows, n)) | over<1>(sum, argmax));
    same_on_both(from(shaped(small, rows, n)) | map(cast<unsigned>(_1)) | over<1>(ordered, sum));
    on_device const on(b); // begins at every address, and ends where the memory does
    for (i64 skip : {1, 2, 3, 7})
      CHECK(same_arrays(run(from(shaped(b.data() + skip, {rows - 1, n}, {n, 1})) | over<1>(sum), on::cpu),
                        run(from(shaped(on.data() + skip, {rows - 1, n}, {n, 1})) | over<1>(sum))));
  }
}

TEST_CASE("sums of columns whose loads are narrow") {
  if (no_kernels()) return;
  for (i64 columns : {4, 7, 16, 33, 50, 100, 250, 1001}) {
    CAPTURE(columns);
    auto const x = uneven_numbers<float>(std::size_t(3 * 2500 * columns));
    std::vector<bf16> b(x.size());
    for (std::size_t i = 0; i < x.size(); ++i)
      b[i] = bf16(x[i]);
    same_on_both(from(shaped(x, 3, 2500, columns)) | over<1>(sum));
    same_on_both(from(shaped(b, 3, 2500, columns)) | over<1>(sum));
    same_on_both(from(shaped(b.data(), 7, 1000, columns)) | over<1>(sum));
  }
}

TEST_CASE("columns in stripes: of rows that begin anywhere, whose last strips fold some groups again") {
  if (no_kernels()) return;
  std::vector<unsigned char> bytes(3 * 1500 * 1021 + 16);
  std::vector<bf16> halves(bytes.size());
  std::vector<float> floats = uneven_numbers<float>(bytes.size());
  std::vector<double> doubles(bytes.size());
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<unsigned char>(i * 37 % 251), halves[i] = bf16(floats[i]), doubles[i] = double(floats[i]) * 1.000001;
  struct matrix {
    i64 rows, columns;
  };
  for (matrix const& of : {matrix{700, 128}, {7, 129}, {1500, 191}, {127, 255}, {2, 257}, {700, 382}, {1500, 510}, {1, 383}, {1500, 1021}}) {
    i64 const rows = of.rows, columns = of.columns;
    CAPTURE(columns);
    CAPTURE(rows);
    auto const weights = along<0>(shaped(floats.data(), rows));
    same_on_both(from(shaped(bytes.data() + 1, 2, rows, columns)) | over<1>(sum, max));
    same_on_both(from(shaped(halves.data(), 3, rows, columns)) | over<1>(sum));
    same_on_both(from(shaped(floats.data() + 1, 2, rows, columns)) | over<1>(sum(_1 * _1), count));
    same_on_both(from(shaped(doubles.data(), rows, columns)) | filter(_1 > 0.0) | over<0>(argmax, mean));
    same_on_both(from(shaped(floats.data(), rows, columns)) | over<0>(sum), exact);
    same_on_both(from(shaped(halves.data() + 1, rows, columns), along<1>(shaped(floats.data(), columns)), weights) | over<0>(sum(_1 * _2 * _3)));
  }
  // enough groups and leaves that blocks share them
  same_on_both(from(shaped(halves.data(), 14000, 255)) | over<0>(sum, argmin));
  same_on_both(from(shaped(floats.data(), 14000, 255)) | over<0>(sum, mean), exact);
}

TEST_CASE("states of many words, masks, and folds that do not commute") {
  if (no_kernels()) return;
  for (auto const& s : shapes) {
    CAPTURE(s.outer);
    CAPTURE(s.middle);
    CAPTURE(s.inner);
    auto const x = uneven_numbers<double>(std::size_t(s.outer * s.middle * s.inner));
    auto const whole = shaped(x, s.outer, s.middle, s.inner);
    same_on_both(from(whole) | filter(_1 > 0.0) | reduce(over<1>(variance, min.or_else(-1.0), count), over<2>(mean, minmax)));
    std::vector<unsigned> n(x.size());
    for (std::size_t i = 0; i < n.size(); ++i)
      n[i] = unsigned(i * 2654435761u);
    auto const ordered = fold_of(over_on_gpu::affine{1, 0}, over_on_gpu::then, over_on_gpu::affine_of, over_on_gpu::bits_of, associative);
    same_on_both(from(shaped(n, s.outer, s.middle, s.inner)) | reduce(over<1>(ordered), over<2>(ordered, sum), over<0>(ordered)));
  }
}

TEST_CASE("half precision, bytes and complex numbers") {
  if (no_kernels()) return;
  for (auto const& s : shapes) {
    CAPTURE(s.outer);
    CAPTURE(s.middle);
    CAPTURE(s.inner);
    auto const f = uneven_numbers<float>(std::size_t(s.outer * s.middle * s.inner));
    std::vector<bf16> b(f.size());
    std::vector<i8> c(f.size());
    for (std::size_t i = 0; i < f.size(); ++i)
      b[i] = bf16(f[i]), c[i] = i8(i * 37);
    same_on_both(from(shaped(b, s.outer, s.middle, s.inner)) | reduce(over<1>(sum, max), over<2>(sum), over<0>(mean)));
    same_on_both(from(shaped(c, s.outer, s.middle, s.inner)) | reduce(over<1>(sum, max), over<2>(sum, bit_xor), over<0>(mean)));
  }
}

TEST_CASE("strided, reversed and broadcast operands, several at once") {
  if (no_kernels()) return;
  auto const x = uneven_numbers<float>(300 * 200);
  auto const y = uneven_numbers<float>(300 * 200 + 7);
  auto const w = uneven_numbers<float>(200);
  auto const transposed = shaped(y.data() + 3, {300, 200}, {1, 300});
  auto const reversed = shaped(x.data() + 300 * 200 - 1, {300, 200}, {-200, -1});
  same_on_both(from(shaped(x, 300, 200), transposed) | reduce(over<0>(sum(_1 * _2)), over<1>(sum(_1 * _2), argmax(_1 - _2))));
  same_on_both(from(reversed, along<1>(w)) | reduce(over<0>(sum(_1 * _2), first), over<1>(sum(_1 * _2), last), sum(_2)));
  auto const sliding = shaped(x.data() + 1, {1000, 64, 16}, {1, 64, 1}); // two axes whose neighbours are neighbours
  same_on_both(from(sliding) | reduce(over<0>(sum), over<1>(sum), over<2>(sum), over<0, 2>(max)));
  auto const v = uneven_numbers<float>(300);
  same_on_both(from(shaped(iota(60000), 300, 200), along<0>(v)) | reduce(over<1>(sum(cast<float>(_1) * _2)), over<0>(sum(_2), max(_1))));
}

TEST_CASE("data on the device is used in place, and found there by on::any") {
  if (no_kernels()) return;
  auto const x = uneven_numbers<float>(512 * 300);
  on_device const d(x);
  auto const host = run(from(shaped(x, 512, 300)) | reduce(over<0>(sum), over<1>(mean), sum), on::cpu);
  CHECK(same_arrays(host, run(from(shaped(d.data(), 512, 300)) | reduce(over<0>(sum), over<1>(mean), sum))));
  CHECK_THROWS_AS(run(from(shaped(d.data(), 512, 300)) | over<1>(mean), on::cpu), wrong_residence);
}

TEST_CASE("under exact a group's sum, mean and variance are those of the CPU, whatever the order") {
  if (no_kernels()) return;
  auto const x = uneven_numbers<float>(300 * 1111);
  for (auto const& s : {shape{300, 1111, 1}, shape{30, 10, 1111}}) {
    auto const r = from(shaped(x, s.outer, s.middle, s.inner)) | reduce(over<1>(sum, mean), over<0>(variance), over<2>(sum(_1 * _1)));
    CHECK(same_arrays(run(r, on::cpu, exact), run(r, on::gpu, exact)));
    CHECK(same_arrays(run(r, on::cpu, fast), run(r, on::gpu, fast)));
    auto const powers = from(shaped(x, s.outer, s.middle, s.inner)) | reduce(over<1>(moments<4>), over<0>(moments<2>));
    CHECK(same_arrays(run(powers, on::cpu, exact), run(powers, on::gpu, exact)));
  }
  auto const d = uneven_numbers<double>(30 * 1111);
  auto const powers = from(shaped(d, 1111, 30)) | reduce(over<1>(moments<4>), over<0>(moments<4>));
  CHECK(same_arrays(run(powers, on::cpu, exact), run(powers, on::gpu, exact)));
}

TEST_CASE("a checked sum that leaves its range is an overflow along any axis, and one that does not has its answers") {
  if (no_kernels()) return;
  std::vector<i64> x(std::size_t(2048 * 1024), 1);
  auto const matrix = from(shaped(x, 2048, 1024));
  same_on_both(matrix | over<0>(sum.checked()));
  same_on_both(matrix | reduce(over<1>(sum.checked(), max), over<0>(sum), sum));
  same_on_both(matrix | over<0, 1>(sum.checked()));
  auto const of_rows = matrix | over<1>(sum.checked());
  same_on_both(matrix | map(_1 - let(of_rows)) | collect);
  x[1'000'000] = std::numeric_limits<i64>::max();
  CHECK_THROWS_AS(run(matrix | over<0>(sum.checked()), on::gpu), overflow);
  CHECK_THROWS_AS(run(matrix | over<1>(max, sum.checked()), on::gpu), overflow);
  CHECK_THROWS_AS(run(matrix | over<0, 1>(sum.checked()), on::gpu), overflow);
  CHECK_THROWS_AS(run(matrix | reduce(over<1>(sum.checked()), over<0>(sum), sum), on::gpu), overflow);
  CHECK_THROWS_AS(run(matrix | map(_1 - let(of_rows)) | collect, on::gpu), overflow);
  on_device<i64> const out(std::vector<i64>(1024, -7));
  CHECK_THROWS_AS(run_into(matrix | over<0>(sum.checked()), out.data(), on::gpu), overflow);
  CHECK(out.back()[5] == -7);
}

TEST_CASE("means of integers of 64 bits, and real numbers added up as integers") {
  if (no_kernels()) return;
  auto x = uneven_numbers<i64>(std::size_t(300 * 1000));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = x[i] * 1'000'003 + 1'764'100'000'000'000'000;
  std::vector<int> key(x.size());
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = int(i % 7);
  std::vector<i64> const offsets{0, 10, 10, 100'000, 300'000};
  auto const matrix = from(shaped(x, 300, 1000));
  same_on_both(from(x) | reduce(mean, mean.where(_1 % 2 == 0), sum));
  same_on_both(matrix | reduce(over<0>(mean), over<1>(mean), mean));
  same_on_both(from(x, key) | by_key(_2, 7, mean(_1)));
  same_on_both(from(x) | by_segment(offsets, mean));
  auto y = uneven_numbers<float>(std::size_t(300 * 1000));
  y[7] = 5e9f, y[8] = -5e9f, y[9] = std::numeric_limits<float>::quiet_NaN(), y[10] = std::numeric_limits<float>::infinity();
  auto const floats = from(shaped(y, 300, 1000));
  same_on_both(from(y) | reduce(sum.in<i32>(), sum.in<u8>(), sum.in<i64>()));
  same_on_both(floats | reduce(over<0>(sum.in<i32>()), over<1>(sum.in<i32>())));
  same_on_both(from(y, key) | by_key(_2, 7, sum(_1).in<i32>(), sum(_1).in<u32>()));
  same_on_both(from(y) | by_segment(offsets, sum.in<i32>()));
}
