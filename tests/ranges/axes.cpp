// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// range-v3 views that cut axes: chunk and sliding.
#include <tally/ranges.hpp>
#include <tally/tally.hpp>

#include <range/v3/view.hpp>

#include <doctest/doctest.h>

#include <numeric>
#include <span>
#include <vector>

namespace {

using namespace tally::v0;
namespace views = ranges::views;

std::vector<float> floats(std::size_t n) {
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i)
    x[i] = float((i * 7919) % 1000) - 300.f;
  return x;
}
/// What each stretch of a view has alone.
template <class View, class Fold>
auto one_by_one(View const& view, Fold const& fold) {
  std::vector<float> out;
  for (auto const stretch : view) {
    std::vector<float> const elements = ranges::to<std::vector<float>>(stretch);
    out.push_back(run(elements | fold, on::cpu));
  }
  return out;
}
template <class T, int R>
std::vector<T> values(mdarray<T, R> const& a) {
  return {a.begin(), a.end()};
}

} // namespace

TEST_CASE("chunk cuts an axis in two: a sum for every chunk") {
  auto const x = floats(3000);
  auto const chunks = x | views::chunk(250);
  auto const [sums, columns, total] = run(from(chunks) | reduce(over<1>(sum), over<0>(max), sum), on::cpu);
  CHECK(values(sums) == one_by_one(chunks, sum));
  CHECK(columns.extent(0) == 250);
  CHECK(total == run(x | sum, on::cpu));
  static_assert(decltype(tally::v0::bind(from(chunks) | sum).program)::lowerable);
}

TEST_CASE("chunk of what lies strided, and of what is counted") {
  auto const x = floats(3001);
  auto const strided = x | views::drop(1) | views::stride(3) | views::chunk(8);
  CHECK(values(run(from(strided) | over<1>(sum), on::cpu)) == one_by_one(strided, sum));
  auto const backwards = x | views::reverse | views::drop(1) | views::chunk(30);
  CHECK(values(run(from(backwards) | over<1>(first), on::cpu)) == one_by_one(backwards, first));
  CHECK(values(run(from(views::iota(0, 12) | views::chunk(4)) | over<1>(sum), on::cpu)) == std::vector<i64>{6, 22, 38});
}

TEST_CASE("chunk of chunks has three axes") {
  auto const x = floats(2 * 5 * 7);
  auto const cubes = x | views::chunk(7) | views::chunk(5);
  auto const sums = run(from(cubes) | over<1>(sum), on::cpu);
  static_assert(std::is_same_v<decltype(sums), mdarray<float, 2> const>);
  auto const expected = run(from(shaped(x, 2, 5, 7)) | over<1>(sum), on::cpu);
  CHECK(values(sums) == values(expected));
}

TEST_CASE("a span, a part and a stride of a column are shaped, and stand along axes") {
  auto const x = floats(24);
  auto const weights = floats(3);
  std::span<float const> const all(x), three(weights);
  auto const rows = run(from(shaped(x, 8, 3)) | over<1>(sum), on::cpu);
  CHECK(values(run(from(shaped(all, 8, 3)) | over<1>(sum), on::cpu)) == values(rows));
  CHECK(values(run(from(shaped(x | views::take(6), 2, 3)) | over<1>(sum), on::cpu)) == std::vector<float>{rows[0], rows[1]});
  CHECK(run(from(shaped(x | views::stride(2), 3, 4)) | sum, on::cpu) == run(from(x | views::stride(2)) | sum, on::cpu));
  CHECK(values(run(from(shaped(x, 8, 3), along<1>(three)) | over<1>(sum(_1 * _2)), on::cpu)) ==
        values(run(from(shaped(x, 8, 3), along<1>(weights)) | over<1>(sum(_1 * _2)), on::cpu)));
}

TEST_CASE("a last chunk that is shorter is no row, and says so") {
  auto const x = floats(10);
  CHECK_THROWS_WITH_AS(run(from(x | views::chunk(4)) | over<1>(sum), on::cpu),
                       "[tally-E2] column _1 has 10 elements, its axes take 12. docs/errors.md#E2", extent_mismatch);
}

TEST_CASE("sliding lays windows over memory: a moving mean, least and greatest") {
  auto const x = floats(1000);
  for (int const n : {1, 2, 7, 300, 1000}) {
    CAPTURE(n);
    auto const windows = x | views::sliding(n);
    auto const [means, least] = run(from(windows) | over<1>(mean, min), on::cpu);
    CHECK(values(means) == one_by_one(windows, mean));
    CHECK(values(least) == one_by_one(windows, min));
  }
  auto const strided = x | views::stride(3) | views::sliding(5);
  CHECK(values(run(from(strided) | over<1>(sum), on::cpu)) == one_by_one(strided, sum));
  CHECK(run(from(x | views::take(3) | views::sliding(5)) | over<1>(sum), on::cpu).size() == 0);
}

TEST_CASE("windows stand beside an operand along them: a convolution") {
  auto const x = floats(64);
  std::vector<float> const weights{0.25f, 0.5f, 0.25f};
  auto const smooth = run(from(x | views::sliding(3), along<1>(weights)) | over<1>(sum(_1 * _2)), on::cpu);
  for (std::size_t i = 0; i < 62; ++i)
    CHECK(smooth[i] == (x[i] * 0.25f + x[i + 1] * 0.5f) + x[i + 2] * 0.25f);
}
