// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CPU's bars along axes: sums of rows and of columns of every width, and of squares, beside the read bandwidth of a plain `omp simd` loop, and
// beside Eigen and xtensor where they are installed; one array of random floats, interleaved in one process, every answer
// checked before anything is timed. Times are processor times. Test layer.
#include <tally/tally.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <omp.h>
#if BENCH_HAS_EIGEN
#include <Eigen/Core>
#endif
#if BENCH_HAS_XTENSOR
#include <xtensor/xadapt.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xtensor.hpp>
#endif

namespace {

using column = std::vector<float>;
using tally::i64;

float omp_sum(column const& x) {
  float const* const p = x.data();
  auto const n = static_cast<std::ptrdiff_t>(x.size());
  float total = 0.f;
#pragma omp parallel for simd reduction(+ : total)
  for (std::ptrdiff_t i = 0; i < n; ++i) total += p[i];
  return total;
}

/// A matrix of the first rows x columns elements, the axis that is folded away, and whether its elements are squared.
struct shape {
  column const& x;
  i64 rows, columns;
  bool down, squared = false;
  i64 answers() const { return down ? columns : rows; }
  double bytes() const { return 4. * static_cast<double>(rows * columns + answers()); } // read, and written
};

column tally_sums(shape const& s) {
  auto const m = tally::from(tally::shaped(s.x.data(), s.rows, s.columns));
  auto const along = [&](auto const& fold) {
    auto const a = s.down ? tally::run(m | tally::over<0>(fold), tally::on::cpu) : tally::run(m | tally::over<1>(fold), tally::on::cpu);
    return column(a.begin(), a.begin() + (a.size() < 64 ? a.size() : 64)); // enough to be checked; copying all would be timed
  };
  return s.squared ? along(tally::sum(tally::_1 * tally::_1)) : along(tally::sum);
}
#if BENCH_HAS_EIGEN
column eigen_sums(shape const& s) {
  using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Map<matrix const> const m(s.x.data(), s.rows, s.columns);
  auto const along = [&](auto const& of) { return s.down ? Eigen::VectorXf(of.colwise().sum().transpose()) : Eigen::VectorXf(of.rowwise().sum()); };
  Eigen::VectorXf const a = s.squared ? along(m.cwiseAbs2()) : along(m);
  return {a.data(), a.data() + std::min<i64>(64, a.size())};
}
#endif
#if BENCH_HAS_XTENSOR
column xtensor_sums(shape const& s) {
  std::array<std::size_t, 2> const extents{static_cast<std::size_t>(s.rows), static_cast<std::size_t>(s.columns)};
  auto const m = xt::adapt(s.x.data(), static_cast<std::size_t>(s.rows * s.columns), xt::no_ownership(), extents);
  auto const along = [&](auto const& of) { return xt::xtensor<float, 1>(xt::sum(of, {s.down ? 0 : 1}, xt::evaluation_strategy::immediate)); };
  auto const a = s.squared ? along(m * m) : along(m);
  return {a.begin(), a.begin() + std::min<std::ptrdiff_t>(64, static_cast<std::ptrdiff_t>(a.size()))};
}
#endif

struct contestant {
  std::string name;
  std::function<column(shape const&)> sums;
};
std::vector<contestant> contestants() {
  std::vector<contestant> all{{"tally", tally_sums}};
#if BENCH_HAS_EIGEN
  all.push_back({"Eigen", eigen_sums});
#endif
#if BENCH_HAS_XTENSOR
  all.push_back({"xtensor", xtensor_sums});
#endif
  return all;
}

bool right(shape const& s, column const& got, double room) {
  for (std::size_t k = 0; k < got.size(); ++k) {
    double exact = 0, size = 0;
    i64 const n = s.down ? s.rows : s.columns;
    for (i64 e = 0; e < n; ++e) {
      double const v = s.x[static_cast<std::size_t>(s.down ? e * s.columns + static_cast<i64>(k) : static_cast<i64>(k) * s.columns + e)];
      exact += s.squared ? v * v : v, size += std::abs(s.squared ? v * v : v);
    }
    if (!(std::abs(got[k] - exact) <= room * size)) return false;
  }
  return true;
}
/// Processor time for each thread, which others on the machine do not lengthen; with one thread nobody waits at a barrier either.
template <class Run>
double seconds(Run const& run) {
  auto const begin = std::clock();
  run();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC / omp_get_max_threads();
}
double median(std::vector<double> t) {
  std::sort(t.begin(), t.end());
  return t[t.size() / 2];
}

/// Times all contestants on one shape between reads of the same memory; whether tally reads at 0.9 of that.
bool race(shape const& s, int trials, double bar) {
  auto const all = contestants();
  std::vector<std::vector<double>> times(all.size());
  std::vector<double> reads;
  volatile float sink = 0;
  for (auto const& c : all)
    if (!right(s, c.sums(s), c.name == "tally" ? 1e-6 : 0.3)) { // a long plain f32 loop loses most of its digits
      std::printf("WRONG: %s\n", c.name.c_str());
      return false;
    }
  for (int t = 0; t < trials; ++t) {
    reads.push_back(seconds([&] { sink = omp_sum(s.x); }));
    for (std::size_t k = 0; k < all.size(); ++k) times[k].push_back(seconds([&] { sink = all[k].sums(s)[0]; }));
  }
  double const read = 4. * static_cast<double>(s.x.size()) / median(reads);
  std::printf("%10lld x %-8lld %s  omp simd %6.2f GB/s", static_cast<long long>(s.rows), static_cast<long long>(s.columns),
              s.squared ? s.down ? "squares of columns" : "squares of rows   " : s.down ? "columns" : "rows   ", read / 1e9);
  for (std::size_t k = 0; k < all.size(); ++k)
    std::printf("  %s %6.2f (%.2fx)", all[k].name.c_str(), s.bytes() / median(times[k]) / 1e9, s.bytes() / median(times[k]) / read);
  bool const held = s.bytes() / median(times[0]) >= bar * read;
  std::printf("  %s\n", held ? "PASS" : "FAIL");
  std::fflush(stdout);
  return held;
}

/// Sums of rows, columns and all in a walk each, and in one, as they take turns.
bool together(column const& x, i64 columns, int trials) {
  auto const rows = static_cast<i64>(x.size()) / columns;
  auto const m = tally::from(tally::shaped(x.data(), rows, columns));
  auto const wall = [](auto const& run) {
    auto const begin = std::chrono::steady_clock::now();
    run();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  std::vector<double> apart, one;
  bool same = true;
  for (int t = 0; t < trials; ++t) {
    decltype(tally::run(m | tally::over<0>(tally::sum), tally::on::cpu)) down, along;
    float all = 0;
    apart.push_back(wall([&] {
      down = tally::run(m | tally::over<0>(tally::sum), tally::on::cpu);
      along = tally::run(m | tally::over<1>(tally::sum), tally::on::cpu);
      all = tally::run(m | tally::sum, tally::on::cpu);
    }));
    one.push_back(wall([&] {
      auto const [d, a, s] = tally::run(m | tally::reduce(tally::over<0>(tally::sum), tally::over<1>(tally::sum), tally::sum), tally::on::cpu);
      same = same && std::equal(d.begin(), d.end(), down.begin()) && std::equal(a.begin(), a.end(), along.begin()) && s == all;
    }));
  }
  std::printf("%10lld x %-8lld rows, columns and all: a walk each %8.0f us, one walk %8.0f us (%.2fx)%s\n", static_cast<long long>(rows), static_cast<long long>(columns),
              median(apart) * 1e6, median(one) * 1e6, median(apart) / median(one), same ? "" : "  WRONG");
  std::fflush(stdout);
  return same;
}

} // namespace

int main(int count, char** words) {
  std::size_t const mib = count > 1 ? std::strtoull(words[1], nullptr, 10) : 256;
  int const trials = count > 2 ? std::atoi(words[2]) : 7;
  column x(mib << 18);
  std::mt19937 random{20261120};
  for (auto& v : x) v = static_cast<float>(random()) / 4294967296.f + 0.5f;
  std::printf("%zu MiB of f32, %d threads, %d trials; GB/s of what is read and written, beside a plain read\n", mib, omp_get_max_threads(), trials);
  auto const n = static_cast<i64>(x.size());
  bool held = true;
  for (i64 const width : {1, 2, 3, 4, 8, 16, 32, 64, 100, 128, 256, 500, 512, 1000, 1024, 1500, 2048, 4096, 65536})
    held = race({x, n / width, width, false}, trials, 0.9) && held;
  for (i64 const width : {1, 3, 16, 64, 100, 256, 1000, 1024, 4096, 16384, 65536, 1000000})
    held = race({x, n / width, width, true}, trials, 0.9) && held;
  for (i64 const width : {3, 8, 15, 32, 100, 128, 1000}) // no bar: elements that are computed go through a buffer
    held = race({x, n / width, width, false, true}, trials, 0) && held;
  for (i64 const width : {3, 100, 1000, 65536})
    held = race({x, n / width, width, true, true}, trials, 0) && held;
  for (i64 const width : {8, 64, 256, 1024, 4096, 32768, 65536}) // no bar
    held = together(x, width, trials) && held;
  return held ? 0 : 1;
}
