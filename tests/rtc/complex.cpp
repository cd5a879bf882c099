// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Complex numbers in kernels, wherever a pipeline has them: in its columns, its constants, what it makes of real numbers. Needs NVRTC, no GPU.
#include <tally/complex.hpp>
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <complex>
#include <cstdint>
#include <cstdio>

using namespace tally::v0;

namespace {

template <class T>
auto memory() { return reinterpret_cast<T const*>(std::uintptr_t(0x7f0000000000)); }
template <class R>
void compiles(R const& r) {
  if (!gpu::can_compile()) {
    std::printf("skipped: no NVRTC on this machine\n");
    return;
  }
  INFO(text_of(r));
  CHECK_NOTHROW(explain(r, targets::h200).ptx());
}

} // namespace

TEST_CASE("columns of complex numbers compile, also those that a pointer to std::complex names") {
  compiles(from(device(memory<tally::complex<float>>(), 1 << 20)) | sum);
  compiles(from(device(memory<std::complex<float>>(), 1 << 20)) | reduce(sum, sum(squared_abs(_1))));
  compiles(from(every(memory<std::complex<double>>(), 1 << 20, 3)) | sum);
  auto const matrix = from(shaped(memory<std::complex<double>>(), 1000, 1000));
  compiles(matrix | reduce(over<0>(sum), over<1>(sum), sum));
}

TEST_CASE("complex numbers that are nowhere but in an expression compile") {
  auto const x = from(device(memory<float>(), 1 << 20));
  compiles(x | max(real_part(as_complex(_1, _1))));
  compiles(x | map(as_complex(_1, _1)) | collect);
  compiles(x | map(_1 * tally::complex<float>(0, 1)) | collect);
  compiles(x | by_key(cast<int>(_1), 100, sum(as_complex(_1, _1))));
  compiles(x | by_key(cast<int>(imag_part(as_complex(_1, _1))), 100, count));
  auto const rows = from(shaped(memory<float>(), 1000, 1000));
  auto const mu = rows | over<1>(mean);
  compiles(rows | map(as_complex(_1 - let(mu), _1)) | collect);
  compiles(rows | over<1>(sum(as_complex(_1 - let(mu), _1))));
}
