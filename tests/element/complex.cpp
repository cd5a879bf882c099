// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Complex numbers as elements.
#include <tally/complex.hpp>

#include "element/device_compiler.hpp"

#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <vector>

namespace {

using namespace tally::v0;
using c32 = tally::complex<float>;
using c64 = tally::complex<double>;

template <class T>
std::vector<std::complex<T>> signal(std::size_t n) {
  std::vector<std::complex<T>> z(n);
  for (std::size_t i = 0; i < n; ++i)
    z[i] = {T(int(i % 17) - 8), T(int(i % 23) - 11) / 4};
  return z;
}

} // namespace

TEST_CASE("a range of std::complex is read in place") {
  auto const z = signal<float>(100);
  auto const s = from(z);
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(get<0>(s.source.columns))>, contiguous<c32>>);
  CHECK(static_cast<void const*>(get<0>(s.source.columns).data) == static_cast<void const*>(z.data()));
}

TEST_CASE("sum, mean, product, first and last of complex numbers") {
  auto const z = signal<double>(5000);
  std::complex<double> total = 0;
  for (auto const& x : z)
    total += x;
  auto const r = from(z) | reduce(sum, mean, first, last, count, sum.where(real_part(_1) > 0.0));
  auto const [s, m, a, b, n, right] = run(r, on::cpu);
  CHECK(s == c64(total)); // quarters add exactly
  CHECK(m == c64(total.real() / 5000, total.imag() / 5000));
  CHECK(a == c64(z.front()));
  CHECK(b == c64(z.back()));
  CHECK(n == 5000);
  CHECK(right.real() > 0);
  std::vector<std::complex<double>> const few{{1, 2}, {3, -1}, {0, 1}};
  CHECK(run(from(few) | product, on::cpu) == c64(few[0] * few[1] * few[2]));
  std::vector<std::complex<double>> const nothing;
  CHECK((run(from(nothing) | reduce(sum, product)) == std::tuple(c64(0, 0), c64(1, 0))));
}

TEST_CASE("functions of complex elements") {
  std::vector<std::complex<double>> const z{{3, 4}, {-6, 8}, {0, -1}};
  auto const [length, squared, re, im, angle, mirrored] =
      run(from(z) | reduce(sum(abs(_1)), sum(squared_abs(_1)), sum(real_part(_1)), sum(imag_part(_1)), last(arg(_1)), sum(conj(_1))), on::cpu);
  CHECK(length == 16.0);
  CHECK(squared == 126.0);
  CHECK(re == -3.0);
  CHECK(im == 11.0);
  CHECK(angle == doctest::Approx(-std::acos(0.0)));
  CHECK(mirrored == c64(-3, -11));
  CHECK(run(from(z) | norm<2>, on::cpu) == doctest::Approx(std::sqrt(126.0)));
  CHECK(run(from(z) | argmax(squared_abs(_1)), on::cpu) == 1);
}

TEST_CASE("abs neither overflows nor vanishes on the way") {
  std::vector<std::complex<float>> const z{{3e38f, 0.f}, {3e30f, 4e30f}, {3e-40f, 4e-40f}};
  CHECK(run(from(z) | first(abs(_1)), on::cpu) == 3e38f);
  CHECK(run(from(z) | max(abs(_1)).where(tally::index == 1), on::cpu) == 5e30f);
  CHECK(run(from(z) | last(abs(_1)), on::cpu) == std::hypot(3e-40f, 4e-40f));
}

TEST_CASE("two real columns make a complex one, and a captured number turns it") {
  std::vector<float> const re{1.f, 2.f}, im{3.f, 4.f};
  CHECK(run(from(re, im) | sum(as_complex(_1, _2)), on::cpu) == c32(3.f, 7.f));
  CHECK(run(from(re, im) | map(as_complex(_1, _2)) | sum(_1 * c32(0.f, 1.f)), on::cpu) == c32(-7.f, 3.f));
  CHECK(run(from(re, im) | map(as_complex(_1, _2)) | sum(_1 * 2.f + c32(1.f, 0.f)), on::cpu) == c32(8.f, 14.f));
}

TEST_CASE("wider accumulators") {
  auto const z = signal<float>(3000);
  auto const s = run(from(z) | sum.in<c64>(), on::cpu);
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(s)>, c64>);
  CHECK(c32(s) == run(from(z) | sum, on::cpu));
}

TEST_CASE("the spelling of their type is one that kernels know, and the kernel compiles") {
  CHECK(name_of<contiguous<c32>>().find("contiguous<cuda::std::complex<float>>") != std::string::npos);
  auto const z = signal<float>(3000);
  auto const w = signal<double>(3000);
  CHECK(compiles_for_a_gpu(from(z) | reduce(sum, mean, product, sum(abs(_1)), first, sum(_1 * c32(0.f, 1.f)))));
  CHECK(compiles_for_a_gpu(from(w, z) | filter(imag_part(_2) > 0.f) | reduce(sum(_1), sum(conj(_1) * _1), sum(arg(_1)), norm<2>(_1))));
}

TEST_CASE("complex partials merge like all others") {
  auto const z = signal<float>(4096);
  auto const whole = from(z) | reduce(sum, sum(abs(_1)));
  auto const part_at = [&](std::size_t at) { return from(std::span(z.data() + at, 2048)) | reduce(sum, sum(abs(_1))); };
  auto const both = merge(partial(part_at(0), on::cpu), partial(part_at(2048), starting_at(2048), on::cpu));
  CHECK((finish(from_bytes(whole, to_bytes(both))) == run(whole, on::cpu)));
}
