// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds of every kind by key on a GPU, of many elements or few: many_keys [log2 of the elements, 27 [keys, 10000,100000,1000000]]. Microseconds of a call of enqueue with
// answers on the device; the answers of run are compared with the CPU's first, but for fast ones. Needs a GPU. Test layer.
#include "on_device.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <vector>

using namespace tally;
using namespace bench;

namespace {

void say(char const* what, double microseconds) {
  std::printf("  %-24s %8.1f us\n", what, microseconds);
  std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) {
  std::size_t const n = std::size_t(1) << (argc > 1 ? std::atoi(argv[1]) : 27);
  std::vector<float> x(n);
  std::mt19937 random(1);
  for (float& v : x) v = float(random() >> 8) * 0x1p-24f - 0.25f;
  std::vector<double> const wide(x.begin(), x.begin() + i64(n / 2));
  column_there const x_there(x);
  column_there const wide_there(wide);
  std::string const list = argc > 2 ? argv[2] : "10000,100000,1000000";
  for (char const* next = list.c_str(); *next != '\0'; next += std::strcspn(next, ",") + (std::strchr(next, ',') != nullptr ? 1 : 0)) {
    i64 const keys = std::atoll(next);
    auto const a = room(keys), b = room(keys);
    auto* const floats = static_cast<float*>(a.memory.data());
    auto* const doubles = static_cast<double*>(a.memory.data());
    auto* const counts = static_cast<i64*>(b.memory.data());
    for (std::string const drawn : {"uniform", "Zipf", "Zipf, shuffled"}) { // the first keys are hot, or any
      std::vector<i32> names(static_cast<std::size_t>(keys));
      std::iota(names.begin(), names.end(), 0);
      if (drawn == "Zipf, shuffled") std::shuffle(names.begin(), names.end(), random);
      std::uniform_real_distribution<double> part(0, 1);
      std::vector<i32> k(n);
      for (i32& one : k)
        one = names[static_cast<std::size_t>(drawn == "uniform" ? i64(random() % u64(keys)) : std::min<i64>(keys - 1, i64(std::pow(double(keys), part(random))) - 1))];
      column_there const k_there(k);
      column_there const k_of_wide(std::vector<i32>(k.begin(), k.begin() + i64(n / 2)));
      auto const s = from(x_there.column(), k_there.column());
      auto const of_wide = from(wide_there.column(), k_of_wide.column());
      auto const by = [&](auto... folds) { return by_key(_2, keys, folds...).dropping_strays(); };
      std::printf("%zu elements, %lld keys, %s\n", n, static_cast<long long>(keys), drawn.c_str());
      if (run(s | by(sum(_1)), on::gpu) != run(from(x, k) | by(sum(_1)), on::cpu)) return std::printf("WRONG\n"), 2;
      if (run(s | by(argmax(_1).or_else(i64(-1))), on::gpu) != run(from(x, k) | by(argmax(_1).or_else(i64(-1))), on::cpu)) return std::printf("WRONG\n"), 2;
      say("count", least(i64(n), from(k_there.column()) | by_key(_1, keys, count).dropping_strays(), std::tuple{counts}));
      say("sum", least(i64(n), s | by(sum(_1)), std::tuple{floats}));
      say("sum, count", least(i64(n), s | by(sum(_1), count), std::tuple{floats, counts}));
      say("variance", least(i64(n), s | by(variance(_1)), std::tuple{floats}));
      say("variance of i32", least(i64(n), s | by(variance(cast<i32>(_1 * 1e6f))), std::tuple{doubles}));
      say("covariance", least(i64(n), s | by(covariance(_1, _1 * _1)), std::tuple{floats}));
      say("covariance of f64, half", least(i64(n), of_wide | by(covariance(_1, _1 + 1.)), std::tuple{doubles}));
      say("sum of f64, half", least(i64(n), of_wide | by(sum(_1)), std::tuple{doubles}));
      say("max", least(i64(n), s | by(max(_1).or_else(0.f)), std::tuple{floats}));
      say("count, max of i32", least(i64(n), from(k_there.column()) | by_key(_1, keys, count, max(_1).or_else(0)).dropping_strays(), std::tuple{counts, reinterpret_cast<i32*>(floats)}));
      say("argmax", least(i64(n), s | by(argmax(_1).or_else(i64(-1))), std::tuple{counts}));
      say("argmax of f64, half", least(i64(n), of_wide | by(argmax(_1).or_else(i64(-1))), std::tuple{counts}));
      say("first", least(i64(n), s | by(first(_1).or_else(0.f)), std::tuple{floats}));
      say("fast sum", least(i64(n), s | by(sum(_1)), std::tuple{floats}, fast));
      say("fast sum of f64, half", least(i64(n), of_wide | by(sum(_1)), std::tuple{doubles}, fast));
      say("fast sum, count", least(i64(n), s | by(sum(_1), count), std::tuple{floats, counts}, fast));
      say("fast variance", least(i64(n), s | by(variance(_1)), std::tuple{floats}, fast));
    }
  }
}
