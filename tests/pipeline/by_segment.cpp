// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The grouping by_segment: an answer for what lies between each two neighbouring offsets.
#include "fold/own_folds.hpp"

#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <numeric>
#include <random>
#include <vector>

using namespace tally;

namespace {

template <class T>
std::vector<T> values(mdarray<T, 1> const& a) {
  return {a.begin(), a.end()};
}
template <class T>
bool same_bits(T const& a, T const& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

/// Numbers whose sums depend on the order in which they are added.
std::vector<float> rough(i64 n) {
  std::vector<float> x(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = float((i * 2654435761u) >> 8 & 0xffff) / 977.f - 11.f;
  return x;
}

/// Segments of every size around the borders of lanes, rows, leaves and tiles, empty ones among them, and one giant.
std::vector<i64> sizes_at_borders() {
  std::vector<i64> sizes;
  for (i64 n = 0; n <= 40; ++n)
    sizes.push_back(n);
  for (i64 const border : {64, 128, 256, 512, 1024, 2048, 8192, 65536})
    for (i64 const by : {-1, 0, 1})
      sizes.push_back(border + by);
  for (int k = 0; k < 300; ++k)
    sizes.push_back(k * 7 % 23);
  sizes.push_back(600001);
  sizes.push_back(0);
  return sizes;
}
template <class Offset>
std::vector<Offset> offsets_of(std::vector<i64> const& sizes, i64 from = 0) {
  std::vector<Offset> o{static_cast<Offset>(from)};
  for (i64 const n : sizes)
    o.push_back(static_cast<Offset>(from += n));
  return o;
}

} // namespace

TEST_CASE("by_segment answers for the elements between each two neighbouring offsets") {
  std::vector<float> const x{1, 2, 3, 4, 5, 6, 7};
  std::vector<int> const offsets{0, 2, 2, 6};
  auto const sums = run(from(x) | by_segment(offsets, sum));
  static_assert(std::is_same_v<decltype(sums), mdarray<float, 1> const>);
  CHECK(values(sums) == std::vector<float>{3, 0, 18});
  auto const [means, n] = run(from(x) | by_segment(offsets, mean.or_else(-1.f), count));
  CHECK(values(n) == std::vector<i64>{2, 0, 4});
  CHECK(means(2) == 4.5f);
}

TEST_CASE("a segment's answer is bit for bit that of its elements alone, whatever its size and on however many threads") {
  auto const sizes = sizes_at_borders();
  auto const offsets = offsets_of<i64>(sizes, 3);
  auto const x = rough(offsets.back() + 5);
  for (int const threads : {1, 2, 3, 8}) {
    auto const [sums, spread, at, ordered, narrow, mixed] =
        run(from(x) | by_segment(offsets, sum, variance, argmax.or_else(-1), own_rows_in_order, sum(_1 * _1).where(_1 > 3.f), own_lanes_side_by_side),
            on::cpu.threads(threads));
    for (std::size_t s = 0; s < sizes.size(); ++s) {
      std::vector<float> const alone(x.begin() + offsets[s], x.begin() + offsets[s + 1]);
      INFO("segment ", s, " of ", sizes[s], " elements on ", threads, " threads");
      auto const [a, b, c, d, e, f] =
          run(alone | reduce(sum, variance, argmax.or_else(-1), own_rows_in_order, sum(_1 * _1).where(_1 > 3.f), own_lanes_side_by_side), on::cpu);
      CHECK(same_bits(sums[s], a));
      CHECK(same_bits(spread[s], b));
      CHECK(at[s] == c);
      CHECK(ordered[s] == d);
      CHECK(same_bits(narrow[s], e));
      CHECK(mixed[s] == f);
    }
  }
}

TEST_CASE("exact and fast are contracts of segments too") {
  auto const sizes = sizes_at_borders();
  auto const offsets = offsets_of<u32>(sizes);
  auto const x = rough(i64(offsets.back()));
  auto const sums = run(from(x) | by_segment(offsets, sum, mean), exact);
  auto const quick = run(from(x) | by_segment(offsets, sum), fast);
  for (std::size_t s = 0; s < sizes.size(); ++s) {
    std::vector<float> const alone(x.begin() + offsets[s], x.begin() + offsets[s + 1]);
    CHECK(same_bits(std::get<0>(sums)[s], run(alone | sum, exact)));
    if (sizes[s] > 0)
      CHECK(same_bits(std::get<1>(sums)[s], run(alone | mean, exact)));
    CHECK(quick[s] == doctest::Approx(run(alone | sum)));
  }
}

TEST_CASE("offsets have 32 or 64 bits, with or without a sign") {
  auto const sizes = sizes_at_borders();
  auto const x = rough(std::accumulate(sizes.begin(), sizes.end(), i64(0)));
  auto const wide = offsets_of<i64>(sizes);
  auto const sums = run(from(x) | by_segment(wide, sum));
  auto const narrow = offsets_of<std::int32_t>(sizes);
  auto const unsigned_narrow = offsets_of<std::uint32_t>(sizes);
  auto const unsigned_wide = offsets_of<std::uint64_t>(sizes);
  CHECK(run(from(x) | by_segment(narrow, sum)) == sums);
  CHECK(run(from(x) | by_segment(unsigned_narrow, sum)) == sums);
  CHECK(run(from(x) | by_segment(unsigned_wide, sum)) == sums);
  CHECK(run(from(x) | by_segment(device(narrow.data(), i64(narrow.size())), sum)) == sums);
}

TEST_CASE("columns may be strided, computed, several, or host code; masks and host functions see what belongs to the segment") {
  auto const sizes = sizes_at_borders();
  auto const offsets = offsets_of<i64>(sizes, 1);
  auto const x = rough(2 * offsets.back() + 4);
  i64 const n = offsets.back() + 2;
  i64 calls = 0;
  auto const counted = [&calls](float v) { return ++calls, v * 2.f; };
  auto const [products, every_other] =
      run(from(every(x.data(), n, 2), iota(n)) | filter(_2 % 3 != 0) | by_segment(offsets, sum(_1 * _2), sum(_1)), on::cpu.threads(1));
  auto const hosted = run(from(x) | filter(_1 > 30.f) | map(counted) | by_segment(offsets, sum), on::cpu.threads(1));
  i64 passed = 0;
  for (i64 i = offsets.front(); i < offsets.back(); ++i)
    passed += x[std::size_t(i)] > 30.f;
  CHECK(calls == passed);
  for (std::size_t s = 0; s < sizes.size(); s += 3) {
    std::vector<float> a;
    for (i64 i = offsets[s]; i < offsets[s + 1]; ++i)
      a.push_back(x[std::size_t(2 * i)]);
    auto const [p, e] = run(from(a, iota(offsets[s], sizes[s])) | filter(_2 % 3 != 0) | reduce(sum(_1 * _2), sum(_1)));
    CHECK(same_bits(products[s], p));
    CHECK(same_bits(every_other[s], e));
    std::vector<float> const alone(x.begin() + offsets[s], x.begin() + offsets[s + 1]);
    CHECK(same_bits(hosted[s], run(alone | filter(_1 > 30.f) | reduce(sum(_1 * 2.f)))));
  }
}

TEST_CASE("argmin and first count within the segment, index is the position in the source") {
  std::vector<float> const x{9, 5, 7, 1, 8, 2, 6};
  std::vector<i64> const offsets{1, 4, 7};
  auto const [at, begin, where] = run(from(x) | by_segment(offsets, argmin, first, min(tally::index)));
  CHECK(values(at) == std::vector<i64>{2, 1});
  CHECK(values(begin) == std::vector<float>{5, 8});
  CHECK(values(where) == std::vector<i64>{1, 4});
  auto const sizes = sizes_at_borders();
  auto const long_offsets = offsets_of<i64>(sizes, 2);
  auto const y = rough(long_offsets.back());
  auto const [sums, greatest] = run(from(y) | by_segment(long_offsets, sum(_1 * tally::index), argmax(_1 + 0 * tally::index).or_else(-1)));
  for (std::size_t s = 0; s < sizes.size(); ++s) {
    std::vector<float> const alone(y.begin() + long_offsets[s], y.begin() + long_offsets[s + 1]);
    CHECK(same_bits(sums[s], run(from(alone, iota(long_offsets[s], sizes[s])) | sum(_1 * _2))));
    CHECK(greatest[s] == run(alone | argmax.or_else(-1)));
  }
}

TEST_CASE("segments mix with folds and axes in one reduce") {
  auto const x = rough(5000);
  std::vector<int> const offsets{0, 17, 17, 4000, 5000};
  auto const [total, parts, all_of_it] = run(from(x) | reduce(sum, by_segment(offsets, sum, max), over<0>(max)));
  CHECK(same_bits(total, run(x | sum)));
  CHECK(std::get<0>(parts).size() == 4);
  CHECK(std::get<1>(parts)(1) == -std::numeric_limits<float>::infinity());
  CHECK(all_of_it == run(x | max));
}

TEST_CASE("elements before the first and behind the last offset are not read") {
  std::vector<float> const x{1, 2, 3};
  std::vector<i64> const far{1000000, 1000002, 1000002};
  // a source of which only three elements exist, at 1000000 and behind
  float const* const begin = reinterpret_cast<float const*>(reinterpret_cast<std::uintptr_t>(x.data()) - 4 * std::uintptr_t(1000000));
  CHECK(values(run(from(device(begin, 5000000)) | by_segment(far, sum), on::cpu)) == std::vector<float>{3, 0});
}

TEST_CASE("one offset makes no segment; no elements leave identities") {
  std::vector<float> const x{1, 2, 3}, nothing;
  std::vector<int> const one{2}, zeros{0, 0, 0};
  CHECK(run(from(x) | by_segment(one, sum)).size() == 0);
  CHECK(values(run(from(nothing) | by_segment(zeros, sum))) == std::vector<float>{0, 0});
}

TEST_CASE("bad offsets are named with both numbers, before anything is computed") {
  std::vector<float> const x(10);
  auto const with = [&](std::vector<int> const& o) { run(from(x) | by_segment(o, sum)); };
  CHECK_THROWS_WITH_AS(with({0, 4, 3, 10}), "[tally-E20] offset 2 is 3, the one before it is 4. docs/errors.md#E20", bad_offsets);
  CHECK_THROWS_WITH_AS(with({-1, 4}), "[tally-E20] offset 0 is -1, below 0. docs/errors.md#E20", bad_offsets);
  CHECK_THROWS_WITH_AS(with({0, 4, 11}), "[tally-E20] offset 2 is 11, the source has 10 elements. docs/errors.md#E20", bad_offsets);
  CHECK_THROWS_WITH_AS(with({}), "[tally-E20] by_segment has 0 offsets, and n segments take n + 1. docs/errors.md#E20", bad_offsets);
  std::vector<u64> const huge{0, ~u64(0)};
  CHECK_THROWS_AS(run(from(x) | by_segment(huge, sum)), bad_offsets);
  std::vector<int> many(600000, 7);
  many[599990] = 6;
  CHECK_THROWS_WITH_AS(with(many), "[tally-E20] offset 599990 is 6, the one before it is 7. docs/errors.md#E20", bad_offsets);
}

TEST_CASE("a checked sum that overflows in one segment is an overflow") {
  std::vector<i64> const x{std::numeric_limits<i64>::max(), 1, 2, 3};
  std::vector<int> const apart{0, 1, 4}, together{0, 2, 4};
  CHECK(values(run(from(x) | by_segment(apart, sum.checked()))) == std::vector<i64>{x[0], 6});
  CHECK_THROWS_AS(run(from(x) | by_segment(together, sum.checked())), overflow);
}

TALLY_FUNCTION(segment_inverse, (int x), { return 12 / x; });

TEST_CASE("what is computed for segments is computed for no element before the first and behind the last offset") {
  std::vector<int> x(4096, 0);
  for (std::size_t i = 16; i < 300; ++i) x[i] = 3;
  std::vector<int> const offsets{16, 40, 100, 300};
  auto const sums = run(from(x) | by_segment(offsets, sum(segment_inverse(_1))));
  CHECK(sums[0] == 4 * 24);
  CHECK(sums[2] == 4 * 200);
}

TEST_CASE("positions and ends of what is computed are those of the segment, short or long") {
  std::vector<float> x(9000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = float(i * 7919 % 1000) - 500;
  std::vector<int> const offsets{0, 1, 6, 6, 40, 1300, 9000};
  auto const [most, least, first_of, last_of] =
      run(from(x) | map(_1 * 2.f) | by_segment(offsets, argmax.or_else(-1), argmin(_1 * _1).or_else(-1), first(_1 + 1.f).or_else(0.f), last(-_1).or_else(0.f)));
  for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
    CAPTURE(s);
    std::vector<float> const own(x.begin() + offsets[s], x.begin() + offsets[s + 1]);
    auto const alone = run(own | map(_1 * 2.f) | reduce(argmax.or_else(-1), argmin(_1 * _1).or_else(-1), first(_1 + 1.f).or_else(0.f), last(-_1).or_else(0.f)));
    CHECK(std::tuple(most[s], least[s], first_of[s], last_of[s]) == alone);
  }
}
