// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// let: answers of one fold as elements of another pipeline.
#include "pipeline/uneven.hpp"

#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

using namespace tally::v0;

namespace {
template <class A, class B>
bool same(A const& a, B const& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(a[0])) == 0;
}
} // namespace

TEST_CASE("variance in two passes: bit for bit the fold of the deviations from means that were run before") {
  for (i64 const n : {1, 7, 128, 1000, 1024, 5000}) {
    i64 const rows = 9;
    auto const x = uneven(std::size_t(rows * n));
    auto const mu = from(shaped(x, rows, n)) | over<1>(mean);
    auto const means = run(mu);
    auto const deviations = run(from(shaped(x, rows, n)) | map(_1 - let(mu)) | over<1>(sum(_1 * _1)));
    auto const in_the_fold = run(from(shaped(x, rows, n)) | over<1>(sum(squared(_1 - let(mu)))));
    CHECK(same(deviations, in_the_fold));
    for (i64 r = 0; r < rows; ++r) {
      std::vector<float> const row(x.begin() + r * n, x.begin() + (r + 1) * n);
      CAPTURE(n);
      CHECK(deviations(r) == run(row | sum(squared(_1 - means(r)))));
    }
  }
}

TEST_CASE("a let in a let: the total of exponentials depends on the greatest") {
  i64 const rows = 5, n = 300;
  auto const x = uneven(std::size_t(rows * n));
  auto const greatest = from(shaped(x, rows, n)) | over<1>(max);
  auto const total = from(shaped(x, rows, n)) | map(exp(_1 - let(greatest))) | over<1>(sum);
  auto const ones = run(from(shaped(x, rows, n)) | map(exp(_1 - let(greatest)) / let(total)) | over<1>(sum));
  auto const g = run(greatest);
  auto const t = run(total);
  for (i64 r = 0; r < rows; ++r) {
    std::vector<float> const row(x.begin() + r * n, x.begin() + (r + 1) * n);
    CHECK(t(r) == run(row | sum(exp(_1 - g(r)))));
    CHECK(ones(r) == run(row | sum(exp(_1 - g(r)) / t(r))));
    CHECK(ones(r) == doctest::Approx(1.0));
  }
}

TEST_CASE("answers of columns, of all axes and of a plain fold, in a mixed reduce") {
  i64 const rows = 40, n = 33;
  auto const x = uneven(std::size_t(rows * n));
  auto const of_column = from(shaped(x, rows, n)) | over<0>(mean);
  auto const of_all = from(shaped(x, rows, n)) | over<0, 1>(max);
  auto const plain = from(x) | sum;
  auto const [columns, row_maxima, total] =
      run(from(shaped(x, rows, n)) | map(_1 - let(of_column), _1 / let(of_all) + let(plain)) | reduce(over<0>(sum), over<1>(max(_2)), sum(_2)));
  auto const means = run(of_column);
  auto const greatest = run(of_all);
  auto const whole = run(plain);
  for (i64 c = 0; c < n; ++c)
    CHECK(columns(c) == run(every(x.data() + c, rows, n) | sum(_1 - means(c))));
  for (i64 r = 0; r < rows; ++r)
    CHECK(row_maxima(r) == run(device(x.data() + r * n, n) | max(_1 / greatest + whole)));
  CHECK(total == run(x | sum(_1 / greatest + whole)));
}

TEST_CASE("elements behind lets go by keys, by bins and by segments as those do that were computed before") {
  i64 const n = 5003;
  auto const x = uneven(std::size_t(n));
  std::vector<int> shop(x.size());
  for (std::size_t i = 0; i < shop.size(); ++i)
    shop[i] = int(i * i % 17);
  std::vector<i64> const offsets{0, 0, 5, 1300, 1301, 4000, n};
  auto const source = from(x, shop);
  auto const mu = source | mean(_1);
  auto const most = from(x) | filter(_1 < let(from(x) | mean)) | max;
  float const m = run(mu), top = run(most);
  auto const by_shop = run(source | map(_1 - let(mu), _2) | by_key(_2, 17, sum(_1), argmax(_1)));
  auto const by_shop_before = run(source | map(_1 - m, _2) | by_key(_2, 17, sum(_1), argmax(_1)));
  CHECK(same(std::get<0>(by_shop), std::get<0>(by_shop_before)));
  CHECK(same(std::get<1>(by_shop), std::get<1>(by_shop_before)));
  CHECK(same(run(source | by_key(_2, 17, sum(_1 - let(mu)).where(_1 > let(most)))), run(source | by_key(_2, 17, sum(_1 - m).where(_1 > top)))));
  CHECK(same(run(from(x) | histogram((_1 - let(mu)) / let(most), -2, 2, 9)), run(from(x) | histogram((_1 - m) / top, -2, 2, 9))));
  CHECK(same(run(from(x) | filter(_1 > let(mu)) | histogram(-2, 2, 9, mean)), run(from(x) | filter(_1 > m) | histogram(-2, 2, 9, mean))));
  auto const found = run(source | group_by(select(_1 > let(mu), _2, -1), sum(_1 / let(most))));
  auto const found_before = run(source | group_by(select(_1 > m, _2, -1), sum(_1 / top)));
  CHECK(same(std::get<0>(found), std::get<0>(found_before)));
  CHECK(same(std::get<1>(found), std::get<1>(found_before)));
  auto const strays = source | by_key(_2 - cast<int>(let(source | min(_2))) - 3, 10, count);
  CHECK_THROWS_AS(run(strays), key_out_of_range);
  auto const segments = run(from(x) | map(_1 - let(mu)) | reduce(by_segment(offsets, sum, max), sum, by_segment(offsets, sum(_1 * let(most)))));
  auto const segments_before = run(from(x) | map(_1 - m) | reduce(by_segment(offsets, sum, max), sum, by_segment(offsets, sum(_1 * top))));
  CHECK(same(std::get<0>(std::get<0>(segments)), std::get<0>(std::get<0>(segments_before))));
  CHECK(same(std::get<1>(std::get<0>(segments)), std::get<1>(std::get<0>(segments_before))));
  CHECK(std::get<1>(segments) == std::get<1>(segments_before));
  CHECK(same(std::get<2>(segments), std::get<2>(segments_before)));
}

TEST_CASE("answers of rows and columns beside keys of a matrix") {
  i64 const rows = 37, n = 129;
  auto const x = uneven(std::size_t(rows * n));
  auto const source = from(shaped(x, rows, n));
  auto const of_row = source | over<1>(mean);
  auto const of_column = source | over<0>(max);
  auto const means = run(of_row), greatest = run(of_column);
  auto const beside = from(shaped(x, rows, n), along<0>(means), along<1>(greatest));
  CHECK(same(run(source | histogram(_1 - let(of_row), -3, 3, 20)), run(beside | histogram(_1 - _2, -3, 3, 20))));
  auto const mixed = run(source | map(_1 - let(of_row)) | reduce(over<0>(sum), by_key<0>(index_along<0> % 5, 5, sum(_1 / let(of_column))), max, histogram(-3, 3, 20)));
  auto const expected = run(beside | map(_1 - _2, _3) | reduce(over<0>(sum(_1)), by_key<0>(index_along<0> % 5, 5, sum(_1 / _2)), max(_1), histogram(_1, -3, 3, 20)));
  CHECK(same(std::get<0>(mixed), std::get<0>(expected)));
  CHECK(same(std::get<1>(mixed), std::get<1>(expected)));
  CHECK(std::get<2>(mixed) == std::get<2>(expected));
  CHECK(same(std::get<3>(mixed), std::get<3>(expected)));
}

TEST_CASE("a filter may look at an earlier answer, and its fold at a mask") {
  i64 const rows = 6, n = 200;
  auto const x = uneven(std::size_t(rows * n));
  auto const mu = from(shaped(x, rows, n)) | over<1>(mean);
  auto const above = run(from(shaped(x, rows, n)) | filter(_1 > let(mu)) | over<1>(count, min.or_else(0.f)));
  auto const counted = run(from(shaped(x, rows, n)) | over<1>(count_if(_1 > let(mu))));
  auto const means = run(mu);
  for (i64 r = 0; r < rows; ++r) {
    std::vector<float> const row(x.begin() + r * n, x.begin() + (r + 1) * n);
    CHECK(std::get<0>(above)(r) == run(row | count_if(_1 > means(r))));
    CHECK(std::get<1>(above)(r) == run(row | filter(_1 > means(r)) | min.or_else(0.f)));
    CHECK(counted(r) == std::get<0>(above)(r));
  }
}

TEST_CASE("lets of one type and different data are not taken for one another") {
  i64 const rows = 4, n = 50;
  auto const x = uneven(std::size_t(rows * n)), y = uneven(std::size_t(rows * n), 7);
  auto const mx = from(shaped(x, rows, n)) | over<1>(mean), my = from(shaped(y, rows, n)) | over<1>(mean);
  auto const together = run(from(shaped(x, rows, n), shaped(y, rows, n)) | over<1>(sum((_1 - let(mx)) * (_2 - let(my)))));
  auto const a = run(mx), b = run(my);
  for (i64 r = 0; r < rows; ++r)
    CHECK(together(r) == run(from(device(x.data() + r * n, n), device(y.data() + r * n, n)) | sum((_1 - a(r)) * (_2 - b(r)))));
  auto const scaled = from(shaped(x, rows, n)) | map(_1 * 2.f) | over<1>(sum), thrice = from(shaped(x, rows, n)) | map(_1 * 3.f) | over<1>(sum);
  auto const difference = run(from(shaped(x, rows, n)) | over<1>(max(let(thrice) - let(scaled))));
  auto const s = run(scaled), t = run(thrice);
  for (i64 r = 0; r < rows; ++r)
    CHECK(difference(r) == t(r) - s(r));
}

TEST_CASE("the tree is that of the source, whatever type the earlier answer has") {
  i64 const rows = 3, n = 5000;
  auto const x = uneven(std::size_t(rows * n));
  auto const wide = from(shaped(x, rows, n)) | over<1>(sum.in<double>());
  auto const folded = run(from(shaped(x, rows, n)) | over<1>(sum(_1 + cast<float>(let(wide)) * 0.f)));
  auto const plain = run(from(shaped(x, rows, n)) | over<1>(sum));
  CHECK(same(folded, plain));
}

TEST_CASE("exact holds for the let and for what looks at it") {
  i64 const rows = 3, n = 700;
  auto const x = uneven(std::size_t(rows * n));
  auto const mu = from(shaped(x, rows, n)) | over<1>(mean);
  auto const sums = run(from(shaped(x, rows, n)) | over<1>(sum(_1 - let(mu))), exact);
  auto const means = run(mu, exact);
  for (i64 r = 0; r < rows; ++r)
    CHECK(sums(r) == run(device(x.data() + r * n, n) | sum(_1 - means(r)), exact));
}

TEST_CASE("extents that disagree are named; nothing to fold leaves identities") {
  auto const x = uneven(24);
  auto const rows = from(shaped(x, 4, 6)) | over<1>(sum);
  CHECK_THROWS_WITH_AS(run(from(shaped(x, 6, 4)) | over<1>(sum(_1 - let(rows)))),
                       "[tally-E2] a let has 4 answers along axis 0, the source has 6 elements. docs/errors.md#E2", extent_mismatch);
  auto const nothing = from(shaped(x.data(), 3, 0)) | over<1>(sum);
  auto const sums = run(from(shaped(x.data(), 3, 0)) | over<1>(sum(_1 - let(nothing))));
  CHECK(sums.size() == 3);
  CHECK(sums(1) == 0.f);
}

TEST_CASE("its text says what is looked at") {
  std::vector<float> const x(12);
  auto const mu = from(shaped(x, 3, 4)) | over<1>(mean);
  CHECK(text_of(from(shaped(x, 3, 4)) | over<1>(sum(_1 - let(mu)))) == "from(f32[3 x 4]) | reduce(over<1>(sum(_1 - let(over<1>(mean(_1))))))");
}

TEST_CASE("answers that are conditions are seen as such, of all and of every row") {
  std::vector<float> const x{1, 5, 2, 0};
  auto const matrix = from(shaped(x, 2, 2));
  CHECK(run(from(x) | sum.where(let(from(x) | any(_1 > 4.f)))) == 8.f);
  auto const rows = run(matrix | map(select(let(matrix | over<1>(any(_1 > 4.f))), _1, 0.f)) | over<1>(sum));
  CHECK(rows(0) == 6.f);
  CHECK(rows(1) == 0.f);
}

TEST_CASE("a let of a whole source has the errors of its run") {
  std::vector<float> const nothing, one{1};
  auto const greatest = from(nothing) | max;
  CHECK_THROWS_AS(run(from(one) | map(let(greatest)) | max), empty_input);
  auto const total = from(nothing) | sum;
  CHECK(run(from(one) | map(let(total)) | max) == 0.f);
  std::vector<i64> const wide{std::numeric_limits<i64>::max(), 1};
  auto const checked = from(wide) | sum.checked();
  CHECK_THROWS_AS(run(from(wide) | map(_1 - let(checked)) | max), overflow);
  auto const of_rows = from(shaped(wide, 1, 2)) | over<1>(sum.checked());
  CHECK_THROWS_AS(run(from(shaped(wide, 1, 2)) | map(_1 - let(of_rows)) | collect), overflow);
}

namespace {
/// The answer of its segment for every element.
template <class Answers, class Offset>
auto seen_by_elements(Answers const& answers, std::vector<Offset> const& offsets) {
  std::vector<std::remove_cvref_t<decltype(answers[0])>> seen;
  for (std::size_t s = 0; s + 1 < offsets.size(); ++s)
    seen.insert(seen.end(), std::size_t(offsets[s + 1] - offsets[s]), answers[s]);
  return seen;
}

/// Everything that may stand behind a let, beside the answers of segments and beside a column of them.
template <class Offset>
void beside_segments(std::vector<Offset> const& offsets) {
  auto const x = uneven(std::size_t(offsets.back()));
  CAPTURE(offsets.size());
  CAPTURE(x.size());
  auto const source = from(x);
  auto const mu = source | by_segment(offsets, mean);
  auto const seen = seen_by_elements(run(mu), offsets);
  auto const beside = from(x, seen);
  CHECK(same(run(source | map(_1 - let(mu)) | collect), run(beside | map(_1 - _2) | collect)));
  CHECK(run(source | reduce(sum(_1 * let(mu)), sum(squared(_1 - let(mu))))) == run(beside | reduce(sum(_1 * _2), sum(squared(_1 - _2)))));
  CHECK(run(source | filter(_1 > let(mu)) | reduce(count, sum, last.or_else(0.f))) == run(beside | filter(_1 > _2) | map(_1) | reduce(count, sum, last.or_else(0.f))));
  auto const about = run(source | map(_1 - let(mu)) | by_segment(offsets, mean(squared(_1)), count, argmax));
  auto const about_before = run(beside | map(_1 - _2) | by_segment(offsets, mean(squared(_1)), count, argmax));
  CHECK(same(std::get<0>(about), std::get<0>(about_before)));
  CHECK(same(std::get<1>(about), std::get<1>(about_before)));
  CHECK(same(std::get<2>(about), std::get<2>(about_before)));
  CHECK(same(run(source | histogram(_1 - let(mu), -3, 3, 20)), run(beside | histogram(_1 - _2, -3, 3, 20))));
  CHECK(same(run(source | by_key(cast<int>(tally::index % 7), 7, sum(_1 - let(mu)))), run(beside | by_key(cast<int>(tally::index % 7), 7, sum(_1 - _2)))));
  auto const seen_exactly = seen_by_elements(run(mu, exact), offsets);
  CHECK(same(run(source | map(_1 - let(mu)) | collect, exact), run(from(x, seen_exactly) | map(_1 - _2) | collect)));
}
} // namespace

TEST_CASE("answers of segments are seen by the elements of their own, whatever stands behind") {
  beside_segments<i64>({0, 0, 5, 1300, 1301, 4000, 4000, 5003, 5003});
  beside_segments<unsigned>({0, 1});
  beside_segments<int>({0, 70000});
  std::vector<int> uneven_offsets{0};
  for (int s = 0; s < 3000; ++s)
    uneven_offsets.push_back(uneven_offsets.back() + s * s % 41);
  beside_segments(uneven_offsets);
  std::vector<u64> large{0, 1024, 2048, 2049, 300000, 300007};
  beside_segments(large);
}

TEST_CASE("softmax of segments: lets of segments in lets of segments") {
  std::vector<int> const offsets{0, 3, 3, 1030, 4000};
  auto const x = uneven(4000);
  auto const source = from(x);
  auto const greatest = source | by_segment(offsets, max);
  auto const total = source | map(exp(_1 - let(greatest))) | by_segment(offsets, sum);
  auto const shares = run(source | map(exp(_1 - let(greatest)) / let(total)) | collect);
  std::vector<float> into(4000);
  run_into(source | map(exp(_1 - let(greatest)) / let(total)) | collect, into);
  CHECK(same(shares, into));
  auto const tops = run(greatest);
  auto const share = exp(_1 - _2) / _3;
  for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
    std::vector<float> const own(x.begin() + offsets[s], x.begin() + offsets[s + 1]);
    float const whole = run(own | sum(exp(_1 - tops[s])));
    bool good = true;
    for (std::size_t i = 0; i < own.size(); ++i)
      good = good && shares[std::size_t(offsets[s]) + i] == share(own[i], tops[s], whole);
    CHECK(good);
  }
}

TEST_CASE("a let of segments needs offsets from the first element to the last") {
  auto const x = uneven(100);
  auto const beside = [&](std::vector<int> const& offsets, auto... more) { return run(from(x) | map(_1 - let(from(x) | by_segment(offsets, max))) | sum, more...); };
  CHECK(beside({0, 40, 100}) < 0);
  CHECK_THROWS_AS(beside({1, 40, 100}), bad_offsets);
  CHECK_THROWS_AS(beside({0, 40, 99}), bad_offsets);
  CHECK_THROWS_AS(beside({0, 60, 40, 100}), bad_offsets);
  CHECK_THROWS_AS(beside({}), bad_offsets);
  std::vector<int> const offsets{0, 40, 100};
  CHECK_THROWS_AS(run(from(std::span(x).first(99)) | map(_1 - let(from(x) | by_segment(offsets, max))) | sum), extent_mismatch);
  int const two_of_them = 2, one_of_them = 1;
  std::vector<int> const more{0, 40, 100, 7, 3};
  auto const counted = [&](int const& n) { return run(from(x) | map(_1 - let(from(x) | reduce(by_segment(more, max).as_many_as(&n)))) | sum); };
  CHECK(counted(two_of_them) == beside({0, 40, 100}));
  CHECK_THROWS_AS(counted(one_of_them), bad_offsets);
  std::vector<float> const nothing;
  std::vector<int> const begin{0};
  CHECK(run(from(nothing) | map(_1 - let(from(nothing) | by_segment(begin, max))) | collect).size() == 0);
}

TEST_CASE("answers by key are seen by the elements that have it, whatever stands behind") {
  i64 const n = 70001;
  auto const x = uneven(std::size_t(n));
  std::vector<int> shop(x.size());
  for (std::size_t i = 0; i < shop.size(); ++i)
    shop[i] = int(i * i % 97);
  auto const source = from(x, shop);
  auto const mu = source | by_key(_2, 97, mean(_1));
  auto const means = run(mu);
  std::vector<float> seen(x.size());
  for (std::size_t i = 0; i < seen.size(); ++i)
    seen[i] = means[std::size_t(shop[i])];
  auto const beside = from(x, shop, seen);
  CHECK(same(run(source | map(_1 - let(mu)) | collect), run(beside | map(_1 - _3) | collect)));
  CHECK(run(source | reduce(sum(squared(_1 - let(mu))), max(_1))) == run(beside | reduce(sum(squared(_1 - _3)), max(_1))));
  CHECK(same(run(source | by_key(_2, 97, mean(squared(_1 - let(mu))))), run(beside | by_key(_2, 97, mean(squared(_1 - _3))))));
  CHECK(run(source | filter(_1 > let(mu)) | count) == run(beside | filter(_1 > _3) | count));
  auto const spread_of_key = source | by_key(_2, 97, stddev(_1));
  auto const score = run(source | map((_1 - let(mu)) / let(spread_of_key)) | by_key(tally::index % 97 * (tally::index % 97) % 97, 97, sum(_1)));
  CHECK(score.size() == 97);
  auto const computed = source | by_key(_2 * 2 + 1, 200, sum(_1)); // no column of the source
  auto const sums = run(computed);
  for (std::size_t i = 0; i < seen.size(); ++i)
    seen[i] = sums[std::size_t(2 * shop[i] + 1)];
  CHECK(same(run(source | map(_1 / let(computed)) | collect), run(from(x, seen) | map(_1 / _2) | collect)));
  auto const in_bin = run(from(x) | map(let(from(x) | histogram(-1, 1, 8))) | collect);
  auto const bins = run(from(x) | histogram(-1, 1, 8));
  i64 outside = 0, inside = 0;
  for (i64 i = 0; i < n; ++i)
    outside += in_bin[std::size_t(i)] == 0;
  for (i64 of : bins)
    inside += of;
  CHECK(outside == n - inside);
  CHECK(outside > 0);
}

TEST_CASE("keys of a matrix, behind a filter, with strays and in the key of a let") {
  i64 const rows = 37, n = 129;
  auto const x = uneven(std::size_t(rows * n));
  auto const source = from(shaped(x, rows, n));
  auto const of_column = source | by_key(index_along<1> % 5, 5, max(_1)); // over both axes
  auto const greatest = run(of_column);
  auto const differences = run(source | map(let(of_column) - _1) | collect);
  bool good = true;
  for (i64 r = 0; r < rows; ++r)
    for (i64 c = 0; c < n; ++c)
      good = good && differences(r, c) == greatest(c % 5) - x[std::size_t(r * n + c)];
  CHECK(good);
  CHECK(run(source | over<1>(max(let(of_column) - _1))).size() == std::size_t(rows));
  std::vector<int> keys(x.size());
  for (std::size_t i = 0; i < keys.size(); ++i)
    keys[i] = int(i % 7) - 1;
  auto const flat = from(x, keys);
  CHECK_THROWS_AS(run(flat | map(let(flat | by_key(_2, 6, count))) | collect), key_out_of_range);
  auto const held = run(flat | map(let(flat | filter(_2 >= 0) | by_key(_2, 6, count))) | collect);
  auto const dropped = run(flat | map(let(flat | reduce(by_key(_2, 6, count).dropping_strays()))) | collect);
  CHECK(same(held, dropped));
  CHECK(held(0) == 0); // key -1
  CHECK(held(1) == i64(x.size() / 7 + (x.size() % 7 > 1)));
  auto const below = flat | by_key(select(_1 < let(from(x) | mean), 0, 1), 2, count);
  auto const of_side = run(flat | map(let(below)) | collect);
  auto const sides = run(below);
  float const middle = run(from(x) | mean);
  bool found = true;
  for (std::size_t i = 0; i < x.size(); ++i)
    found = found && of_side[i] == sides[x[i] < middle ? 0 : 1];
  CHECK(found);
  CHECK_THROWS_AS(run(from(std::span(x).first(99)) | map(let(flat | by_key(_2 + 1, 7, count))) | collect), extent_mismatch);
}
