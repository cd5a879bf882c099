// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Answers of exact sums whose bits lie near each other are those of whole states, whichever words the quotient is made of.
#include "exact/vectors.hpp"

#include <tally/tally.hpp>

#include <doctest/doctest.h>

namespace {

using namespace tally::v0;

/// The words of a state from its first that is not zero on; false: there are more than Words.
template <int Words, int All>
bool near_state(exact_sum_state<All> const& s, near_sum_state<Words>& near) {
  int at = 0;
  bool const fits = detail::near_words(s.sum, near.sum, at);
  near.base = 64 * at;
  return fits && s.special == 0;
}

template <class T>
void same_answers(int binades, int count, unsigned seed, int& compared) {
  std::mt19937_64 random(seed);
  auto const one = [&] { return oracle::random_number<T>(random, -20 + static_cast<int>(random() % static_cast<unsigned>(binades))); };
  exact_sum_monoid<T, T, 1> const sums;
  exact_sum_monoid<T, T, 2> const products;
  for (int k = 0; k < 3000; ++k) {
    auto x = sums.identity(), y = sums.identity();
    auto xx = products.identity(), xy = products.identity();
    i64 const n = 1 + static_cast<i64>(random() % static_cast<unsigned>(count));
    T const same = one();
    for (i64 i = 0; i < n; ++i) {
      T const a = k % 5 == 0 ? same : one(), b = k % 7 == 0 ? -a : one();
      x = sums.combine(x, sums.lift(0, a)), y = sums.combine(y, sums.lift(0, b));
      xx = products.combine(xx, products.lift(0, a, a)), xy = products.combine(xy, products.lift(0, a, b));
    }
    near_sum_state<4> near_x{}, near_y{};
    near_sum_state<5> near_xx{}, near_xy{};
    if (!near_state(x, near_x) || !near_state(y, near_y) || !near_state(xx, near_xx) || !near_state(xy, near_xy)) continue;
    ++compared;
    CAPTURE(n);
    using bits = typename float_shape<T>::bits;
    auto const same_bits = [](T a, T b) { return bits_as<bits>(a) == bits_as<bits>(b) || (a != a && b != b); };
    REQUIRE(same_bits(sums.lower(near_x, {n}), sums.lower(x, {n})));
    REQUIRE(same_bits(products.lower(near_xy, {n}), products.lower(xy, {n})));
    REQUIRE(same_bits(sums.mean(near_x, n), sums.mean(x, n)));
    REQUIRE(same_bits(exact_variance<T, T>(near_x, near_xx, n, 0), exact_variance<T, T>(x, xx, n, 0)));
    REQUIRE(same_bits(exact_covariance<T, T>(near_x, near_y, near_xy, n, 1), exact_covariance<T, T>(x, y, xy, n, 1)));
  }
}

} // namespace

TEST_CASE("sums, means, variances and covariances of near states are those of whole ones") {
  for (int binades : {1, 4, 12, 30, 60}) {
    int of_floats = 0, of_doubles = 0;
    same_answers<float>(binades, 20, 3, of_floats);
    same_answers<double>(binades, 20, 5, of_doubles);
    same_answers<float>(binades, 1, 8, of_floats);
    CHECK(of_floats > 2000);
    CHECK((of_doubles > 500 || binades == 60));
  }
}
