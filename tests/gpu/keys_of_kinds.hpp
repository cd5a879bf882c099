// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For GPU tests: keys as they are met, and numbers for them.
#pragma once

#include <tally/base/numbers.hpp>

#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

enum class kind_of_keys { even, hot, one, zipf, sorted };

/// n keys below bins.
template <class K = tally::v0::i64>
std::vector<K> keys_of(kind_of_keys kind, tally::v0::i64 n, tally::v0::i64 bins) {
  using tally::v0::i64;
  std::mt19937 random(5);
  std::uniform_real_distribution<double> part(0, 1);
  std::vector<K> keys(static_cast<std::size_t>(n));
  for (i64 i = 0; i < n; ++i) {
    i64 const any = static_cast<i64>(random() % static_cast<tally::v0::u32>(bins));
    keys[static_cast<std::size_t>(i)] = static_cast<K>(kind == kind_of_keys::one                         ? bins / 2
                                                       : kind == kind_of_keys::hot && random() % 2 == 0 ? bins - 1
                                                       : kind == kind_of_keys::zipf                      ? static_cast<i64>(std::pow(double(bins), part(random))) - 1
                                                       : kind == kind_of_keys::sorted                    ? i * bins / n
                                                                                                         : any);
  }
  return keys;
}
template <class T = float>
std::vector<T> numbers_for_keys(tally::v0::i64 n) {
  std::mt19937 random(3);
  std::vector<T> x(static_cast<std::size_t>(n));
  for (auto& v : x)
    v = static_cast<T>(float(int(random() % 20001) - 10000) / 777.f);
  return x;
}
/// Floats and doubles that lie far from each other, subnormals, zeros below 0, and some that are not finite.
inline std::pair<std::vector<float>, std::vector<double>> far_numbers_for_keys(tally::v0::i64 n, unsigned one_in = 4) {
  std::mt19937 random(9);
  auto x = numbers_for_keys(n);
  auto wide = numbers_for_keys<double>(n);
  for (std::size_t i = 0; i < x.size(); ++i) {
    int const power = int(random() % 250) - 125;
    if (random() % one_in == 0) x[i] = std::ldexp(x[i], power);
    if (random() % one_in == 0) wide[i] = std::ldexp(wide[i], 8 * power);
    if (random() % 100'000 == 0) x[i] = std::numeric_limits<float>::infinity() * (random() % 2 == 0 ? 1.f : -1.f);
    if (random() % 100'000 == 0) wide[i] = std::numeric_limits<double>::quiet_NaN();
    if (random() % (250 * one_in) == 0) x[i] = std::numeric_limits<float>::denorm_min() * float(random() % 9);
    if (random() % 1000 == 0) x[i] = -0.f;
  }
  return {std::move(x), std::move(wide)};
}
