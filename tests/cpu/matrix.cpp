// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Columns, rows and the whole of a matrix in one walk on the CPU have the bits that each has in a walk of its own, and its cut takes every row once.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <vector>

using namespace tally::v0;

namespace {

template <class T>
std::vector<T> uneven(std::size_t n) {
  std::vector<T> x(n);
  u64 seed = n;
  for (auto& v : x) {
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    if constexpr (std::is_integral_v<T>)
      v = T(seed >> 40);
    else
      v = T(float(i64(seed) >> 40) * 1e-3f);
  }
  return x;
}

template <class T>
bool same(T const& a, T const& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}
template <class T, int Rank>
bool same(mdarray<T, Rank> const& a, mdarray<T, Rank> const& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!same(a[i], b[i])) return false;
  return true;
}
template <class... Ts>
bool same(std::tuple<Ts...> const& a, std::tuple<Ts...> const& b) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) { return (true && ... && same(std::get<I>(a), std::get<I>(b))); }(std::index_sequence_for<Ts...>{});
}

/// All items at once and each by itself, on any number of threads.
template <class Pipe, class... Items>
void as_if_alone(Pipe const& pipe, Items const&... items) {
  auto const alone = std::tuple(run(pipe | reduce(items), on::cpu.threads(1))...);
  for (int const threads : {1, 2, 5}) {
    CAPTURE(threads);
    CHECK(same(run(pipe | reduce(items...), on::cpu.threads(threads)), alone));
  }
}

struct shape {
  i64 rows, columns;
};
/// Around the borders of lanes, leaves, turns and registers; all above four mebibytes of f32.
constexpr shape shapes[] = {{1100000, 1}, {350001, 3}, {40003, 29}, {33000, 32}, {8193, 130}, {2060, 515}, {1025, 1030}, {1000, 1100}, {129, 8199}, {127, 9000},
                            {100, 11000}, {40, 30000},  {9, 130000}, {2, 600000}};

} // namespace

TEST_CASE("rows, columns and the whole of matrices of every shape") {
  for (auto const& s : shapes) {
    CAPTURE(s.rows);
    CAPTURE(s.columns);
    auto const x = uneven<float>(std::size_t(s.rows * s.columns));
    auto const m = from(shaped(x.data(), s.rows, s.columns));
    as_if_alone(m, over<0>(sum), over<1>(sum), sum);
    as_if_alone(m, over<0>(min, variance), over<1>(argmax(_1)));
  }
}

TEST_CASE("expressions, filters and several columns join where they can") {
  for (auto const& s : {shape{1030, 1030}, {33000, 33}, {100, 11000}}) {
    CAPTURE(s.rows);
    CAPTURE(s.columns);
    auto const x = uneven<float>(std::size_t(s.rows * s.columns)), y = uneven<float>(std::size_t(s.rows * s.columns + 1));
    auto const m = from(shaped(x.data(), s.rows, s.columns), shaped(y.data() + 1, s.rows, s.columns));
    as_if_alone(m | filter(_1 > 0.f), over<0>(sum(_1)), over<1>(sum(_2), count), first(_2), sum(_1));
    as_if_alone(m, over<0>(sum(_2), max(_1)), over<1>(sum(_1 * _1)), histogram(_1, 0.f, 100.f, 32));
  }
}

TEST_CASE("integers, doubles and small floats, exact sums, and axes that make a matrix") {
  auto const check = [](auto const& x, i64 rows, i64 columns) {
    as_if_alone(from(shaped(x.data(), rows, columns)), over<0>(sum), over<1>(sum), sum);
  };
  for (auto const& s : {shape{2050, 2060}, {129, 33000}}) {
    CAPTURE(s.rows);
    CAPTURE(s.columns);
    auto const n = std::size_t(s.rows * s.columns);
    check(uneven<std::int32_t>(n), s.rows, s.columns);
    check(uneven<double>(n), s.rows, s.columns);
    check(uneven<bf16>(n), s.rows, s.columns);
    auto const x = uneven<float>(n);
    auto const m = from(shaped(x.data(), s.rows, s.columns));
    auto const [columns, rows, total] = run(m | reduce(over<0>(sum), over<1>(sum), sum), exact, on::cpu.threads(3));
    CHECK(same(columns, run(m | over<0>(sum), exact, on::cpu)));
    CHECK(same(rows, run(m | over<1>(sum), exact, on::cpu)));
    CHECK(same(total, run(m | sum, exact, on::cpu)));
  }
  auto const x = uneven<float>(64 * 90 * 200);
  auto const block = from(shaped(x.data(), 64, 90, 200));
  as_if_alone(block, over<0, 1>(sum), over<2>(sum), sum);
  as_if_alone(block, over<1>(sum), over<0, 2>(sum), sum); // no matrix
}

TEST_CASE("a cut takes every lane and every row once, in turns that fit a cache") {
  for (auto const& s : shapes)
    for (int const beside : {1, 4})
      for (bool const with_columns : {true, false}) {
        matrix_walk_facts const f{s.rows, s.columns, 4 * s.columns, {4, 8}, beside, with_columns, true, true, 3};
        auto const cut = cut_matrix_walk(f);
        CAPTURE(s.rows);
        CAPTURE(s.columns);
        CAPTURE(with_columns);
        CHECK(cut.joins == (cut.columns || s.rows >= planning::turns_of_core * f.threads));
        if (!cut.joins) continue;
        CHECK(cut.chunks() >= (cut.columns ? planning::lanes_of_core / planning::least_lanes_of_chunk : 2) * f.threads);
        i64 const lanes_there = s.rows / 1024 * 128 + std::min(s.rows % 1024, i64(128));
        CHECK(cut.columns == (with_columns && lanes_there >= planning::lanes_of_core * f.threads && 4 * s.columns * (s.rows < 128 ? 1 : s.rows < 1024 ? s.rows / 128 : 8) <= planning::most_bytes_of_turn));
        CHECK(std::has_single_bit(u64(cut.of_turn)));
        CHECK(std::has_single_bit(u64(cut.of_chunk)));
        std::vector<int> rows(static_cast<std::size_t>(s.rows)), lanes(static_cast<std::size_t>((s.rows / 1024 + 1) * 128));
        struct all_lanes {
          std::vector<int>& lanes;
          bool any;
          i64 behind = -1;
          void add(i64 leaf, i64 lane, i64 of_turn) {
            CHECK(leaf * 128 + lane > behind); // in their order
            behind = leaf * 128 + lane;
            for (i64 l = lane; any && l < lane + of_turn; ++l) ++lanes[static_cast<std::size_t>(leaf * 128 + l)];
          }
          void end() {}
        };
        auto one = f;
        one.threads = 1;
        cpu::walk_matrix(
            one, cut,
            [&](i64 from, i64 end) {
              for (i64 r = from; r < end; ++r) ++rows[static_cast<std::size_t>(r)];
            },
            [&](i64) { return all_lanes{lanes, cut.columns}; });
        CHECK(std::count(rows.begin(), rows.end(), 1) == s.rows);
        i64 wrong = 0;
        for (i64 r = 0; r < s.rows; ++r) wrong += cut.columns && lanes[static_cast<std::size_t>(r / 1024 * 128 + r % 128)] != 1;
        CHECK(wrong == 0);
      }
  CHECK(!cut_matrix_walk({10000, 10, 40, {4, 8}, 1, true, true, true, 2}).joins); // it fits a cache
  CHECK(!cut_matrix_walk({1000000, 10, 40, {4, 8}, 1, true, false, false, 2}).joins); // one alone
}
