// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions, structs and folds of the user's own, complex numbers and range-v3 views on a GPU: the bits of the CPU.
#include <tally/complex.hpp>
#include <tally/ranges.hpp>

#include "gpu/on_device.hpp"

#include <tally/tally.hpp>

#include <range/v3/view.hpp>

#include <complex>

namespace own_types_spec {

TALLY_STRUCT(pixel, { unsigned char r, g, b; });
TALLY_STRUCT(colour, {
  float hue, light;
  constexpr bool grey() const { return hue < 0; }
});
TALLY_STRUCT(reading, { unsigned short sensor, level, fault; });
TALLY_FUNCTION(sensor_of, (reading r), { return int(r.sensor); });
TALLY_FUNCTION(level_of, (reading r), { return int(r.level); });
TALLY_FUNCTION(brightness, (pixel p), { return int(p.r) + int(p.g) + int(p.b); });
TALLY_FUNCTION(colour_of, (pixel p), {
  int const most = p.r > p.g ? (p.r > p.b ? p.r : p.b) : (p.g > p.b ? p.g : p.b);
  int const least = p.r < p.g ? (p.r < p.b ? p.r : p.b) : (p.g < p.b ? p.g : p.b);
  if (most == least) return colour{-1.f, float(most) / 255};
  return colour{float(p.g - p.b) / float(most - least), float(most + least) / 510};
});
TALLY_FUNCTION(light_of, (colour c), { return c.light; });
TALLY_FUNCTION(is_grey, (colour c), { return c.grey(); });

TALLY_STRUCT(box, { float left, right, low, high; int label; });
TALLY_FUNCTION(overlap, (box a, box b), { return (a.right < b.right ? a.right : b.right) - (a.left > b.left ? a.left : b.left); });
TALLY_FUNCTION(label_of, (box b), { return b.label; });
TALLY_STRUCT(vector4, { float x, y, z, w; });
TALLY_FUNCTION(dot_of, (vector4 a, vector4 b), { return a.x * b.x + a.w * b.w; });

TALLY_STRUCT(matrix, { unsigned long long a, b, c, d; });
TALLY_FUNCTION(matrix_product, (matrix x, matrix y), {
  return matrix{x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c, x.c * y.b + x.d * y.d};
});
TALLY_FUNCTION(shear, (unsigned v), { return v % 2 ? matrix{1, v, 0, 1} : matrix{1, 0, v, 1}; });
TALLY_FUNCTION(itself, (matrix x), { return x; });

TALLY_FUNCTION(rotate_and_add, (unsigned long long a, unsigned long long b), { return ((a << 5) | (a >> 59)) + b; });
TALLY_FUNCTION(spread_bits, (unsigned v), { return (v + 1) * 0x9e3779b97f4a7c15ull; });
TALLY_FUNCTION(same, (unsigned long long a), { return a; });

} // namespace own_types_spec

namespace {

using namespace tally;
using namespace own_types_spec;

template <class Reduction>
void same_on_both(Reduction const& r) {
  CAPTURE(text_of(r));
  CHECK(same_bits(run(r, on::gpu), run(r, on::cpu)));
}

} // namespace

TEST_CASE("struct columns and functions of the user's own") {
  if (no_kernels()) return;
  for (std::size_t n : {1u, 100u, 5000u, 1000003u}) {
    auto const bytes = uneven_numbers<unsigned char>(3 * n);
    std::vector<pixel> image(n);
    for (std::size_t i = 0; i < n; ++i)
      image[i] = {bytes[3 * i], bytes[3 * i + 1], i % 5 ? bytes[3 * i + 2] : bytes[3 * i]};
    same_on_both(from(image) | reduce(sum(brightness(_1)), argmax(brightness(_1)), count));
    same_on_both(from(image) | map(colour_of(_1)) | reduce(sum(light_of(_1)), count_if(is_grey(_1)), max(light_of(_1))));
    same_on_both(from(every(image.data() + n - 1, i64(n), -1)) | sum(light_of(colour_of(_1))));
    auto const r = from(image) | first.where(brightness(_1) >= 0);
    CHECK(run(r, on::gpu).g == image[0].g);
  }
}

TEST_CASE("enumerations") {
  if (no_kernels()) return;
  auto const bytes = uneven_numbers<unsigned char>(1'000'003);
  std::vector<std::byte> x(bytes.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::byte(bytes[i]);
  same_on_both(from(x) | reduce(sum(cast<int>(_1)), max(cast<int>(_1)), count_if(cast<int>(_1) == 7)));
}

TEST_CASE("all structs beside all others, of sizes that are no loads and at addresses that allow none") {
  if (no_kernels()) return;
  auto const values = uneven_numbers<float>(8000);
  std::vector<box> boxes;
  std::vector<vector4> vectors;
  std::vector<reading> readings;
  for (std::size_t i = 0; i + 4 < values.size() && boxes.size() < 1009; i += 5) {
    boxes.push_back({values[i], values[i] + 2.f, values[i + 1], values[i + 2], int(i % 4)});
    vectors.push_back({values[i], values[i + 1], values[i + 2], values[i + 3]});
    readings.push_back({static_cast<unsigned short>(i), static_cast<unsigned short>(7 * i), 0});
  }
  i64 const n = i64(boxes.size()), some = 37;
  auto const all_with_some = [&](auto const& of, i64 first) { return from(shaped(of.data(), {n, some}, {1, 0}), shaped(of.data() + first, {n, some}, {0, 1})); };
  auto const same_domains = [](auto const& m, auto const& x) {
    auto const r = m | reduce(count_if(x > 0.5f), over<1>(max(x).or_else(0), argmax(x).or_else(-1)), over<0>(argmax(x).or_else(-1)), sum(x));
    CHECK(run(r, on::gpu) == run(r, on::cpu));
  };
  for (i64 const first : {0, 1, 3}) {
    same_domains(all_with_some(boxes, first) | filter(label_of(_1) == label_of(_2)), overlap(_1, _2));
    same_domains(all_with_some(vectors, first), dot_of(_1, _2));
    same_domains(all_with_some(readings, first), level_of(_1) - level_of(_2));
    same_on_both(from(shaped(boxes.data() + first, 20, 40)) | reduce(sum(overlap(_1, _1)), count));
  }
}

TEST_CASE("structs by key, whose neighbours are no whole loads") {
  if (no_kernels()) return;
  for (std::size_t n : {1u, 2u, 5003u, 100002u}) {
    auto const values = uneven_numbers<unsigned short>(2 * n);
    std::vector<reading> readings(n);
    for (std::size_t i = 0; i < n; ++i)
      readings[i] = {static_cast<unsigned short>(values[2 * i] % 50), values[2 * i + 1], 0};
    CHECK(run(from(readings) | by_key(sensor_of(_1), 50, sum(level_of(_1))), on::gpu) == run(from(readings) | by_key(sensor_of(_1), 50, sum(level_of(_1))), on::cpu));
    CHECK(run(from(readings) | histogram(level_of(_1), 0, 65536, 64), on::gpu) == run(from(readings) | histogram(level_of(_1), 0, 65536, 64), on::cpu));
  }
}

TEST_CASE("a product of matrices, and the detector of trees") {
  if (no_kernels()) return;
  auto const whole_product = fold_of(matrix{1, 0, 0, 1}, matrix_product, shear, itself, associative);
  auto const tree_detector = fold_of(0ull, rotate_and_add, spread_bits, same, associative);
  for (std::size_t n : {1u, 127u, 129u, 1023u, 1025u, 70001u, 3000017u}) {
    auto const v = uneven_numbers<unsigned>(n);
    same_on_both(from(v) | whole_product);
    same_on_both(from(v) | tree_detector);
    same_on_both(from(v) | filter(_1 % 3 != 0) | reduce(sum, whole_product, tree_detector.where(_1 % 2 == 0)));
    same_on_both(from(every(v.data(), i64(n + 1) / 2, 2)) | tree_detector);
  }
}

TEST_CASE("complex numbers") {
  if (no_kernels()) return;
  for (std::size_t n : {1u, 1000u, 1000003u}) {
    auto const parts = uneven_numbers<float>(2 * n);
    std::vector<std::complex<float>> z(n);
    std::vector<std::complex<double>> w(n);
    for (std::size_t i = 0; i < n; ++i) {
      z[i] = {parts[2 * i], parts[2 * i + 1]};
      w[i] = {double(parts[2 * i + 1]) / 3, double(parts[2 * i]) / 7};
    }
    same_on_both(from(z) | reduce(sum, mean, sum(abs(_1)), sum(arg(_1)), norm<2>));
    same_on_both(from(z) | reduce(first, last, argmax(squared_abs(_1)), sum(conj(_1) * _1)));
    same_on_both(from(z) | filter(squared_abs(_1) > 0.f) | product(_1 / abs(_1)));
    same_on_both(from(w, z) | filter(imag_part(_2) > 0.f) | reduce(sum(_1), sum(abs(_1)), sum(as_complex(real_part(_2), imag_part(_2)))));
    same_on_both(from(w) | sum(_1 / (_1 + tally::complex<double>(1, 2))));
  }
}

TEST_CASE("views of range-v3 that are looked through") {
  if (no_kernels()) return;
  namespace views = ranges::views;
  auto const x = uneven_numbers<float>(1000003);
  auto const y = uneven_numbers<int>(1000003);
  float const scale = 0.37f;
  auto const folds = reduce(sum, max, argmin, mean);
  same_on_both(from(x | views::drop(3) | views::stride(7)) | folds);
  same_on_both(from(x | views::reverse) | folds);
  same_on_both(from(x | views::stride(3) | views::transform(_1 * scale) | views::reverse) | folds);
  same_on_both(from(views::zip(x, y | views::reverse, views::iota(0, 1000003))) | reduce(sum(_1 * _2), sum(_3), sum(_1 * _3)));
  same_on_both(views::iota(-1000, 3000000) | views::stride(3) | tally::sum);
}
