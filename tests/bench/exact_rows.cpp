// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exact sums, means and variances of rows, columns and segments of one size on a GPU: exact_rows [log2 of the floats, half as many doubles, 27 [lengths, 7,32,64,256,333,1024,4096]].
// Microseconds of a call of enqueue with answers on the device; the answers of run are compared with the CPU's first. Needs a GPU. Test layer.
#include "on_device.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

using namespace tally;
using namespace bench;

namespace {

/// One line: a pipeline's microseconds under exact and under fast, of answers of T.
template <class T, class There, class Here>
void measure(char const* what, i64 n, column_there<u64> const& to, There const& there, Here const& here) {
  auto const gpu = run(there, on::gpu, exact), cpu = run(here, on::cpu, exact);
  if (!alike(gpu, cpu)) std::printf("WRONG\n"), std::exit(2);
  auto* const out = static_cast<T*>(to.memory.data());
  std::printf("  %-24s %8.1f us, fast %8.1f us\n", what, least(n, there, std::tuple{out}, exact), least(n, there, std::tuple{out}, fast));
  std::fflush(stdout);
}

template <class T>
void measure_rows(std::vector<T> x, i64 length) {
  i64 const rows = i64(x.size()) / length;
  x.resize(static_cast<std::size_t>(rows * length));
  column_there const there(x);
  auto const to = room(rows > length ? rows : length);
  std::vector<i64> offsets(static_cast<std::size_t>(rows) + 1);
  for (i64 r = 0; r <= rows; ++r) offsets[static_cast<std::size_t>(r)] = r * length;
  std::printf("%lld rows of %lld %s\n", static_cast<long long>(rows), static_cast<long long>(length), sizeof(T) == 4 ? "f32" : "f64");
  column_there const offsets_there(offsets);
  auto const both = [&](char const* what, auto const& make) {
    measure<T>(what, i64(x.size()), to, make(static_cast<T const*>(there.memory.data()), offsets_there.column()), make(x.data(), offsets));
  };
  auto const rows_of = [&](T const* at) { return from(shaped(at, rows, length)); };
  both("rows: sum", [&](T const* at, auto const&) { return rows_of(at) | over<1>(sum(_1)); });
  both("rows: mean", [&](T const* at, auto const&) { return rows_of(at) | over<1>(mean(_1)); });
  both("rows: sum of squares", [&](T const* at, auto const&) { return rows_of(at) | over<1>(sum(_1 * _1)); });
  both("rows: variance", [&](T const* at, auto const&) { return rows_of(at) | over<1>(variance(_1)); });
  both("columns: variance", [&](T const* at, auto const&) { return rows_of(at) | over<0>(variance(_1)); });
  both("segments: sum", [&](T const* at, auto const& where) { return from(shaped(at, rows * length)) | by_segment(where, sum(_1)); });
}

} // namespace

int main(int argc, char** argv) {
  std::size_t const n = std::size_t(1) << (argc > 1 ? std::atoi(argv[1]) : 27);
  std::vector<float> x(n);
  u64 state = 1;
  for (float& v : x) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    v = float(state >> 40) * 0x1p-20f - 8.f;
  }
  std::vector<double> const wide(x.begin(), x.begin() + i64(n / 2));
  std::string const list = argc > 2 ? argv[2] : "7,32,64,256,333,1024,4096";
  for (char const* next = list.c_str(); *next != '\0'; next += std::strcspn(next, ",") + (std::strchr(next, ',') != nullptr ? 1 : 0)) {
    measure_rows(x, std::atoll(next));
    measure_rows(wide, std::atoll(next));
  }
}
