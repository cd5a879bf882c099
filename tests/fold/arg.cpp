// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The folds that name a place: argmin, argmax, first, last.
#include <tally/tally.hpp>
#include <tally/testing.hpp>

#include <algorithm>
#include <limits>
#include <vector>

using namespace tally;
using testing::same_bits;

namespace {
constexpr float infinity = std::numeric_limits<float>::infinity(), not_a_number = std::numeric_limits<float>::quiet_NaN();
auto places(std::vector<float> const& x) { return run(from(x) | reduce(argmin, argmax)); }
constexpr i64 operator""_th(unsigned long long i) { return static_cast<i64>(i); }

struct reading {
  double when;
  int what;
};
} // namespace

TEST_CASE("argmin and argmax are positions, counted from 0") {
  std::vector<int> const x{3, -1, 4, 1};
  auto const least = run(from(x) | argmin);
  static_assert(std::is_same_v<decltype(least), i64 const>);
  CHECK(least == 1);
  CHECK(run(from(x) | argmax) == 2);
  CHECK(run(from(x) | argmax(-_1)) == 1);
}

TEST_CASE("of equal elements, the first position is the answer, across lanes, leaves, tiles and threads") {
  CHECK((places({2.f, 1.f, 1.f, 2.f}) == std::tuple(1_th, 0_th)));
  std::vector<u8> x(1 << 20, 9);
  for (std::size_t start : {0u, 1u, 300u, 4097u, 131071u, 131072u, 700001u}) {
    for (std::size_t i = start; i < x.size(); i += 65537) x[i] = 200;
    CHECK(run(from(x) | argmax, on::cpu.threads(3)) == static_cast<i64>(start));
    std::fill(x.begin(), x.end(), u8(9));
  }
}

TEST_CASE("the first NaN wins over every number") {
  CHECK((places({1.f, not_a_number, -infinity, not_a_number}) == std::tuple(1_th, 1_th)));
  CHECK((places({infinity, -not_a_number}) == std::tuple(1_th, 1_th)));
  std::vector<float> const x{not_a_number, 3.f, 1.f, not_a_number, 4.f};
  CHECK((run(from(x) | reduce(argmin.ignoring_nan(), argmax.ignoring_nan())) == std::tuple(2_th, 4_th)));
}

TEST_CASE("-0 is less than +0") {
  CHECK((places({0.f, -0.f, 0.f, -0.f}) == std::tuple(1_th, 0_th)));
  CHECK((places({-0.f, 0.f}) == std::tuple(0_th, 1_th)));
}

TEST_CASE("the position is that in the source, whatever a filter holds back") {
  std::vector<float> const x{9.f, 1.f, 5.f, 7.f};
  CHECK((run(from(x) | filter(_1 < 8.f) | reduce(argmin, argmax)) == std::tuple(1_th, 3_th)));
  CHECK(run(from(x) | argmax.where(_1 < 6.f)) == 2);
}

TEST_CASE("small floats, bool and the ends of integers have places too") {
  std::vector<f16> const h{f16(1.f), f16(65504.f), f16(-3.f)};
  CHECK(run(from(h) | argmax) == 1);
  bool const flags[] = {false, true, true};
  CHECK(run(from(flags) | argmax) == 1);
  std::vector<u64> const wide{1, std::numeric_limits<u64>::max(), 0};
  CHECK(run(from(wide) | argmax) == 1);
  CHECK(run(from(wide) | argmin) == 2);
}

TEST_CASE("first and last are the first and the last element that passes") {
  std::vector<int> const x{3, -1, 4, -5};
  CHECK((run(from(x) | reduce(first, last)) == std::tuple(3, -5)));
  CHECK((run(from(x) | filter(_1 > 0) | reduce(first, last)) == std::tuple(3, 4)));
  CHECK(run(from(x) | last(_1 * 2)) == -10);
  CHECK(run(from(x) | first(tally::index).where(_1 < 0)) == 1);
  std::vector<float> const zeros{-0.f, not_a_number};
  CHECK(same_bits(run(from(zeros) | reduce(first, last)), std::tuple(-0.f, not_a_number)));
}

TEST_CASE("elements may be structs") {
  std::vector<reading> x(5000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = {double(i) / 2, int(i)};
  auto const [begin, end] = run(from(x) | reduce(first, last));
  CHECK(begin.what == 0);
  CHECK(end.when == 2499.5);
}

TEST_CASE("of nothing there is no place: an error, or what or_else and maybe say") {
  std::vector<float> const nothing, x{1.f};
  CHECK_THROWS_AS(places(nothing), empty_input);
  CHECK_THROWS_AS(run(from(nothing) | reduce(first, last)), empty_input);
  auto const absent = run(from(nothing) | reduce(argmin.maybe(), argmax.or_else(-1), first.maybe(), last.or_else(2.f)));
  CHECK((absent == std::tuple(std::optional<i64>(), -1_th, std::optional<float>(), 2.f)));
  CHECK_THROWS_WITH_AS(run(from(x) | argmin.where(_1 > 3.f)),
                       "[tally-E1] argmin(_1).where(_1 > 3) met no element among 1. docs/errors.md#E1", empty_input);
}
