// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vectors whose sums and dot products nearly cancel: GenSum and GenDot of Ogita, Rump and Oishi, with the condition as a
// power of two. The second half of a vector is chosen against the exact value of what came before it.
#pragma once

#include "exact/oracle.hpp"

#include <random>

namespace oracle {

/// A random number of about 2^exponent in size, of either sign.
template <class T>
T random_number(std::mt19937_64& random, int exponent) {
  auto const fraction = static_cast<double>(random() >> 11) * 0x1p-53 + 0.5;
  return static_cast<T>(std::ldexp((random() & 1) != 0 ? fraction : -fraction, exponent));
}

/// n >= 2 numbers whose sum is about 2^-condition_bits of the sum of their sizes.
template <class T>
std::vector<T> ill_conditioned_sum(std::size_t n, int condition_bits, std::mt19937_64& random) {
  std::vector<T> x;
  integer so_far;
  int const half = condition_bits / 2;
  auto const take = [&](T v) {
    x.push_back(v);
    so_far = so_far + scaled(v, scale_of<T>);
  };
  for (std::size_t i = 0; i < n / 2; ++i)
    take(random_number<T>(random, i == 0 ? half : static_cast<int>(random() % static_cast<unsigned>(half + 1))));
  for (std::size_t i = n / 2; i < n; ++i) {
    int const left = half - static_cast<int>(static_cast<std::size_t>(condition_bits) * (i - n / 2 + 1) / (n - n / 2));
    take(nearest<T>(scaled(random_number<T>(random, left), scale_of<T>) - so_far, scale_of<T>));
  }
  std::shuffle(x.begin(), x.end(), random);
  return x;
}

/// Two vectors whose dot product nearly cancels.
template <class T>
struct factors {
  std::vector<T> x, y;
};
template <class T>
factors<T> ill_conditioned_dot(std::size_t n, int condition_bits, std::mt19937_64& random) {
  factors<T> f;
  accumulator<T> so_far;
  int const half = condition_bits / 2;
  auto const take = [&](T a, T b) {
    f.x.push_back(a), f.y.push_back(b);
    so_far.add(a, b);
  };
  for (std::size_t i = 0; i < n / 2; ++i) {
    int const e = i == 0 ? half / 2 : static_cast<int>(random() % static_cast<unsigned>(half / 2 + 1));
    take(random_number<T>(random, e), random_number<T>(random, half / 2 - (i == 0 ? 0 : e / 2)));
  }
  for (std::size_t i = n / 2; i < n; ++i) {
    int const left = half / 2 - static_cast<int>(static_cast<std::size_t>(condition_bits) * (i - n / 2 + 1) / (2 * (n - n / 2)));
    T const a = random_number<T>(random, left);
    T const goal = nearest<T>(-so_far.sum(), scale_of<T>);
    T b = goal / a + random_number<T>(random, left);
    if (!std::isfinite(b)) b = random_number<T>(random, left);
    take(a, b);
  }
  std::vector<std::size_t> order(n);
  for (std::size_t i = 0; i < n; ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  factors<T> shuffled;
  for (std::size_t i : order) shuffled.x.push_back(f.x[i]), shuffled.y.push_back(f.y[i]);
  return shuffled;
}

} // namespace oracle
