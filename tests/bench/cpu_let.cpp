// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Softmax and layer norm of rows on the CPU, beside loops over each row and Eigen where it is installed, on the same cores; every
// contestant's elements compared first, then interleaved in one process. Test layer.
#include <tally/tally.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <omp.h>
#if BENCH_HAS_EIGEN
#include <Eigen/Core>
#endif

namespace {

using tally::_1;
using tally::i64;

struct matrix {
  float const* x;
  float* y;
  i64 rows, columns;
};

void tally_softmax(matrix const& m) {
  auto const source = tally::from(tally::shaped(m.x, m.rows, m.columns));
  auto const greatest = source | tally::over<1>(tally::max);
  auto const total = source | tally::map(exp(_1 - tally::let(greatest))) | tally::over<1>(tally::sum);
  tally::run_into(source | tally::map(exp(_1 - tally::let(greatest)) / tally::let(total)) | tally::collect, m.y, tally::on::cpu);
}
void tally_layer_norm(matrix const& m) {
  auto const source = tally::from(tally::shaped(m.x, m.rows, m.columns));
  auto const mu = source | tally::over<1>(tally::mean);
  auto const variance = source | tally::over<1>(tally::mean(squared(_1 - tally::let(mu))));
  tally::run_into(source | tally::map((_1 - tally::let(mu)) / sqrt(tally::let(variance) + 1e-5f)) | tally::collect, m.y, tally::on::cpu);
}
template <class Row>
void each_row(matrix const& m, Row const& row) {
#pragma omp parallel for
  for (i64 r = 0; r < m.rows; ++r) row(m.x + r * m.columns, m.y + r * m.columns, m.columns);
}
void loop_softmax(matrix const& m) {
  each_row(m, [](float const* x, float* y, i64 n) {
    float greatest = x[0], total = 0;
    for (i64 i = 1; i < n; ++i) greatest = std::max(greatest, x[i]);
    for (i64 i = 0; i < n; ++i) total += y[i] = std::exp(x[i] - greatest);
    for (i64 i = 0; i < n; ++i) y[i] /= total;
  });
}
void loop_layer_norm(matrix const& m) {
  each_row(m, [](float const* x, float* y, i64 n) {
    float sum = 0, squares = 0;
    for (i64 i = 0; i < n; ++i) sum += x[i];
    float const mu = sum / static_cast<float>(n);
    for (i64 i = 0; i < n; ++i) squares += (x[i] - mu) * (x[i] - mu);
    float const deviation = std::sqrt(squares / static_cast<float>(n) + 1e-5f);
    for (i64 i = 0; i < n; ++i) y[i] = (x[i] - mu) / deviation;
  });
}
#if BENCH_HAS_EIGEN
using array = Eigen::Array<float, 1, Eigen::Dynamic>;
void eigen_softmax(matrix const& m) {
  each_row(m, [](float const* x, float* y, i64 n) {
    Eigen::Map<array const> const of(x, n);
    Eigen::Map<array> to(y, n);
    to = (of - of.maxCoeff()).exp();
    to /= to.sum();
  });
}
void eigen_layer_norm(matrix const& m) {
  each_row(m, [](float const* x, float* y, i64 n) {
    Eigen::Map<array const> const of(x, n);
    Eigen::Map<array> to(y, n);
    to = of - of.mean();
    to /= std::sqrt(to.square().mean() + 1e-5f);
  });
}
#endif

struct contestant {
  std::string name;
  std::function<void(matrix const&)> work;
};
double seconds(contestant const& c, matrix const& m) {
  auto const began = std::chrono::steady_clock::now();
  c.work(m);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}
double median(std::vector<double> t) {
  std::sort(t.begin(), t.end());
  return t[t.size() / 2];
}

/// Whether elements are those of tally, whose bits the tests hold; sums of long rows by plain f32 loops lose most of their digits.
bool near(std::vector<float> const& right, std::vector<float> const& y) {
  for (std::size_t i = 0; i < y.size(); ++i)
    if (!(std::abs(y[i] - right[i]) <= 0.02f * (std::abs(right[i]) + 1.f))) return false;
  return true;
}
bool race(char const* what, std::vector<contestant> const& all, matrix const& m, std::vector<float>& y, int trials) {
  std::vector<std::vector<double>> times(all.size());
  std::vector<float> right;
  for (auto const& c : all) {
    std::fill(y.begin(), y.end(), -7.f);
    c.work(m);
    if (right.empty()) right = y;
    if (!near(right, y)) {
      std::printf("WRONG: %s\n", c.name.c_str());
      return false;
    }
  }
  for (int t = 0; t < trials; ++t)
    for (std::size_t k = 0; k < all.size(); ++k) times[k].push_back(seconds(all[k], m));
  std::printf("%-10s %9lld x %-8lld", what, static_cast<long long>(m.rows), static_cast<long long>(m.columns));
  for (std::size_t k = 0; k < all.size(); ++k)
    std::printf("  %s %6.2f ns", all[k].name.c_str(), median(times[k]) * 1e9 / static_cast<double>(m.rows * m.columns));
  std::printf("\n");
  std::fflush(stdout);
  return true;
}

} // namespace

int main(int count, char** words) {
  std::size_t const mib = count > 1 ? std::strtoull(words[1], nullptr, 10) : 128;
  int const trials = count > 2 ? std::atoi(words[2]) : 5;
  std::vector<float> x(mib << 18);
  std::mt19937 random{20261123};
  for (auto& v : x) v = static_cast<float>(random()) / 536870912.f - 4.f;
  std::printf("%zu MiB of f32, %d threads, %d trials; median nanoseconds an element\n", mib, omp_get_max_threads(), trials);
  std::vector<contestant> softmax{{"tally", tally_softmax}, {"loops", loop_softmax}}, norm{{"tally", tally_layer_norm}, {"loops", loop_layer_norm}};
#if BENCH_HAS_EIGEN
  softmax.push_back({"Eigen", eigen_softmax}), norm.push_back({"Eigen", eigen_layer_norm});
#endif
  bool right = true;
  for (i64 const columns : {10, 16, 31, 100, 128, 1000, 1024, 4096, 5001, 20001, 1 << 20}) {
    i64 const rows = static_cast<i64>(x.size()) / columns;
    std::vector<float> y(static_cast<std::size_t>(rows * columns));
    matrix const m{x.data(), y.data(), rows, columns};
    right = race("softmax", softmax, m, y, trials) && race("layer norm", norm, m, y, trials) && right;
  }
  return right ? 0 : 1;
}
