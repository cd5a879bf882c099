// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The grouping by_key: an answer for every bin that keys name.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

using namespace tally;

namespace {
template <class T, int R>
std::vector<T> values(mdarray<T, R> const& a) {
  return {a.begin(), a.end()};
}
template <class A>
bool same_bits(A const& a, A const& b) {
  return a.size() == b.size() && (a.size() == 0 || std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0);
}
std::vector<float> const prices{1, 2, 4, 8, 16, 32};
std::vector<int> const shops{0, 2, 0, 3, 2, 0};

/// Numbers of many sizes, and keys.
struct keyed_numbers {
  std::vector<float> x;
  std::vector<i32> key;
  keyed_numbers(std::size_t n, int bins, float spread = 8) : x(n), key(n) {
    std::mt19937 random(7);
    std::normal_distribution<float> size(0, spread), sign(0, 1);
    for (std::size_t i = 0; i < n; ++i) {
      x[i] = std::copysign(std::exp2(size(random)), sign(random));
      key[i] = static_cast<i32>(random() % static_cast<unsigned>(bins));
    }
  }
  /// The elements of one key, in their order.
  std::vector<float> of(int k) const {
    std::vector<float> some;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (key[i] == k)
        some.push_back(x[i]);
    return some;
  }
};
/// Answers by key of numbers of `bits` bits times 2^exponent, one in `rare` of which has its bits far below, and those of the elements of each key side by side.
template <class T>
void check_against_segments(int exponent, int bits, int rare) {
  constexpr i64 bins = 97;
  std::mt19937_64 random(static_cast<unsigned>(exponent + 2000 * bits));
  std::vector<std::pair<i32, std::pair<T, T>>> elements;
  auto const any = [&] { return std::ldexp(T(i64(random() >> (64 - bits))) - T(1), exponent - (random() % u64(rare) == 0 ? int(random() % 300) : 0)); };
  for (int i = 0; i < 20'000; ++i) elements.push_back({i32(random() % bins), {any(), any()}});
  auto const columns = [&] {
    std::tuple<std::vector<T>, std::vector<T>, std::vector<i32>> c;
    for (auto const& e : elements) std::get<0>(c).push_back(e.second.first), std::get<1>(c).push_back(e.second.second), std::get<2>(c).push_back(e.first);
    return c;
  };
  auto const [x, y, keys] = columns();
  std::stable_sort(elements.begin(), elements.end(), [](auto const& a, auto const& b) { return a.first < b.first; });
  auto const [sorted_x, sorted_y, sorted_keys] = columns();
  std::vector<i64> offsets;
  for (i32 g = 0; g <= bins; ++g) offsets.push_back(std::lower_bound(sorted_keys.begin(), sorted_keys.end(), g) - sorted_keys.begin());
  auto const alone = run(from(sorted_x, sorted_y) | by_segment(offsets, sum(_1), mean(_1), variance(_1), sample_variance(_2), covariance(_1, _2), count, sum(_1 * _2)), exact, on::cpu);
  for (int threads : {1, 2, 3}) {
    auto const by = run(from(x, y, keys) | by_key(_3, bins, sum(_1), mean(_1), variance(_1), sample_variance(_2), covariance(_1, _2), count, sum(_1 * _2)), on::cpu.threads(threads));
    CAPTURE(exponent);
    CAPTURE(bits);
    CAPTURE(threads);
    for_each_index<7>([&](auto i) { CHECK(std::memcmp(std::get<i>(by).data(), std::get<i>(alone).data(), bins * sizeof std::get<i>(by)[0]) == 0); });
  }
}
} // namespace

TEST_CASE("answers by key are those of the elements of each key side by side, also in the middle of two neighbours and at the ends of the range") {
  for (int const rare : {1, 20, 3000, 1 << 30}) {
    for (int const bits : {2, 12, 24})
      for (int const exponent : {-149, -100, -30, 0, 40, 100}) check_against_segments<float>(exponent, bits, rare);
    for (int const bits : {3, 26, 53})
      for (int const exponent : {-1074, -1000, -520, -400, 0, 300, 470, 960}) check_against_segments<double>(exponent, bits, rare);
  }
}

TEST_CASE("an element beyond all digits makes a wide integer of its slot alone, and cancels") {
  std::mt19937_64 random(5);
  std::vector<double> x;
  std::vector<i32> keys;
  for (int i = 0; i < 100'000; ++i) x.push_back(double(random() >> 11) * 0x1p-53), keys.push_back(i32(random() % 1000));
  auto const before = run(from(x, keys) | by_key(_2, 1000, sum(_1), sum(_1 * _1)), on::cpu.threads(1));
  for (double const far : {0x1p1000, 0x1p-1060})
    for (int const threads : {1, 2, 3}) {
      auto with = x;
      auto of = keys;
      for (int const key : {3, 3, 999}) with.insert(with.begin() + 777, {far, -far}), of.insert(of.begin() + 777, {i32(key), i32(key)});
      with.push_back(std::numeric_limits<double>::quiet_NaN()), of.push_back(500);
      auto const [sums, squares] = run(from(with, of) | by_key(_2, 1000, sum(_1), sum(_1 * _1)), on::cpu.threads(threads));
      for (int k = 0; k < 1000; ++k) {
        CAPTURE(k);
        if (k == 500) {
          CHECK(std::isnan(sums(k)));
          continue;
        }
        CHECK(sums(k) == std::get<0>(before)(k));
        CHECK((k == 3 || k == 999 ? squares(k) >= std::get<1>(before)(k) : squares(k) == std::get<1>(before)(k)));
      }
    }
}

TEST_CASE("products of doubles far from each other are those of the elements of each key alone") {
  constexpr int bins = 3;
  std::mt19937_64 random(11);
  for (int const spread : {1, 30, 90, 600}) {
    std::vector<double> x, y;
    std::vector<i32> keys;
    for (int i = 0; i < 1'500; ++i) {
      auto const number = [&] { return std::ldexp(double(i64(random())), int(random() % unsigned(spread)) - spread / 2 - 63); };
      x.push_back(number()), y.push_back(number()), keys.push_back(i32(random() % bins));
    }
    auto const [squares, products, spreads, covariances] = run(from(x, y, keys) | by_key(_3, bins, sum(_1 * _1), sum(_1 * _2), variance(_1), covariance(_1, _2)), on::cpu);
    for (i32 k = 0; k < bins; ++k) {
      std::vector<double> of_x, of_y;
      for (std::size_t i = 0; i < x.size(); ++i)
        if (keys[i] == k) of_x.push_back(x[i]), of_y.push_back(y[i]);
      CAPTURE(spread);
      CHECK(std::tuple(squares(k), products(k), spreads(k), covariances(k)) ==
            run(from(of_x, of_y) | reduce(sum(_1 * _1), sum(_1 * _2), variance(_1), covariance(_1, _2)), exact, on::cpu));
    }
  }
}

TEST_CASE("every bin has the folds of the elements that have its key; empty bins have the identity, or what or_else says") {
  auto const [sums, counts, least, greatest] = run(from(prices, shops) | by_key(_2, 4, sum(_1), count, min(_1).or_else(-1.f), max(_1)));
  static_assert(std::is_same_v<decltype(sums), mdarray<float, 1> const>);
  CHECK(values(sums) == std::vector<float>{37, 0, 18, 8});
  CHECK(values(counts) == std::vector<i64>{3, 0, 2, 1});
  CHECK(values(least) == std::vector<float>{1, -1, 2, 8});
  CHECK(values(greatest) == std::vector<float>{32, -std::numeric_limits<float>::infinity(), 16, 8});
}

TEST_CASE("keys are expressions, of any integer type, and the elements those of a map") {
  CHECK(values(run(from(shops) | by_key(_1 % 2, 2, count))) == std::vector<i64>{5, 1});
  CHECK(values(run(from(prices) | by_key(_1 > 3.f, 2, sum))) == std::vector<float>{3, 60});
  CHECK(values(run(from(prices, shops) | map(_1 * 2.f, _2 + 1) | by_key(_2, 5, sum(_1)))) == std::vector<float>{0, 74, 0, 36, 16});
  CHECK(values(run(iota(i64(10)) | by_key(tally::index / 4, 3, count))) == std::vector<i64>{4, 4, 2});
  std::vector<u8> const bytes{255, 3, 255};
  CHECK(run(from(bytes) | by_key(_1, 256, count))(255) == 2);
  CHECK(values(run(from(prices, shops) | by_key([](float, int shop) { return shop / 2; }, 2, count))) == std::vector<i64>{3, 3});
}

TEST_CASE("groupings by key stand beside axes and folds of the whole in one reduce") {
  std::vector<float> const x{1, 2, 3, 4, 5, 6};
  std::vector<int> const of_row{1, 0};
  auto const [table, columns, total, bins] =
      run(from(shaped(x, 2, 3), along<0>(of_row)) | reduce(by_key(_2, 2, sum(_1)), over<0>(sum(_1)), sum(_1), histogram(0, 6, 3)));
  CHECK(values(table) == std::vector<float>{15, 6});
  CHECK(values(columns) == std::vector<float>{5, 7, 9});
  CHECK(total == 21.f);
  CHECK(values(bins) == std::vector<i64>{1, 2, 3});
}

TEST_CASE("a key outside of the bins is an error that names the first of them; dropping_strays leaves it out") {
  std::vector<int> const keys{0, 1, 7, -1, 1};
  std::vector<float> const x{1, 2, 3, 4, 5};
  CHECK_THROWS_WITH_AS(run(from(x, keys) | by_key(_2, 2, sum(_1))),
                       "[tally-E16] the key at position 2 is 7, the bins are [0, 2). docs/errors.md#E16", key_out_of_range);
  CHECK_THROWS_WITH(run(from(x, keys) | filter(_1 > 3.f) | by_key(_2, 2, sum(_1))),
                    "[tally-E16] the key at position 3 is -1, the bins are [0, 2). docs/errors.md#E16");
  CHECK_THROWS_AS(run(from(x, keys) | by_key(_2, 2, sum(_1).where(_1 < 3.f))), key_out_of_range); // where narrows a fold, not the rows
  CHECK(values(run(from(x, keys) | filter(_2 >= 0 && _2 < 2) | by_key(_2, 2, sum(_1)))) == std::vector<float>{1, 7});
  CHECK(values(run(from(x, keys) | by_key(_2, 2, sum(_1)).dropping_strays())) == std::vector<float>{1, 7});
  std::vector<u64> const vast{~u64(0)};
  CHECK_THROWS_WITH(run(from(vast) | by_key(_1, 2, count)),
                    "[tally-E16] the key at position 0 is 18446744073709551615, the bins are [0, 2). docs/errors.md#E16");
}

TEST_CASE("the first stray is found wherever it lies, by any number of threads") {
  std::vector<i32> keys(700'001, 3);
  for (std::size_t const at : {700'000u, 400'123u, 333u}) {
    keys[at] = 4;
    for (int const threads : {1, 2, 3})
      CHECK_THROWS_WITH(run(from(keys) | by_key(_1, 4, count), on::cpu.threads(threads)),
                        ("[tally-E16] the key at position " + std::to_string(at) + " is 4, the bins are [0, 4). docs/errors.md#E16").c_str());
  }
}

TEST_CASE("no elements, no bins, too many bins") {
  std::vector<int> const nothing;
  CHECK(values(run(from(nothing) | by_key(_1, 3, count))) == std::vector<i64>{0, 0, 0});
  CHECK(values(run(from(nothing) | by_key(_1, 3, sum(_1 * 1.f)))) == std::vector<float>{0, 0, 0});
  CHECK(run(from(nothing) | by_key(_1, 0, count)).size() == 0);
  CHECK(run(from(shops) | by_key(_1, 0, count).dropping_strays()).size() == 0);
  CHECK_THROWS_AS(run(from(shops) | by_key(_1, 0, count)), key_out_of_range);
  CHECK_THROWS_WITH_AS(run(from(shops) | by_key(_1, -3, count)), "[tally-E2] a grouping has -3 bins. docs/errors.md#E2", extent_mismatch);
  CHECK_THROWS_AS(run(from(shops) | by_key(_1, (i64(1) << 31) + 1, count)), too_large);
  CHECK(values(run(from(shops) | by_key(0 * _1, 1, sum))) == std::vector<i64>{7});
}

TEST_CASE("sums, means and variances of floats are those of exact, so that no order of the elements can be seen") {
  for (int const bins : {1, 3, 1000, 70'000}) {
    keyed_numbers d(150'000, bins);
    auto const folds = [&](auto const& numbers, auto... options) {
      return run(from(numbers.x, numbers.key) | by_key(_2, bins, sum(_1), mean(_1), variance(_1), sum(_1 * _1), stddev(_1).where(_1 > 0.f)),
                 options...);
    };
    auto const expected = folds(d);
    for (int k = 0; k < bins; k += bins / 20 + 1) {
      auto const alone = d.of(k);
      if (alone.size() < 3)
        continue;
      CHECK(std::get<0>(expected)(k) == run(alone | sum, exact));
      CHECK(std::get<1>(expected)(k) == run(alone | mean, exact));
      CHECK(std::get<2>(expected)(k) == run(alone | variance, exact));
      CHECK(std::get<3>(expected)(k) == run(alone | sum(_1 * _1), exact));
    }
    auto const agree = [&](auto const& other) {
      CHECK(same_bits(std::get<0>(other), std::get<0>(expected)));
      CHECK(same_bits(std::get<1>(other), std::get<1>(expected)));
      CHECK(same_bits(std::get<2>(other), std::get<2>(expected)));
      CHECK(same_bits(std::get<3>(other), std::get<3>(expected)));
      CHECK(same_bits(std::get<4>(other), std::get<4>(expected)));
    };
    agree(folds(d, exact));
    for (int const threads : {1, 2, 3, 8})
      agree(folds(d, on::cpu.threads(threads)));
    std::mt19937 random(3);
    for (std::size_t i = d.x.size() - 1; i > 0; --i) {
      auto const j = random() % (i + 1);
      std::swap(d.x[i], d.x[j]);
      std::swap(d.key[i], d.key[j]);
    }
    agree(folds(d));
  }
}

TEST_CASE("variances of integers and covariances are exact by key, and those of integers under fast too") {
  keyed_numbers const d(40'000, 7, 20);
  std::vector<i32> numbers(d.x.size());
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<i32>(i * 2654435761u);
  auto const of_integers = from(numbers, d.key) | by_key(_2, 7, variance(_1), covariance(_1, cast<i16>(_1)), stddev(_1).where(_1 > 0));
  auto const [spread, together, positive] = run(of_integers);
  auto const of_floats = from(d.x, numbers, d.key) | by_key(_3, 7, covariance(_1, _2), covariance(_1, _1));
  auto const [mixed, own] = run(of_floats);
  CHECK(explain(of_floats).text().find("_1 * ") != std::string::npos); // by its parts
  CHECK(explain(of_floats, fast).text().find("covariance(_1, _2)  ") != std::string::npos);
  CHECK(explain(of_integers, fast).text().find("sum(cast(_1) * cast(_1))") != std::string::npos);
  for (int k = 0; k < 7; ++k) {
    std::vector<i32> here;
    std::vector<float> beside;
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (d.key[i] == k)
        here.push_back(numbers[i]), beside.push_back(d.x[i]);
    CHECK(spread(k) == run(from(here) | variance, exact));
    CHECK(together(k) == run(from(here) | covariance(_1, cast<i16>(_1)), exact));
    CHECK(positive(k) == run(from(here) | stddev.where(_1 > 0), exact));
    CHECK(mixed(k) == run(from(beside, here) | covariance, exact));
    CHECK(own(k) == run(from(beside) | variance, exact));
  }
  for (int const threads : {1, 3}) {
    CHECK(same_bits(std::get<0>(run(of_integers, on::cpu.threads(threads), fast)), spread));
    CHECK(same_bits(std::get<1>(run(of_integers, on::cpu.threads(threads))), together));
    CHECK(same_bits(std::get<0>(run(of_floats, on::cpu.threads(threads))), mixed));
  }
}

TEST_CASE("sums of doubles, of their products, and of small floats are exact too") {
  keyed_numbers const d(40'000, 7, 20);
  std::vector<double> x(d.x.begin(), d.x.end());
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] += 1e-9 * static_cast<double>(i);
  auto const [sums, squares] = run(from(x, d.key) | by_key(_2, 7, sum(_1), sum(_1 * _1)));
  std::vector<bf16> small(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    small[i] = static_cast<bf16>(d.x[i]);
  auto const of_small = run(from(small, d.key) | by_key(_2, 7, sum(_1)));
  for (int k = 0; k < 7; ++k) {
    std::vector<double> alone;
    std::vector<bf16> alone_small;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (d.key[i] == k)
        alone.push_back(x[i]), alone_small.push_back(small[i]);
    CHECK(sums(k) == run(alone | sum, exact));
    CHECK(squares(k) == run(alone | sum(_1 * _1), exact));
    CHECK(of_small(k) == run(alone_small | sum, exact));
  }
}

TEST_CASE("what does not fit the quick words is not lost: huge beside tiny, subnormal, infinite and NaN") {
  float const tiny = 1e-45f, huge = 3e38f, infinity = std::numeric_limits<float>::infinity();
  std::vector<float> const x{huge, tiny, -huge, infinity, 1, tiny, -infinity, tiny, std::nanf(""), 1e-30f, 1e30f, -1e30f};
  std::vector<int> const keys{0, 0, 0, 1, 1, 2, 3, 3, 4, 5, 5, 5};
  auto const sums = run(from(x, keys) | by_key(_2, 6, sum(_1)));
  CHECK(sums(0) == tiny);
  CHECK(sums(1) == infinity);
  CHECK(sums(2) == tiny);
  CHECK(sums(3) == -infinity);
  CHECK(std::isnan(sums(4)));
  CHECK(sums(5) == 1e-30f);
}

TEST_CASE("under fast, floats add up as they come") {
  keyed_numbers const d(100'000, 50, 1);
  auto const [sums, means, spreads] = run(from(d.x, d.key) | by_key(_2, 50, sum(_1), mean(_1), variance(_1)), fast);
  auto const [right, right_means, right_spreads] = run(from(d.x, d.key) | by_key(_2, 50, sum(_1), mean(_1), variance(_1)));
  for (int k = 0; k < 50; ++k) {
    CHECK(sums(k) == doctest::Approx(right(k)).epsilon(1e-3));
    CHECK(means(k) == doctest::Approx(right_means(k)).epsilon(1e-3));
    CHECK(spreads(k) == doctest::Approx(right_spreads(k)).epsilon(1e-3));
  }
}

TEST_CASE("integers, extremes and positions: arg, first and last answer with places in the source") {
  keyed_numbers const d(100'000, 321);
  std::vector<i64> sums(321), counts(321), at(321, -1), end(321, -1);
  std::vector<float> least(321, std::numeric_limits<float>::infinity());
  for (std::size_t i = 0; i < d.x.size(); ++i) {
    auto const k = std::size_t(d.key[i]);
    sums[k] += d.key[i] + i64(i);
    if (d.x[i] > 0)
      ++counts[k];
    if (d.x[i] < least[k])
      least[k] = d.x[i], at[k] = i64(i);
    end[k] = i64(i);
  }
  for (int const threads : {1, 2, 3, 8}) {
    auto const [s, c, l, a, e] = run(from(d.x, d.key) | by_key(_2, 321, sum(_2 + tally::index), count_if(_1 > 0.f), min(_1), argmin(_1), last(tally::index)),
                                     on::cpu.threads(threads));
    CHECK(values(s) == sums);
    CHECK(values(c) == counts);
    CHECK(values(l) == least);
    CHECK(values(a) == at);
    CHECK(values(e) == end);
  }
}

TEST_CASE("folds that need their order give, bit for bit, what run gives for the rows of one key alone") {
  keyed_numbers const d(60'000, 40, 2);
  auto const turn = fold_of(u64(0), [](u64 a, u64 b) { return (a << 7 | a >> 57) + b; }, [](i64 x) { return u64(x) * 0x9e3779b97f4a7c15u; },
                            [](u64 s) { return s; }, associative);
  for (int const threads : {1, 3}) {
    auto const [logs, third, turned, counts] =
        run(from(d.x, d.key) | filter(_1 < 3.f) | by_key(_2, 41, logsumexp(_1), moments<3>(_1), turn(tally::index), count), on::cpu.threads(threads));
    CHECK(counts(40) == 0);
    CHECK(logs(40) == -std::numeric_limits<float>::infinity());
    for (int k = 0; k < 40; ++k) {
      std::vector<float> x;
      std::vector<i32> keys;
      std::vector<i32> places;
      for (std::size_t i = 0; i < d.x.size(); ++i)
        if (d.key[i] == k && d.x[i] < 3.f)
          x.push_back(d.x[i]), keys.push_back(k), places.push_back(i32(i));
      auto const [log_alone, third_alone] = run(from(x, keys) | reduce(logsumexp(_1), moments<3>(_1)));
      CHECK(logs(k) == log_alone);
      CHECK(third(k).central[1] == third_alone.central[1]);
      CHECK(counts(k) == i64(x.size()));
      CHECK(turned(k) == run(from(places, keys) | reduce(turn(_1))));
    }
  }
}

TEST_CASE("by_key<0> of a matrix keys its rows: bins by columns") {
  keyed_numbers const d(700 * 37, 5, 3);
  std::vector<i32> const keys(d.key.begin(), d.key.begin() + 700);
  for (int const threads : {1, 2, 8}) {
    auto const [table, counts, at] = run(from(shaped(d.x, 700, 37), along<0>(keys)) | by_key<0>(_2, 5, sum(_1), count_if(_1 > 0.f), argmax(_1)),
                                         on::cpu.threads(threads));
    static_assert(std::is_same_v<decltype(table), mdarray<float, 2> const>);
    REQUIRE(table.extent(0) == 5);
    REQUIRE(table.extent(1) == 37);
    for (int k = 0; k < 5; ++k)
      for (int c = 0; c < 37; c += 9) {
        std::vector<float> column;
        i64 place = -1;
        float most = 0;
        for (std::size_t r = 0; r < 700; ++r)
          if (keys[r] == k) {
            float const x = d.x[r * 37 + std::size_t(c)];
            column.push_back(x);
            if (place < 0 || x > most)
              most = x, place = i64(r) * 37 + c;
          }
        CHECK(table(k, c) == run(column | sum, exact));
        CHECK(counts(k, c) == run(column | count_if(_1 > 0.f)));
        CHECK(at(k, c) == place);
      }
  }
}

TEST_CASE("rows of any layout: transposed, filtered, keyed along the other axis, keys that differ within a row") {
  std::vector<float> const x{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  std::vector<int> const keys{1, 0, 1};
  // 3 x 4, and the same numbers seen as its transpose
  CHECK(values(run(from(shaped(x, 3, 4), along<0>(keys)) | by_key<0>(_2, 2, sum(_1)))) == std::vector<float>{5, 6, 7, 8, 10, 12, 14, 16});
  CHECK(values(run(from(shaped(x.data(), {4, 3}, {1, 4}), along<1>(keys)) | by_key<1>(_2, 2, sum(_1)))) ==
        std::vector<float>{5, 6, 7, 8, 10, 12, 14, 16});
  CHECK(values(run(from(shaped(x, 3, 4), along<0>(keys)) | filter(_1 > 2.f) | by_key<0>(_2, 2, count))) ==
        std::vector<i64>{1, 1, 1, 1, 1, 1, 2, 2});
  CHECK(values(run(from(shaped(x, 3, 4)) | by_key<0>(tally::index % 3, 3, sum))) ==
        std::vector<float>{1, 10, 7, 4, 5, 2, 11, 8, 9, 6, 3, 12});
  CHECK_THROWS_WITH(run(from(shaped(x, 3, 4), along<0>(keys)) | by_key<0>(_2, 1, sum(_1))),
                    "[tally-E16] the key at position 0 is 1, the bins are [0, 1). docs/errors.md#E16");
}

TEST_CASE("a checked sum reports the bin that overflows") {
  std::vector<i64> const x{std::numeric_limits<i64>::max(), 1, 1};
  std::vector<int> const apart{0, 1, 1}, together{0, 0, 1};
  CHECK(values(run(from(x, apart) | by_key(_2, 2, sum(_1).checked()))) == std::vector<i64>{x[0], 2});
  CHECK_THROWS_AS(run(from(x, together) | by_key(_2, 2, sum(_1).checked())), overflow);
}

TEST_CASE("a keyed reduction is printed as it was written") {
  std::vector<int> const of_row{0, 0, 0};
  CHECK(text_of(from(prices, shops) | reduce(by_key(_2, 4, sum(_1), count), sum(_1))) ==
        "from(f32[6], i32[6]) | reduce(by_key(_2, 4, sum(_1), count), sum(_1))");
  CHECK(text_of(from(shaped(prices, 3, 2), along<0>(of_row)) | by_key<0>(_2 + 1, 4, sum(_1))) ==
        "from(f32[3 x 2], along<0>(i32[3])) | reduce(by_key<0>((_2 + 1), 4, sum(_1)))");
  CHECK(text_of(from(shops) | group_by(_1, count)) == "from(i32[6]) | reduce(group_by(_1, count))");
}
