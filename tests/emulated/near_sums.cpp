// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exact sums of one thread, as host code, beside the oracle: what is told to be kept is the sum to the last bit, whatever numbers come, and
// its quick form is rounded once, also over a count.
#include "emulated/kernel_on_host.hpp"
#include "exact/vectors.hpp"

#include <tally/kernel/near_sums.cuh>
#include <tally/testing.hpp>

#include <doctest/doctest.h>

using namespace tally::v0;

namespace {

template <class T>
struct findings {
  int kept = 0, lost = 0, wrong = 0;

  void look(std::vector<T> const& numbers) {
    using M = exact_sum_monoid<T, T, 1>;
    M const m{};
    kernel::near_sum<M> sum;
    oracle::accumulator<T> right;
    for (T x : numbers) sum.add(x), right.add(x);
    auto const n = static_cast<i64>(numbers.size());
    if (sum.far()) {
      ++lost;
      return;
    }
    ++kept;
    wrong += !testing::same_bits(m.lower(sum.whole(m), summary{n}), right.over(1));
    wrong += !testing::same_bits(m.mean(sum.whole(m), n), right.over(n));
    wrong += !testing::same_bits(m.lower(sum.quick(), summary{n}), right.over(1));
    wrong += !testing::same_bits(m.mean(sum.quick(), n), right.over(n));
  }
};

template <class T>
std::vector<T> numbers_of(std::mt19937_64& random, std::size_t n, int lowest, int highest) {
  std::vector<T> x(n);
  for (T& v : x) v = oracle::random_number<T>(random, lowest + static_cast<int>(random() % static_cast<unsigned>(highest - lowest + 1)));
  return x;
}

/// Powers of two, of which sums often lie in the middle of two neighbours.
template <class T>
std::vector<T> powers_of_two(std::mt19937_64& random, std::size_t n, int lowest) {
  std::vector<T> x(n);
  for (T& v : x) v = std::ldexp(T(random() % 2 == 0 ? 1 : -1), lowest + static_cast<int>(random() % static_cast<unsigned>(-lowest)));
  return x;
}

/// Three numbers of few bits, near each other in any order: what is left of one is in the middle of two neighbours of another.
template <class T>
void check_triples() {
  using M = exact_sum_monoid<T, T, 1>;
  constexpr int digits = std::numeric_limits<T>::digits;
  std::mt19937_64 random(13);
  auto const any = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  auto const number = [&] {
    T const few = static_cast<T>(1 + any(3)), sign = any(2) == 0 ? T(1) : T(-1);
    T const whole = any(2) == 0 ? few : std::ldexp(T(1), digits - 1) + static_cast<T>(any(3)); // with a last bit, or all bits
    return sign * std::ldexp(whole, -any(2 * digits));
  };
  int wrong = 0;
  for (int i = 0; i < 60'000; ++i) {
    sum_of_numbers<T> const s{number(), number(), number()};
    oracle::accumulator<T> right;
    right.add(s.high), right.add(s.middle), right.add(s.low);
    wrong += !testing::same_bits(M{}.lower(s, summary{3}), right.over(1));
  }
  CHECK(wrong == 0);
}

template <class T>
void check_random() {
  constexpr int most = std::numeric_limits<T>::max_exponent, least = -most - std::numeric_limits<T>::digits;
  std::mt19937_64 random(11);
  findings<T> near, wide, anywhere, cancelling, ends, middles;
  for (int i = 0; i < 400; ++i) {
    std::size_t const n = 1 + random() % 40;
    near.look(numbers_of<T>(random, n, -8, 0));
    wide.look(numbers_of<T>(random, n, -40, 40));
    anywhere.look(numbers_of<T>(random, n, least, most - 8));
    cancelling.look(oracle::ill_conditioned_sum<T>(2 + n, 40, random));
    ends.look(numbers_of<T>(random, n, least, least + 20)); // denormals
    ends.look(numbers_of<T>(random, n, most - 2, most));    // whose sums overflow
  }
  for (int i = 0; i < 4000; ++i) {
    int const digits = std::numeric_limits<T>::digits;
    middles.look(powers_of_two<T>(random, 2 + random() % 6, -(digits + 1)));
    middles.look(powers_of_two<T>(random, 3 + random() % 12, -(2 * digits + 2)));
    middles.look(powers_of_two<T>(random, 3 + random() % 12, -3 * digits));
  }
  for (auto const& s : {near, wide, anywhere, cancelling, ends, middles}) CHECK(s.wrong == 0);
  CHECK(near.lost == 0);
  CHECK(wide.kept > 0);
  CHECK(middles.kept > 11000);
  CHECK(anywhere.lost > 300);
  CHECK(cancelling.kept > 300);
  CHECK(ends.lost > 100);
}

/// Sums of products and what is made of them, beside whole states.
template <class T>
struct product_findings {
  int kept = 0, lost = 0, wrong = 0;

  void look(std::vector<T> const& x, std::vector<T> const& y) {
    using M = exact_sum_monoid<T, T, 1>;
    using MM = exact_sum_monoid<T, T, 2>;
    M const m{};
    MM const mm{};
    kernel::near_sum<M> of_x, of_y;
    kernel::near_sum<MM> of_xx, of_xy;
    auto whole_x = m.identity(), whole_y = m.identity();
    auto whole_xx = mm.identity(), whole_xy = mm.identity();
    for (std::size_t i = 0; i < x.size(); ++i) {
      of_x.add(x[i]), of_y.add(y[i]), of_xx.add(x[i], x[i]), of_xy.add(x[i], y[i]);
      m.add(whole_x, x[i]), m.add(whole_y, y[i]), mm.add(whole_xx, x[i], x[i]), mm.add(whole_xy, x[i], y[i]);
    }
    auto const n = static_cast<i64>(x.size());
    if (of_x.far() || of_y.far() || of_xx.far() || of_xy.far()) {
      ++lost;
      return;
    }
    ++kept;
    wrong += !(of_xy.whole(mm).sum == whole_xy.sum);
    wrong += !testing::same_bits(mm.lower(of_xy.quick(), summary{n}), mm.lower(whole_xy, summary{n}));
    wrong += !testing::same_bits(mm.mean(of_xy.quick(), n), mm.mean(whole_xy, n));
    for (i64 fewer : {0, 1}) {
      wrong += !testing::same_bits(exact_variance<T, T>(of_x.quick(), of_xx.quick(), n, fewer), exact_variance<T, T>(whole_x, whole_xx, n, fewer));
      wrong += !testing::same_bits(exact_covariance<T, T>(of_x.quick(), of_y.quick(), of_xy.quick(), n, fewer), exact_covariance<T, T>(whole_x, whole_y, whole_xy, n, fewer));
    }
  }
};

template <class T>
void check_products() {
  constexpr int most = std::numeric_limits<T>::max_exponent, least = -most - std::numeric_limits<T>::digits;
  std::mt19937_64 random(17);
  product_findings<T> near, wide, anywhere, ends, even, few_bits;
  for (int i = 0; i < 2000; ++i) {
    std::size_t const n = 1 + random() % 40;
    auto const both = [&](product_findings<T>& to, int lowest, int highest) { to.look(numbers_of<T>(random, n, lowest, highest), numbers_of<T>(random, n, lowest, highest)); };
    both(near, -8, 0);
    both(wide, -30, 30);
    both(anywhere, least, most - 1);
    both(ends, least, least + 20);
    both(ends, least / 2 - 4, least / 2 + 4); // whose products are the smallest
    both(ends, most / 2 - 2, most / 2 + 2);   // or the greatest
    T const same = numbers_of<T>(random, 1, -8, 8)[0]; // whose variance is nothing
    even.look(std::vector<T>(n, same), std::vector<T>(n, -same));
    auto const small = [&] { return static_cast<T>(static_cast<int>(random() % 9) - 4); }; // whose quotients are in the middle of two neighbours
    std::vector<T> x(n), y(n);
    for (std::size_t k = 0; k < n; ++k) x[k] = small(), y[k] = small() * std::ldexp(T(1), 4 * (k % 2 == 0 ? 1 : -1));
    few_bits.look(x, y);
  }
  for (auto const& s : {near, wide, anywhere, ends, even, few_bits}) CHECK(s.wrong == 0);
  CHECK(near.lost == 0);
  CHECK(wide.kept > 100);
  CHECK(anywhere.lost > 1000);
  CHECK(ends.kept > 0);
  CHECK((ends.lost > 100 || sizeof(T) < sizeof(double))); // products of floats are doubles
  CHECK(even.lost == 0);
  CHECK(few_bits.lost == 0);
}

} // namespace

TEST_CASE("near sums, emulated: sums of products, their means, variances and covariances are those of whole states, or are told to be lost") {
  check_products<float>();
  check_products<double>();
}

TEST_CASE("near sums, emulated: sums of numbers are the oracle's, or are told to be lost") {
  check_random<float>();
  check_random<double>();
}

TEST_CASE("near sums, emulated: three numbers of any sizes are rounded once") {
  check_triples<float>();
  check_triples<double>();
}

TEST_CASE("near sums, emulated: of nothing, of zeros, and what is not finite at every place") {
  using M = exact_sum_monoid<float, float, 1>;
  kernel::near_sum<M> none;
  CHECK_FALSE(none.far());
  CHECK(testing::same_bits(M{}.lower(none.quick(), summary{0}), 0.f));
  CHECK(std::isnan(M{}.mean(none.quick(), 0)));
  findings<float> zeros;
  zeros.look(std::vector<float>(5, -0.f));
  CHECK(zeros.kept == 1);
  CHECK(zeros.wrong == 0);
  float const infinity = std::numeric_limits<float>::infinity();
  for (float special : {infinity, -infinity, std::numeric_limits<float>::quiet_NaN()})
    for (std::size_t n = 1; n < 20; ++n)
      for (std::size_t at = 0; at < n; ++at) {
        std::vector<float> x(n, 1.5f);
        x[at] = special;
        findings<float> s;
        s.look(x);
        CHECK(s.lost == 1);
      }
}
