// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For GPU tests: keys as they are met, and numbers for them.
#pragma once

#include <tally/base/numbers.hpp>

#include <cmath>
#include <random>
#include <vector>

enum class kind_of_keys { even, hot, one, zipf, sorted };

/// n keys below bins.
template <class K = tally::i64>
std::vector<K> keys_of(kind_of_keys kind, tally::i64 n, tally::i64 bins) {
  using tally::i64;
  std::mt19937 random(5);
  std::uniform_real_distribution<double> part(0, 1);
  std::vector<K> keys(static_cast<std::size_t>(n));
  for (i64 i = 0; i < n; ++i) {
    i64 const any = static_cast<i64>(random() % static_cast<tally::u32>(bins));
    keys[static_cast<std::size_t>(i)] = static_cast<K>(kind == kind_of_keys::one                         ? bins / 2
                                                       : kind == kind_of_keys::hot && random() % 2 == 0 ? bins - 1
                                                       : kind == kind_of_keys::zipf                      ? static_cast<i64>(std::pow(double(bins), part(random))) - 1
                                                       : kind == kind_of_keys::sorted                    ? i * bins / n
                                                                                                         : any);
  }
  return keys;
}
template <class T = float>
std::vector<T> numbers_for_keys(tally::i64 n) {
  std::mt19937 random(3);
  std::vector<T> x(static_cast<std::size_t>(n));
  for (auto& v : x)
    v = static_cast<T>(float(int(random() % 20001) - 10000) / 777.f);
  return x;
}
