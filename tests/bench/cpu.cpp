// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CPU's bars: tally beside plain `omp simd` loops, Thrust's OpenMP reduce and std::reduce(par_unseq), on one array of
// random floats, interleaved in one process. Every answer is checked before anything is timed. Built twice: with the flags
// the library ships with, and for this machine (bench_cpu_native). Test layer.
#include <tally/tally.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <omp.h>
#include <thrust/reduce.h>
#include <thrust/system/omp/execution_policy.h>
#if BENCH_HAS_TBB
#include <execution>
#include <numeric>
#endif

namespace {

using column = std::vector<float>;

float omp_sum(column const& x) {
  float const* const p = x.data();
  auto const n = static_cast<std::ptrdiff_t>(x.size());
  float total = 0.f;
#pragma omp parallel for simd reduction(+ : total)
  for (std::ptrdiff_t i = 0; i < n; ++i) total += p[i];
  return total;
}

float omp_min(column const& x) {
  float const* const p = x.data();
  auto const n = static_cast<std::ptrdiff_t>(x.size());
  float low = std::numeric_limits<float>::infinity();
#pragma omp parallel for simd reduction(min : low)
  for (std::ptrdiff_t i = 0; i < n; ++i) low = p[i] < low ? p[i] : low;
  return low;
}

float omp_max(column const& x) {
  float const* const p = x.data();
  auto const n = static_cast<std::ptrdiff_t>(x.size());
  float high = -std::numeric_limits<float>::infinity();
#pragma omp parallel for simd reduction(max : high)
  for (std::ptrdiff_t i = 0; i < n; ++i) high = p[i] > high ? p[i] : high;
  return high;
}

/// The variance where the mean is known: one read, the cheapest way there is.
float omp_variance(column const& x, float mean) {
  float const* const p = x.data();
  auto const n = static_cast<std::ptrdiff_t>(x.size());
  float total = 0.f;
#pragma omp parallel for simd reduction(+ : total)
  for (std::ptrdiff_t i = 0; i < n; ++i) total += (p[i] - mean) * (p[i] - mean);
  return total / static_cast<float>(n);
}

using answers = std::vector<double>;

answers five_loops(column const& x) {
  auto const n = static_cast<float>(x.size());
  float const sum = omp_sum(x), low = omp_min(x), high = omp_max(x), mean = omp_sum(x) / n;
  float const variance = omp_variance(x, mean);
  return {double{sum}, double{low}, double{high}, double{mean}, double{variance}};
}

answers five_folds(column const& x) {
  using namespace tally;
  auto const [total, low, high, average, spread] = run(from(x) | reduce(sum, min, max, mean, variance), on::cpu);
  return {double{total}, double{low}, double{high}, double{average}, double{spread}};
}

/// One way to answer, and whether its figure is compared or compared with.
struct contestant {
  std::string name;
  std::function<answers()> run;
  std::vector<double> seconds;
  double slack = 1; // a long plain f32 loop is allowed more error than a tree

  double median() const {
    auto sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }
};

std::vector<contestant> sums(column const& x) {
  std::vector<contestant> all{
      {"tally reproducible", [&] { return answers{double{tally::run(tally::from(x) | tally::sum, tally::on::cpu)}}; }, {}, 1},
      {"tally fast", [&] { return answers{double{tally::run(tally::from(x) | tally::sum, tally::on::cpu, tally::fast)}}; }, {}, 1},
      {"omp parallel for simd", [&] { return answers{double{omp_sum(x)}}; }, {}, 30},
      {"thrust::reduce omp", [&] { return answers{double{thrust::reduce(thrust::omp::par, x.begin(), x.end(), 0.f)}}; }, {}, 30},
  };
#if BENCH_HAS_TBB
  all.push_back({"std::reduce par_unseq",
                 [&] { return answers{double{std::reduce(std::execution::par_unseq, x.begin(), x.end(), 0.f)}}; }, {}, 30});
#endif
  return all;
}

std::vector<contestant> fives(column const& x) {
  return {{"tally, one read", [&] { return five_folds(x); }, {}, 1}, {"five omp simd loops", [&] { return five_loops(x); }, {}, 30}};
}

/// The same five answers in double, by one plain loop after another.
answers reference(column const& x) {
  double sum = 0, low = std::numeric_limits<double>::infinity(), high = -low, spread = 0;
  for (float v : x) sum += double{v}, low = std::min(low, double{v}), high = std::max(high, double{v});
  double const n = static_cast<double>(x.size()), mean = sum / n;
  for (float v : x) spread += (double{v} - mean) * (double{v} - mean);
  return {sum, low, high, mean, spread / n};
}

bool check(std::vector<contestant>& all, answers const& expected, double n) {
  bool good = true;
  double const room[] = {1e-3 * std::sqrt(n), 0.0, 0.0, 1e-3 / std::sqrt(n), 1e-3};
  for (auto& c : all) {
    auto const got = c.run();
    for (std::size_t i = 0; i < got.size(); ++i)
      if (!(std::abs(got[i] - expected[i]) <= c.slack * room[i])) {
        std::printf("WRONG: %s answer %zu is %.9g, expected %.9g\n", c.name.c_str(), i, got[i], expected[i]);
        good = false;
      }
  }
  return good;
}

void time_all(std::vector<contestant>& all, int trials) {
  for (int t = 0; t < trials; ++t)
    for (std::size_t k = 0; k < all.size(); ++k) {
      auto& c = all[(k + static_cast<std::size_t>(t)) % all.size()];
      auto const begin = std::chrono::steady_clock::now();
      static_cast<void>(c.run());
      c.seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
}

void print(std::vector<contestant> const& all, double bytes) {
  for (auto const& c : all)
    std::printf("  %-24s %8.3f ms  %6.1f GB/s of one read\n", c.name.c_str(), c.median() * 1e3, bytes / c.median() / 1e9);
}

/// What a call costs where there is little to fold: nanoseconds, the least of ten batches.
void time_small_runs(column const& x) {
  auto const least = [](auto const& run) {
    double best = 1e9;
    for (int batch = 0; batch < 10; ++batch) {
      auto const begin = std::chrono::steady_clock::now();
      for (int k = 0; k < 2000; ++k) run();
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / 2000 * 1e9);
    }
    return best;
  };
  for (std::size_t const n : {1, 100, 1000, 10000}) {
    column const few(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(n));
    volatile float sink = 0;
    std::printf("  %5zu elements: sum %6.0f ns, argmax %6.0f ns\n", n, least([&] { sink = tally::run(tally::from(few) | tally::sum, tally::on::cpu); }),
                least([&] { sink = static_cast<float>(tally::run(tally::from(few) | tally::argmax, tally::on::cpu)); }));
  }
}

bool bar(const char* what, double ratio, double least) {
  std::printf("%s  %s: %.3fx (bar %.2fx)\n", ratio >= least ? "PASS" : "FAIL", what, ratio, least);
  return ratio >= least;
}

}  // namespace

int main(int count, char** words) {
  std::size_t const mib = count > 1 ? std::strtoull(words[1], nullptr, 10) : 256;
  int const trials = count > 2 ? std::atoi(words[2]) : 21;
  column x(mib << 18);
  std::mt19937_64 random{20261120};
  std::normal_distribution<float> normal;
  for (auto& v : x) v = normal(random);
  double const bytes = static_cast<double>(x.size() * sizeof(float));
  std::printf("%zu MiB of f32, %d threads, %d trials, %s\n", mib, omp_get_max_threads(), trials, BENCH_FLAGS);
  auto one = sums(x), five = fives(x);
  auto const expected = reference(x);
  double const n = static_cast<double>(x.size());
  bool const good = check(one, expected, n) & check(five, expected, n);
  time_all(one, trials);
  time_all(five, trials);
  std::printf("sum f32\n");
  print(one, bytes);
  std::printf("sum, min, max, mean, variance\n");
  print(five, bytes);
  std::printf("small runs\n");
  time_small_runs(x);
  bool const held = bar("sum f32 against omp simd", one[2].median() / one[0].median(), 0.95) &
                    bar("five folds in one read against five loops", five[1].median() / five[0].median(), 2.5);
  return good ? held ? 0 : 1 : 2;
}
