// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Columns that nothing names are neither moved to a GPU nor read there, and reads that are joined have the columns of all: bit for bit the
// answers of the CPU.
#include "gpu/joined.hpp"
#include "gpu/on_device.hpp"
#include "gpu/same_on_both.hpp"

#include <tally/tally.hpp>

#include <cstdint>

using namespace tally;

namespace {

template <class T>
T const* nowhere() {
  return reinterpret_cast<T const*>(std::uintptr_t(4096));
}
std::vector<int> keys(std::size_t n) {
  std::vector<int> k(n);
  for (std::size_t i = 0; i < n; ++i) k[i] = int(i * 7 % 50);
  return k;
}

} // namespace

TEST_CASE("what nothing names may lie where no GPU can read") {
  if (no_kernels()) return;
  constexpr i64 height = 1024, width = 2048, n = height * width;
  auto const x = uneven_numbers<float>(std::size_t(n));
  auto const k = keys(std::size_t(n));
  std::vector<i64> const offsets{0, 10, 10, 77777, n};
  auto const line = from(device(nowhere<float>(), n), x, k, device(nowhere<double>(), n));
  same_on_both<2>(line | reduce(sum(_2), argmax(_2)));
  same_on_both<2>(line | filter(_3 > 10) | reduce(variance(_2), count));
  same_on_both<2>(line | reduce(sum(_2)), exact);
  same_on_both<2>(line | reduce(sum(tally::index)));
  same_on_both<2>(line | by_key(_3, 50, sum(_2), count));
  same_on_both<2>(line | by_key(_3, 50, count));
  same_on_both<2>(line | group_by(_3, sum(_2)));
  same_on_both<2>(line | by_segment(offsets, sum(_2), max(_3)));
  same_on_both<2>(line | map(_2 * 2.f) | collect);
  auto const matrix = from(shaped(nowhere<float>(), height, width), shaped(x.data(), height, width), shaped(nowhere<float>(), {height, width}, {1, height}));
  same_on_both<2>(matrix | over<0>(sum(_2)));
  same_on_both<2>(matrix | over<1>(sum(_2), max(_2)));
  same_on_both<2>(matrix | over<0>(sum(tally::index)));
  same_on_both<2>(matrix | over<1>(sum(2.f)));
  same_on_both<2>(matrix | over<1>(sum(_2)), exact);
  same_on_both<2>(matrix | map(_2 - let(matrix | over<1>(mean(_2)))) | collect);
  same_and_joined(matrix | reduce(over<0>(sum(_2)), over<1>(mean(_2)), sum(_2)), true, true);
}

TEST_CASE("reads that are joined bring the columns of each") {
  if (no_kernels()) return;
  constexpr i64 height = 1024, width = 2048, n = height * width;
  auto const x = uneven_numbers<float>(std::size_t(n)), y = uneven_numbers<float>(std::size_t(n));
  auto const k = keys(std::size_t(n));
  std::vector<i64> const offsets{0, 10, 10, 77777, n}, others{0, 5000, n};
  same_on_both<2>(from(x, y, k, device(nowhere<float>(), n)) | reduce(sum(_1), by_key(_3, 50, max(_2)), by_key(_3, 50, count)));
  same_on_both<2>(from(x, y, k, device(nowhere<float>(), n)) | reduce(by_key(_3, 50, max(_2)), by_key(_3, 20000, sum(_1)).dropping_strays(), sum(_1)));
  same_on_both<2>(from(x, y, k, device(nowhere<float>(), n)) | reduce(by_segment(offsets, sum(_1)), by_segment(others, max(_2)), sum(_3), by_key(_3, 50, count)));
  auto const matrix = from(shaped(x.data(), height, width), shaped(y.data(), height, width), shaped(k.data(), height, width), shaped(nowhere<float>(), height, width));
  same_and_joined(matrix | reduce(over<0>(sum(_1)), over<1>(mean(_2)), max(_3)), true, true);
  same_on_both<2>(matrix | reduce(over<0>(sum(_1)), over<1>(mean(_1)), by_key(_3, 50, max(_2))));
  same_on_both<2>(matrix | reduce(over<0>(sum(_1)), over<1>(mean(_1)), by_key(_3, 50000, sum(_2))));
}
