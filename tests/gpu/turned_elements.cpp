// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements of turned, permuted and reversed sources, written through tiles that are turned in shared memory: the elements of the CPU.
#include "gpu/on_device.hpp"
#include "gpu/same_arrays.hpp"
#include "gpu/watchdog.hpp"

#include <tally/complex.hpp>
#include <tally/tally.hpp>
#include <tally/testing.hpp>

using namespace tally;

TALLY_STRUCT(turned_three, { float a, b, c; });
TALLY_FUNCTION(all_three, (float a), { return turned_three{a, a + 1, -a}; });

namespace {

template <class R>
void same_elements(R const& r) {
  INFO(text_of(r));
  CHECK(same_arrays(run(r, on::gpu), run(r, on::cpu)));
  tally_test_progress();
}
template <class T>
void turned(i64 rows, i64 n) {
  CAPTURE(rows);
  CAPTURE(n);
  auto const x = uneven_numbers<T>(std::size_t(rows * n));
  same_elements(from(shaped(x.data(), {rows, n}, {1, rows})) | collect);
  same_elements(from(shaped(x.data(), {rows, n}, {1, rows})) | map(_1 + _1, cast<u8>(_1 > T(1)), cast<double>(_1)) | collect);
}
constexpr struct {
  i64 rows, n;
} shapes[] = {{16, 16}, {17, 64}, {64, 17}, {64, 64}, {65, 63}, {128, 256}, {1000, 333}, {333, 1000}, {1024, 1024}, {16, 70001}, {70001, 16}, {2, 4000}, {3, 50000}, {4, 5003}, {7, 9999}, {9999, 20}};

} // namespace

// values of: cp.async.bulk.global.shared::cta.bulk_group
TEST_CASE("turned matrices of every size and type") {
  if (no_kernels()) return;
  for (auto const& s : shapes) {
    turned<float>(s.rows, s.n);
    turned<double>(s.rows, s.n);
    turned<u8>(s.rows, s.n);
    turned<u16>(s.rows, s.n);
    turned<bf16>(s.rows, s.n);
  }
}

TEST_CASE("permuted axes, planes of an image, reversed rows and columns") {
  if (no_kernels()) return;
  auto const x = uneven_numbers<float>(24 * 40 * 56);
  for (auto const& order : {std::array{0, 1, 2}, std::array{0, 2, 1}, std::array{1, 0, 2}, std::array{1, 2, 0}, std::array{2, 0, 1}, std::array{2, 1, 0}}) {
    i64 const extents[] = {24, 40, 56}, steps[] = {40 * 56, 56, 1};
    auto const e = [&](int k) { return extents[order[std::size_t(k)]]; };
    auto const s = [&](int k) { return steps[order[std::size_t(k)]]; };
    same_elements(from(shaped(x.data(), {e(0), e(1), e(2)}, {s(0), s(1), s(2)})) | map(_1 * 3.f) | collect);
  }
  same_elements(from(shaped(x.data() + 239, {240, 100}, {-1, 240})) | collect);
  same_elements(from(shaped(x.data() + 240 * 99, {240, 100}, {1, -240})) | collect);
  auto const image = uneven_numbers<u8>(200 * 300 * 3);
  same_elements(from(shaped(image.data(), {3, 200, 300}, {1, 900, 3})) | map(cast<float>(_1) / 255.f) | collect);
  same_elements(from(shaped(image.data(), {200, 300, 3}, {300, 1, 60000})) | collect);
  auto const pixels = uneven_numbers<u8>(200 * 300 * 24);
  same_elements(from(shaped(pixels.data(), {24, 200 * 300}, {1, 24})) | map(cast<float>(_1) / 255.f) | collect);
}

TEST_CASE("turned columns beside columns that lie as they are written, answers of lets, positions, and elements of 12 and 16 bytes") {
  if (no_kernels()) return;
  auto const x = uneven_numbers<float>(130 * 260), y = uneven_numbers<float>(130 * 260);
  auto const left = shaped(x.data(), {130, 260}, {1, 130});
  same_elements(from(left, shaped(y.data(), 130, 260)) | map(_1 - _2) | collect);
  same_elements(from(left, shaped(y.data(), {130, 260}, {1, 130})) | map(_1 * _2, _1) | collect);
  auto const source = from(left);
  same_elements(source | map(_1 - let(source | over<1>(mean)) + let(source | over<0>(max))) | collect);
  same_elements(from(left) | map(_1 + cast<float>(index_along<0> * 3 + index_along<1>)) | collect);
  same_elements(from(left) | map(all_three(_1)) | collect);
  std::vector<std::complex<double>> z(130 * 260);
  for (std::size_t i = 0; i < z.size(); ++i) z[i] = {double(x[i]), double(y[i])};
  same_elements(from(shaped(z.data(), {130, 260}, {1, 130})) | map(_1 * _1) | collect);
}

TEST_CASE("turned elements go where the caller says, aligned or not") {
  if (no_kernels()) return;
  i64 const rows = 256, n = 384;
  auto const x = uneven_numbers<float>(std::size_t(rows * n));
  on_device<float> const there(x), out(std::vector<float>(x.size() + 4));
  auto const r = from(shaped(there.data(), {rows, n}, {1, rows})) | collect;
  auto const right = run(from(shaped(x.data(), {rows, n}, {1, rows})) | collect, on::cpu);
  for (int const shift : {0, 1, 2, 3}) {
    run_into(r, out.data() + shift, on::gpu);
    CHECK(std::memcmp(out.back().data() + shift, right.data(), x.size() * sizeof(float)) == 0);
  }
}
