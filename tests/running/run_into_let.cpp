// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// run_into for reductions in which lets stand: the answers of run, in memory of the caller, all of them or none.
#include "pipeline/uneven.hpp"

#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

using namespace tally::v0;

TEST_CASE("rows go into ranges and pointers, the whole into variables, with the bits of run") {
  auto const x = uneven(30 * 40);
  auto const source = from(shaped(x, 30, 40));
  auto const mu = source | over<1>(mean);
  auto const r = source | map(_1 - let(mu)) | reduce(over<1>(sum(_1 * _1), count), max);
  auto const [of_rows, greatest] = run(r);
  std::vector<float> squares(30);
  i64 counts[30];
  double most = 0;
  run_into(r, squares, counts, most, on::cpu.threads(2));
  CHECK(std::memcmp(squares.data(), std::get<0>(of_rows).data(), 120) == 0);
  CHECK(std::memcmp(counts, std::get<1>(of_rows).data(), 240) == 0);
  CHECK(most == double(greatest));
  mdarray<float, 1> again({30});
  run_into(source | over<1>(sum(squared(_1 - let(mu)))), again);
  CHECK(std::memcmp(again.data(), squares.data(), 120) == 0);
}

TEST_CASE("folds of the whole behind a let, under every contract") {
  auto const x = uneven(5000);
  auto const mu = from(x) | mean;
  auto const r = from(x) | reduce(sum(squared(_1 - let(mu))), count_if(_1 > let(mu)));
  float squares = 0;
  i64 above = 0;
  run_into(r, squares, above);
  CHECK(squares == std::get<0>(run(r)));
  CHECK(above == std::get<1>(run(r)));
  run_into(r, &squares, &above, exact);
  CHECK(squares == std::get<0>(run(r, exact)));
}

TEST_CASE("keys, bins and segments behind a let go into memory of the caller") {
  auto const x = uneven(5000);
  std::vector<int> keys(x.size());
  for (std::size_t i = 0; i < keys.size(); ++i)
    keys[i] = int(i % 7);
  std::vector<i64> const offsets{0, 100, 4000, 5000};
  auto const mu = from(x) | mean;
  auto const keyed = from(x, keys) | map(_1 - let(mu), _2) | reduce(by_key(_2, 7, sum(_1), count), max(_1));
  std::vector<float> sums(7), of_segments(3);
  std::vector<i64> counts(7), bins(9);
  float most = 0;
  run_into(keyed, sums, counts, most);
  auto const [by_key_of_run, most_of_run] = run(keyed);
  CHECK(std::memcmp(sums.data(), std::get<0>(by_key_of_run).data(), 28) == 0);
  CHECK(std::memcmp(counts.data(), std::get<1>(by_key_of_run).data(), 56) == 0);
  CHECK(most == most_of_run);
  run_into(from(x) | histogram(_1 - let(mu), -3, 3, 9), bins);
  CHECK(std::memcmp(bins.data(), run(from(x) | histogram(_1 - let(mu), -3, 3, 9)).data(), 72) == 0);
  run_into(from(x) | by_segment(offsets, sum(_1 - let(mu))), of_segments, exact);
  CHECK(std::memcmp(of_segments.data(), run(from(x) | by_segment(offsets, sum(_1 - let(mu))), exact).data(), 12) == 0);
}

TEST_CASE("an answer that is missing is named as it was written, and nothing is written") {
  auto const x = uneven(100);
  float least = -1.f, total = -2.f;
  auto const nobody = from(x) | filter(_1 > let(from(x) | max)) | reduce(sum, min(_1 - let(from(x) | mean)));
  CHECK_THROWS_WITH_AS(run_into(nobody, total, least),
                       "[tally-E1] min(_1 - let(over<0>(mean(_1)))) met no element among 100. docs/errors.md#E1", empty_input);
  CHECK(least == -1.f);
  CHECK(total == -2.f);
}

TEST_CASE("outputs of another size, and null ones, are refused before anything is written") {
  auto const x = uneven(24);
  auto const source = from(shaped(x, 4, 6));
  auto const r = source | map(_1 - let(source | over<1>(mean))) | over<1>(sum);
  std::vector<float> three(3, -1.f);
  CHECK_THROWS_AS(run_into(r, three), extent_mismatch);
  CHECK(three == std::vector<float>(3, -1.f));
  CHECK_THROWS_AS(run_into(r, static_cast<float*>(nullptr)), null_column);
  auto const rows = from(shaped(x, 6, 4)) | over<1>(mean);
  std::vector<float> four(4, -1.f);
  CHECK_THROWS_AS(run_into(source | over<1>(sum(_1 - let(rows))), four), extent_mismatch);
  CHECK(four == std::vector<float>(4, -1.f));
}

TEST_CASE("an output may be wider than its answer, never narrower") {
  auto const x = uneven(24);
  auto const source = from(shaped(x, 4, 6));
  auto const r = source | over<1>(sum.in<double>()(_1 - let(source | over<1>(mean))));
  using R = std::remove_cvref_t<decltype(r)>;
  static_assert(std::is_same_v<detail::verdict_on_run_into_with_lets<R, std::vector<double>&>, allowed>);
  static_assert(!std::is_same_v<detail::verdict_on_run_into_with_lets<R, std::vector<float>&>, allowed>);
  static_assert(!std::is_same_v<detail::verdict_on_run_into_with_lets<R, std::vector<double>&, float&>, allowed>);
  std::vector<double> out(4);
  run_into(r, out);
  CHECK(std::memcmp(out.data(), run(r).data(), 32) == 0);
}
