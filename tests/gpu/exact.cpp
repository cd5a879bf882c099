// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exact sums on a GPU: 10 000 ill-conditioned vectors against the oracle; long inputs of every kind, bit for bit those of
// the CPU, in any order and at any alignment; what is not finite, at every position.
#include <tally/tally.hpp>
#include <tally/testing.hpp>

#include "exact/vectors.hpp"
#include "gpu/on_device.hpp"
#include "gpu/same_arrays.hpp"
#include "gpu/watchdog.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace {

using namespace tally::v0;

/// 1e60 in f32, 1e120 in f64.
template <class T>
constexpr int hardest = sizeof(T) == 4 ? 199 : 398;

/// Vectors side by side in device memory, each at a multiple of 16 bytes.
template <class T>
struct side_by_side {
  std::vector<T> numbers;
  std::vector<std::size_t> begins, sizes;
  void add(std::vector<T> const& x) {
    begins.push_back(numbers.size()), sizes.push_back(x.size());
    numbers.insert(numbers.end(), x.begin(), x.end());
    numbers.resize((numbers.size() + 3) / 4 * 4);
  }
};

template <class T>
void check_sums(int vectors, unsigned seed) {
  std::mt19937_64 random(seed);
  side_by_side<T> packed;
  std::vector<T> sums, means;
  for (int i = 0; i < vectors; ++i) {
    auto const x = oracle::ill_conditioned_sum<T>(2 + random() % 40, static_cast<int>(random() % (hardest<T> + 1)), random);
    oracle::accumulator<T> expected;
    for (T v : x) expected.add(v);
    sums.push_back(expected.over(1)), means.push_back(expected.over(static_cast<std::int64_t>(x.size())));
    packed.add(x);
  }
  on_device<T> const there(packed.numbers);
  int wrong = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    auto const x = device(there.data() + packed.begins[i], static_cast<i64>(packed.sizes[i]));
    wrong += !same_bits(run(from(x) | reduce(sum, mean), exact, on::gpu), std::tuple(sums[i], means[i]));
  }
  CHECK(wrong == 0);
}

template <class T>
void check_dot_products(int vectors, unsigned seed) {
  std::mt19937_64 random(seed);
  side_by_side<T> left, right;
  std::vector<T> dots;
  for (int i = 0; i < vectors; ++i) {
    auto const f = oracle::ill_conditioned_dot<T>(2 + random() % 30, static_cast<int>(random() % (hardest<T> + 1)), random);
    oracle::accumulator<T> expected;
    for (std::size_t k = 0; k < f.x.size(); ++k) expected.add(f.x[k], f.y[k]);
    dots.push_back(expected.over(1));
    left.add(f.x), right.add(f.y);
  }
  on_device<T> const x(left.numbers), y(right.numbers);
  int wrong = 0;
  for (std::size_t i = 0; i < dots.size(); ++i) {
    auto const n = static_cast<i64>(left.sizes[i]);
    auto const r = from(device(x.data() + left.begins[i], n), device(y.data() + right.begins[i], n)) | sum(_1 * _2);
    wrong += !same_bits(run(r, exact, on::gpu), dots[i]);
  }
  CHECK(wrong == 0);
}

/// Numbers of one kind: what a window holds, what it does not, and what has no bits at all.
template <class T>
std::vector<T> numbers(int kind, std::size_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  constexpr int lowest = sizeof(T) == 4 ? -149 : -1074, highest = sizeof(T) == 4 ? 127 : 1023;
  auto const number = [&](int low, int binades) {
    return oracle::random_number<T>(random, low + static_cast<int>(random() % static_cast<unsigned>(binades)));
  };
  std::vector<T> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    switch (kind) {
    case 0: x[i] = number(-5, 8); break;
    case 1: x[i] = number(lowest, highest - lowest); break;
    case 2: x[i] = random() % 3 == 0 ? number(-10, 12) : T(0); break;
    case 3: x[i] = number(-30, 60); break;
    case 4: x[i] = number(lowest, 20); break;
    case 5: x[i] = (i & 1) != 0 ? std::numeric_limits<T>::max() : -std::numeric_limits<T>::max(); break;
    case 6: x[i] = random() % 1000 == 0 ? std::numeric_limits<T>::infinity() : number(0, 3); break;
    case 7: x[i] = i < n / 2 ? number(90, 4) : number(-90, 4); break; // windows move
    default: x[i] = -T(0);
    }
  }
  return x;
}
constexpr int kinds = 9;

template <class T>
void check_long(std::size_t n) {
  for (int kind = 0; kind < kinds; ++kind) {
    CAPTURE(n);
    CAPTURE(kind);
    auto const x = numbers<T>(kind, n, 1), y = numbers<T>(kind, n, 2);
    on_device<T> const dx(x), dy(y);
    auto const folds = reduce(sum(_1), mean(_2), sum(_1 * _2), max(_1), sum(_1).where(_2 > T(0)), count_if(_1 > T(0)));
    CHECK(same_bits(run(from(device(dx.data(), dx.size()), device(dy.data(), dy.size())) | folds, exact, on::gpu), run(from(x, y) | folds, exact, on::cpu)));
    T const total = run(from(x) | sum, exact, on::cpu);
    CHECK(same_bits(run(from(device(dx.data(), dx.size())) | sum, exact, on::gpu), total));
    CHECK(same_bits(run(from(device(dx.data(), dx.size()), device(dy.data(), dy.size())) | sum(_1 * _2), exact, on::gpu), run(from(x, y) | sum(_1 * _2), exact, on::cpu)));
    if (n > 1) {
      std::vector<T> const tail(x.begin() + 1, x.end());
      CHECK(same_bits(run(from(device(dx.data() + 1, dx.size() - 1)) | sum, exact, on::gpu), run(from(tail) | sum, exact, on::cpu)));
    }
  }
}

} // namespace

TEST_CASE("4 000 ill-conditioned sums and means of f32") {
  if (!no_kernels()) check_sums<float>(4000, 11);
}
TEST_CASE("2 500 ill-conditioned sums and means of f64") {
  if (!no_kernels()) check_sums<double>(2500, 12);
}
TEST_CASE("2 500 ill-conditioned dot products of f32") {
  if (!no_kernels()) check_dot_products<float>(2500, 13);
}
TEST_CASE("1 000 ill-conditioned dot products of f64") {
  if (!no_kernels()) check_dot_products<double>(1000, 14);
}

TEST_CASE("long inputs of every kind have the bits of the CPU") {
  if (no_kernels()) return;
  for (std::size_t n : {1u, 1000u, 70001u, (1u << 22) + 77u}) {
    check_long<float>(n);
    check_long<double>(n);
  }
}

TEST_CASE("two folds of one read, of which one keeps leaving its window") {
  if (no_kernels()) return;
  std::mt19937_64 random(7);
  for (std::size_t n : {5000u, 1u << 20, (1u << 24) + 5u}) {
    std::vector<float> steady(n), restless(n);
    for (std::size_t i = 0; i < n; ++i) {
      steady[i] = oracle::random_number<float>(random, static_cast<int>(random() % 3));
      restless[i] = oracle::random_number<float>(random, i / 512 % 2 == 0 ? 60 : -60);
    }
    on_device<float> const dx(steady), dy(restless);
    auto const folds = reduce(sum(_1), sum(_2), sum(_1 * _2), variance(_1), max(_2));
    CHECK(same_bits(run(from(device(dx.data(), dx.size()), device(dy.data(), dy.size())) | folds, exact, on::gpu),
                    run(from(steady, restless) | folds, exact, on::cpu)));
  }
}

TEST_CASE("leaves by turns, from memory and through a ring") {
  if (no_kernels()) return;
  auto const check = [](auto const& pattern, std::size_t n, bool ring) {
    using T = typename std::remove_cvref_t<decltype(pattern)>::value_type;
    std::vector<T> x(n);
    for (std::size_t i = 0; i < n; i += pattern.size()) std::copy_n(pattern.begin(), std::min(pattern.size(), n - i), x.begin() + std::ptrdiff_t(i));
    on_device<T> const there(x);
    auto const r = from(device(there.data(), i64(n))) | sum;
    CHECK((explain(r, on::gpu, exact).text().find("bulk_ring") != std::string::npos) == ring);
    CHECK(same_bits(run(r, exact, on::gpu), run(from(x) | sum, exact, on::cpu)));
  };
  for (int kind : {0, 3, 7}) {
    check(numbers<float>(kind, 999983, 8), (std::size_t(1) << 24) + 4099, false);
    check(numbers<float>(kind, 999983, 8), (std::size_t(1) << 27) + 1234, true);
  }
  check(numbers<double>(0, 999983, 9), (std::size_t(1) << 23) + 513, false);
  check(numbers<double>(0, 999983, 9), (std::size_t(1) << 26) + 777, true);
}

TEST_CASE("elements that do not exist add nothing, whatever the expression makes of them") {
  if (no_kernels()) return;
  auto const x = numbers<float>(0, 3100, 10), y = numbers<float>(1, 3100, 11);
  on_device<float> const dx(x), dy(y);
  auto const answers = [](auto a, auto b) { return from(a, b) | reduce(sum(_1 + 1.f), sum(_2 - 3.f).where(_1 > 0.f), sum(cos(_1)), max(_1)); };
  for (i64 n = 1; n <= 3100; n += n % 1024 < 4 || n % 1024 > 1018 ? 1 : 61) {
    CAPTURE(n);
    auto const expected = run(answers(device(x.data(), n), device(y.data(), n)), exact, on::cpu);
    CHECK(same_bits(run(answers(device(dx.data(), n), device(dy.data(), n)), exact, on::gpu), expected));
  }
}

TEST_CASE("moments of every kind of numbers have the bits of the CPU") {
  if (no_kernels()) return;
  for (std::size_t n : {1u, 1000u, 70001u, (1u << 20) + 77u})
    for (int kind = 0; kind < kinds; ++kind) {
      CAPTURE(n);
      CAPTURE(kind);
      auto const x = numbers<float>(kind, n, 21), y = numbers<float>(kind, n, 22);
      on_device<float> const dx(x), dy(y);
      CHECK(same_bits(run(from(device(dx.data(), dx.size())) | moments<4>, exact, on::gpu), run(from(x) | moments<4>, exact, on::cpu)));
      auto const folds = reduce(moments<3>(_1), moments<4>(_2).where(_1 > 0.f), moments<2>(_1 * _2), variance(_1 * _2), max(_2));
      CHECK(same_bits(run(from(device(dx.data(), dx.size()), device(dy.data(), dy.size())) | folds, exact, on::gpu), run(from(x, y) | folds, exact, on::cpu)));
      if (n > 70001) continue; // powers of doubles go the slow way
      auto const z = numbers<double>(kind, n, 23);
      on_device<double> const dz(z);
      CHECK(same_bits(run(from(device(dz.data(), dz.size())) | moments<4>, exact, on::gpu), run(from(z) | moments<4>, exact, on::cpu)));
    }
}

TEST_CASE("moments of small floats, of long columns through a ring, in any order") {
  if (no_kernels()) return;
  std::mt19937_64 random(24);
  std::vector<f16> halves(100001);
  for (auto& h : halves) h = f16(oracle::random_number<float>(random, static_cast<int>(random() % 20) - 10));
  on_device<f16> const there(halves);
  auto const of_halves = run(from(halves) | moments<4>, exact, on::cpu);
  CHECK(same_bits(run(from(device(there.data(), there.size())) | moments<4>, exact, on::gpu), of_halves));
  std::shuffle(halves.begin(), halves.end(), random);
  on_device<f16> const shuffled(halves);
  CHECK(same_bits(run(from(device(shuffled.data(), shuffled.size())) | moments<4>, exact, on::gpu), of_halves));
  for (int kind : {0, 3, 7}) {
    auto const pattern = numbers<float>(kind, 999983, 25);
    std::vector<float> x((std::size_t(1) << 27) + 1234);
    for (std::size_t i = 0; i < x.size(); i += pattern.size()) std::copy_n(pattern.begin(), std::min(pattern.size(), x.size() - i), x.begin() + std::ptrdiff_t(i));
    on_device<float> const dx(x);
    auto const r = from(device(dx.data(), dx.size())) | moments<4>;
    CHECK(explain(r, on::gpu, exact).text().find("bulk_ring") != std::string::npos);
    CHECK(same_bits(run(r, exact, on::gpu), run(from(x) | moments<4>, exact, on::cpu)));
  }
}

TEST_CASE("an infinity or NaN beside numbers that are nearly as large is not taken for one of them") {
  if (no_kernels()) return;
  for (std::size_t n : {100u, 5000u, 70001u}) {
    std::vector<float> x(n, 0x1.8p127f), y(n, 0x1p-60f);
    x[n / 3] = -0x1.8p127f;
    for (float const special : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
      x[n / 2] = special;
      on_device<float> const dx(x), dy(y);
      auto const folds = reduce(sum(_1 * _2), moments<4>(_1), sum(_1 * _1));
      CHECK(same_bits(run(from(device(dx.data(), dx.size()), device(dy.data(), dy.size())) | folds, exact, on::gpu), run(from(x, y) | folds, exact, on::cpu)));
    }
  }
}

TEST_CASE("a permutation changes no bit") {
  if (no_kernels()) return;
  std::mt19937_64 random(3);
  for (int kind : {0, 1, 3}) {
    auto x = numbers<float>(kind, 70001, 4);
    float const total = run(from(x) | sum, exact, on::cpu);
    for (int i = 0; i < 3; ++i) {
      std::shuffle(x.begin(), x.end(), random);
      on_device<float> const there(x);
      CHECK(same_bits(run(from(device(there.data(), there.size())) | sum, exact, on::gpu), total));
    }
  }
}

TEST_CASE("what is not finite, at every position of 300 and of a whole leaf") {
  if (no_kernels()) return;
  int wrong = 0;
  for (std::size_t n : {300u, 1024u}) {
    std::vector<float> x(n);
    std::iota(x.begin(), x.end(), 1.f);
    on_device<float> const there(x);
    auto const r = from(device(there.data(), there.size())) | sum;
    for (std::size_t at = 0; at < n; ++at)
      for (float const special : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                                  -std::numeric_limits<float>::infinity(), -0.f}) {
        gpu::copy(there.data() + at, &special, sizeof special, 0);
        auto const rest = static_cast<float>(n * (n + 1) / 2 - (at + 1));
        wrong += !same_bits(run(r, exact, on::gpu), special == 0 ? rest : special);
        gpu::copy(there.data() + at, &x[at], sizeof special, 0);
      }
  }
  CHECK(wrong == 0);
}

TEST_CASE("small floats, columns that lie apart, parts on both sides") {
  if (no_kernels()) return;
  std::mt19937_64 random(5);
  std::vector<f16> halves(100001);
  for (auto& h : halves) h = f16(oracle::random_number<float>(random, static_cast<int>(random() % 20) - 10));
  on_device<f16> const there(halves);
  auto const folds = reduce(sum, mean, sum(_1 * _1));
  CHECK(same_bits(run(from(device(there.data(), there.size())) | folds, exact, on::gpu), run(from(halves) | folds, exact, on::cpu)));
  auto const x = numbers<float>(3, 90000, 6);
  on_device<float> const dx(x);
  CHECK(same_bits(run(from(every(dx.data(), 30000, 3)) | sum, exact, on::gpu), run(from(every(x.data(), 30000, 3)) | sum, exact, on::cpu)));
  auto const left = partial(from(std::span<float const>(x).first(12345)) | sum, exact, on::cpu);
  auto const right = partial(from(device(dx.data() + 12345, dx.size() - 12345)) | sum, exact, on::gpu, starting_at(12345));
  CHECK(same_bits(finish(merge(left, right)), run(from(x) | sum, exact, on::cpu)));
}

TEST_CASE("rows, columns and segments in windows of a warp or of a thread have the bits of the CPU, whatever they hold") {
  if (no_kernels()) return;
  std::mt19937 random(11);
  i64 const n = 3'000'000;
  auto wild = uneven_numbers<float>(std::size_t(n), 5); // of all sizes, some that leave any window, some that are not finite
  for (std::size_t i = 0; i < wild.size(); i += 97) wild[i] = std::ldexp(wild[i], int(random() % 200) - 100);
  for (std::size_t i = 1000; i < wild.size(); i += 100'003) wild[i] = i % 2 == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
  auto const f64 = uneven_numbers<double>(std::size_t(n), 6);
  std::vector<bf16> small(f64.size());
  for (std::size_t i = 0; i < small.size(); ++i) small[i] = bf16(static_cast<float>(f64[i]));
  std::vector<int> offsets{3};
  while (offsets.back() < n) offsets.push_back(int(std::min<i64>(n, offsets.back() + i64(random()) % (random() % 7 == 0 ? 100'000 : 700))));
  auto const both = [&](auto const& r) {
    CAPTURE(text_of(r));
    CHECK(same_arrays(run(r, on::cpu, exact), run(r, on::gpu, exact)));
    tally_test_progress();
  };
  both(from(wild) | by_segment(offsets, sum, mean));
  both(from(f64, wild) | filter(_1 > 0.) | by_segment(offsets, sum(_1 * _1), sum(_2)));
  both(from(small) | by_segment(offsets, sum));
  both(from(wild) | by_segment(offsets, sum, max, argmin, count_if(_1 > 0.f))); // not only sums
  std::vector<int> near{0};
  while (near.back() < n) near.push_back(int(std::min<i64>(n, near.back() + i64(random()) % (random() % 50 == 0 ? 600 : 1 << random() % 7))));
  both(from(wild) | by_segment(near, mean, argmax));
  both(from(f64) | by_segment(near, sum));
  for (i64 const width : {1, 3, 8, 31, 64, 100, 129, 200, 257, 1000, 1024, 5003, 70'000, 1'000'000}) {
    CAPTURE(width);
    i64 const rows = n / width;
    both(from(shaped(wild.data(), rows, width)) | over<1>(sum, mean));
    both(from(shaped(f64.data(), rows, width), shaped(wild.data(), rows, width)) | over<1>(sum(_1 * _2)));
    both(from(shaped(small.data(), rows, width)) | map(_1 * 3.f) | reduce(over<1>(sum(_1 * cast<float>(index_along<1>))), sum));
    both(from(shaped(wild.data(), rows, width)) | over<1>(sum, argmax, min));
    both(from(shaped(wild.data(), rows, width)) | over<0>(sum));
    both(from(shaped(wild.data(), rows, width), shaped(small.data(), rows, width)) | filter(_2 > 0.f) | over<0>(mean(_1), argmax(_1), count));
    both(from(shaped(f64.data(), rows, width)) | over<0>(sum));
    both(from(shaped(small.data(), rows, width)) | over<0>(variance, sum(_1 * 3.f)));
  }
  auto const cube = from(shaped(wild.data(), 10, 100, 3000));
  both(cube | reduce(over<2>(sum), over<1, 2>(sum), over<0, 2>(sum)));
  both(cube | reduce(over<1>(mean, min), over<0>(sum(_1 * _1), count)));
  both(from(shaped(f64.data(), 300, 1001), shaped(f64.data() + 7, 300, 1001)) | over<0>(sum(_1 * _2)));
  auto const out = gpu::allocate(100 * sizeof(float), 0);
  on_device<float> const there(wild);
  enqueue(from(shaped(device(static_cast<float const*>(there.data()), n), 100, 30'000)) | over<1>(sum), static_cast<float*>(out.data()), on::gpu, exact);
  std::vector<float> came(100);
  gpu::copy(came.data(), out.data(), came.size() * sizeof(float), 0);
  gpu::wait(0);
  auto const expected = run(from(shaped(wild.data(), 100, 30'000)) | over<1>(sum), on::cpu, exact);
  bool same = true;
  for (std::size_t i = 0; i < came.size(); ++i) same = same && std::bit_cast<unsigned>(came[i]) == std::bit_cast<unsigned>(expected[i]);
  CHECK(same);
}

TEST_CASE("variances, covariances and products of rows and segments have the bits of the CPU, of numbers of any size") {
  if (no_kernels()) return;
  std::mt19937_64 random(23);
  i64 const n = 600'000;
  auto const of_size = [&](int lowest, int highest) {
    std::vector<double> x(static_cast<std::size_t>(n));
    for (double& v : x) v = std::ldexp(double(i64(random())) * 0x1p-63, lowest + int(random() % unsigned(highest - lowest + 1)));
    return x;
  };
  auto const both = [&](auto const& r) {
    CAPTURE(text_of(r));
    CHECK(same_arrays(run(r, on::cpu, exact), run(r, on::gpu, exact)));
    tally_test_progress();
  };
  std::vector<i64> offsets{5};
  while (offsets.back() < n) offsets.push_back(std::min<i64>(n, offsets.back() + i64(random() % 400)));
  auto mixed = of_size(-3, 0);
  for (std::size_t i = 0; i < mixed.size(); i += 5001) mixed[i] = std::ldexp(mixed[i], int(random() % 1200) - 600); // squares of some are no doubles
  for (std::size_t i = 700; i < mixed.size(); i += 50'021) mixed[i] = std::numeric_limits<double>::infinity();
  for (auto const& x : {of_size(0, 0), of_size(-40, 40), of_size(-542, -536), of_size(508, 511), of_size(-1000, 1000), mixed, std::vector<double>(std::size_t(n), 0.1)}) {
    auto y = x;
    std::rotate(y.begin(), y.begin() + 17, y.end());
    std::vector<float> small(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) small[i] = static_cast<float>(x[i]);
    both(from(x, y) | by_segment(offsets, variance(_1), covariance(_1, _2), mean(_1 * _2)));
    both(from(small) | by_segment(offsets, variance, sum(_1 * _1)));
    for (i64 const width : {1, 3, 31, 64, 129, 257, 1000, 5003, 70'000}) {
      CAPTURE(width);
      i64 const rows = n / width;
      both(from(shaped(x.data(), rows, width)) | over<1>(variance));
      both(from(shaped(x.data(), rows, width), shaped(y.data(), rows, width)) | over<1>(sum(_1 * _2), covariance(_1, _2), max(_1)));
      both(from(shaped(small.data(), rows, width)) | over<1>(variance, mean(_1 * _1)));
      both(from(shaped(small.data(), rows, width)) | map(cast<bf16>(_1)) | over<1>(variance, sum(_1 * _1)));
      both(from(shaped(x.data(), rows, width)) | over<0>(variance));
    }
    auto const whole = reduce(sum(_1 * _2), variance(_1), covariance(_1, _2));
    CHECK(same_bits(run(from(x, y) | whole, on::cpu, exact), run(from(x, y) | whole, on::gpu, exact)));
  }
}
